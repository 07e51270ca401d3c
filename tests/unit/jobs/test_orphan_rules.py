"""Which processes are orphans, and which of them are ended."""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText
from midwatch.jobs.orphans.model import DAEMON, LEFTOVER, OWN, SERVER, Mark, Origin, Orphan, OwnProcess, Selection
from midwatch.jobs.orphans.rules import GONE, YOUNG, find_orphans, find_unknown, select_orphans

ENDED, LIVE, LOST = (Mark("/d", name, f"run-{name}") for name in ("ended", "live", "lost"))
ORIGINS = {
    ENDED: Origin(alive=False, state="completed"), LIVE: Origin(alive=True, state="working"),
    LOST: Origin(alive=False, state=GONE),
}  # fmt: skip


def process(
    pid: int, mark: Mark | None = None, *, parent: int = 1, age: float = 60.0, command: str = "work",
    keeps_job: bool = False, own: bool = False,
) -> OwnProcess:  # fmt: skip
    return OwnProcess(pid, parent, 100 + pid, ForeignText(command), age, 0.0, 0, mark, keeps_job=keeps_job, own=own)


def kinds(*processes: OwnProcess, apart: frozenset[int] = frozenset(), listens: tuple[int, ...] = ()) -> dict[int, str]:
    return {each.process.pid: each.kind for each in found(*processes, apart=apart, listens=listens)}


def found(
    *processes: OwnProcess, apart: frozenset[int] = frozenset(), listens: tuple[int, ...] = ()
) -> tuple[Orphan, ...]:
    known = {each.pid: each for each in processes}
    return find_orphans(known, ORIGINS, apart, (" serve --shared",), lambda pid: ("127.0.0.1:1",) * (pid in listens))


def test_what_a_live_job_has_is_no_orphan() -> None:
    assert kinds(process(10, LIVE), process(11, parent=10), process(12)) == {}


def test_what_an_ended_job_left_is_one_with_what_is_below_it() -> None:
    assert kinds(process(10, ENDED), process(11, parent=10), process(9, parent=11)) == dict.fromkeys(
        (10, 11, 9), LEFTOVER
    )


def test_a_job_of_its_own_below_it_is_none() -> None:
    """A shim was started from within the job: its record tells of it, and of its work."""
    shim = process(11, ENDED, parent=10, keeps_job=True)
    assert kinds(process(10, ENDED), shim, process(12, LIVE, parent=11), process(13, parent=12)) == {10: LEFTOVER}


def test_a_run_without_a_record_is_judged_once_it_is_not_young_any_more() -> None:
    assert kinds(process(10, LOST, age=YOUNG / 2)) == {}
    assert kinds(process(10, LOST, age=YOUNG * 2)) == {10: LEFTOVER}


def test_a_mark_of_which_nothing_is_known_is_left_alone() -> None:
    assert kinds(process(10, Mark("/elsewhere", "x", "r"))) == {}


def test_servers_daemons_and_our_own_programs_have_kinds_of_their_own() -> None:
    processes = (
        process(10, ENDED), process(11, ENDED), process(12, ENDED, command="agent serve --shared"),
        process(13, ENDED, own=True), process(14, ENDED, parent=11),
    )  # fmt: skip
    seen = kinds(*processes, listens=(11,))
    assert seen == {10: LEFTOVER, 11: SERVER, 12: DAEMON, 13: OWN, 14: SERVER}, "a server's workers serve with it"


def test_the_caller_and_what_it_comes_from_are_none() -> None:
    assert kinds(process(10, ENDED), process(11, ENDED, parent=10), apart=frozenset({10})) == {11: LEFTOVER}


def test_servers_are_ended_only_when_they_are_named() -> None:
    orphans = found(process(10, ENDED), process(11, ENDED), process(12, LOST), listens=(11,))

    def selected(names: tuple[str, ...] = (), pids: tuple[int, ...] = ()) -> list[int]:
        return [each.process.pid for each in select_orphans(orphans, Selection(frozenset(names), frozenset(pids)))]

    assert selected() == [10, 12]
    assert selected(pids=(11,)) == [11]
    assert selected(names=("ended",)) == [10, 11]
    assert find_unknown(orphans, Selection(frozenset({"nobody"}), frozenset({99, 10}))) == ("99", "nobody")


def test_a_circle_of_parents_has_an_end() -> None:
    """Processes end and pids are used again while we read."""
    assert kinds(process(10, ENDED, parent=11), process(11, parent=10)) != {}
