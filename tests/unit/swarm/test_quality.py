"""When quality loops are due: one open companion for each bead and each cycle of it, closed after it, all recorded."""

from __future__ import annotations

import pytest

from midwatch.core.foreign_text import ForeignText
from midwatch.swarm.codec import quality_text
from midwatch.swarm.codec.quality_text import LOOPS
from midwatch.swarm.rules import quality
from midwatch.swarm.rules.quality import DueTask
from midwatch.trackers.model import BLOCKED, CLOSED, DEFERRED, IN_PROGRESS, OPEN, TrackerTask, Work

ALL = tuple([ForeignText(quality_text.format_note(loop, "")) for loop in LOOPS])


def bead(id_: str = "bd-1", status: str = OPEN, closed: float | None = None, **more: object) -> TrackerTask:
    return TrackerTask(id_, ForeignText("Handle CLOSED files"), status, closed=closed)._replace(**more)  # type: ignore[arg-type]


def companion(of: str = "bd-1", status: str = OPEN, closed: float | None = None, **more: object) -> TrackerTask:
    return TrackerTask(f"q-{of}", ForeignText(f"Quality loops for {of}"), status, closed=closed)._replace(**more)  # type: ignore[arg-type]


def work(*tasks: TrackerTask) -> Work:
    return Work({task.id: task for task in tasks}, "here")


def due(*tasks: TrackerTask, beads: tuple[str, ...] = ("bd-1",)) -> tuple[DueTask, ...]:
    return quality.find_due(work(*tasks), beads)


# Which beads want a companion


@pytest.mark.parametrize("status", [OPEN, IN_PROGRESS, BLOCKED, DEFERRED, CLOSED])
def test_a_bead_without_a_companion_wants_one_whatever_its_status(status: str) -> None:
    assert due(bead(status=status, closed=5.0)) == (DueTask("bd-1", "", LOOPS, "there is no companion"),)


def test_a_label_exempts_a_bead() -> None:
    assert due(bead(labels=("parser", "no-quality-loops"))) == ()
    assert len(due(bead(labels=("parser", "quality-loops")))) == 1


def test_a_companion_wants_no_companion() -> None:
    assert due(bead(), companion(), beads=("q-bd-1",)) == ()


def test_a_bead_that_nobody_knows_is_passed_over() -> None:
    assert [each.bead for each in due(bead(), beads=("bd-404", "bd-1", "bd-1"))] == ["bd-1"]


@pytest.mark.parametrize("other", ["bd-10", "bd-1.2", "bd-", "xbd-1", "bd-1 and more", "the bd-1"])
def test_the_companion_of_another_bead_is_none_of_this_one(other: str) -> None:
    assert [each.companion for each in due(bead(), companion(other))] == [""]


@pytest.mark.parametrize("title", ["Quality loops for bd-1", "quality Loops  for bd-1 "])
def test_a_companion_is_known_by_its_title(title: str) -> None:
    assert quality_text.find_bead(companion(title=ForeignText(title))) == "bd-1"
    assert due(bead(), companion(title=ForeignText(title))) == ()


def test_an_id_is_not_a_pattern() -> None:
    assert [each.companion for each in due(bead("bd.1"), companion("bd-1"), beads=("bd.1",))] == [""]


# Cycles


@pytest.mark.parametrize("status", [OPEN, IN_PROGRESS, BLOCKED, DEFERRED])
def test_while_work_goes_on_nothing_is_due_but_an_open_companion(status: str) -> None:
    assert due(bead(status=status), companion(status=IN_PROGRESS)) == ()


def test_when_work_is_closed_its_loops_are_due() -> None:
    told = due(bead(status=CLOSED, closed=5.0), companion(notes=(ForeignText("[cross-review] none"),)))
    assert told == (
        DueTask(
            "bd-1", "q-bd-1", ("self-review", "random exploration"), "not recorded: self-review, random exploration"
        ),
    )


def test_when_all_is_recorded_the_companion_is_to_be_closed() -> None:
    told = due(bead(status=CLOSED, closed=5.0), companion(notes=ALL))
    assert told == (DueTask("bd-1", "q-bd-1", (), "all loops are recorded; it can be closed"),)


@pytest.mark.parametrize("later", [0.0, 1.0])
def test_a_bead_whose_companion_was_closed_after_it_has_nothing_due(later: float) -> None:
    assert due(bead(status=CLOSED, closed=5.0), companion(status=CLOSED, closed=5.0 + later)) == ()


def test_a_closed_companion_does_not_count_for_a_bead_that_is_open_again() -> None:
    told = due(bead(status=IN_PROGRESS), companion(status=CLOSED, closed=9.0, notes=ALL))
    assert told == (DueTask("bd-1", "", LOOPS, "q-bd-1 is closed, but bd-1 is not"),)


def test_a_closed_companion_does_not_count_for_a_bead_that_was_closed_anew() -> None:
    told = due(bead(status=CLOSED, closed=9.0), companion(status=CLOSED, closed=5.0, notes=ALL))
    assert told == (DueTask("bd-1", "", LOOPS, "bd-1 was closed anew after q-bd-1"),)


def test_of_several_closed_companions_the_last_counts() -> None:
    first, second = (companion(status=CLOSED, closed=at, id=f"q-{at:.0f}") for at in (5.0, 12.0))
    assert due(bead(status=CLOSED, closed=9.0), second, first) == ()
    assert [each.why for each in due(bead(status=CLOSED, closed=15.0), second, first)] == [
        "bd-1 was closed anew after q-12"
    ]


def test_the_open_companion_of_a_new_cycle_counts_beside_the_old_one() -> None:
    old, new = companion(status=CLOSED, closed=5.0, notes=ALL), companion(id="q-z")
    assert due(bead(status=OPEN), old, new) == ()
    assert [each.companion for each in due(bead(status=CLOSED, closed=9.0), old, new)] == ["q-z"]


def test_of_several_open_companions_the_furthest_on_is_meant() -> None:
    some = companion(id="q-z", notes=ALL[:2])
    assert [each.companion for each in due(bead(status=CLOSED, closed=5.0), companion(), some)] == ["q-z"]


def test_a_comment_on_a_closed_bead_opens_no_cycle() -> None:
    assert due(bead(status=CLOSED, closed=5.0, updated=99.0), companion(status=CLOSED, closed=6.0)) == ()
    assert due(bead(status=CLOSED, updated=99.0), companion(status=CLOSED, closed=6.0)) == ()


def test_where_nobody_tells_when_a_companion_was_closed_its_last_change_stands_for_it() -> None:
    assert due(bead(status=CLOSED, closed=5.0), companion(status=CLOSED, updated=6.0)) == ()
    assert len(due(bead(status=CLOSED, closed=5.0), companion(status=CLOSED, updated=4.0))) == 1
    assert due(bead(status=CLOSED, closed=5.0), companion(status=CLOSED)) == ()


# Where nobody names beads


def test_those_meant_without_names_are_in_progress_or_have_had_a_companion() -> None:
    found = quality.find_managed_beads(
        work(
            bead("going", IN_PROGRESS), bead("open"), bead("past", CLOSED, 1.0), bead("again"), companion("again"),
            bead("done", CLOSED, 1.0), companion("done", CLOSED, 2.0), bead("epic", IN_PROGRESS, kind="epic"),
            bead("not", IN_PROGRESS, labels=("no-quality-loops",)), companion("gone", IN_PROGRESS),
        )
    )  # fmt: skip
    assert found == ("going", "again", "done")


# Records


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("text", ["", "drops the last line", "two things:\n1. a [self-review] none\n2. b"])
def test_what_is_recorded_is_read_again(loop: str, text: str) -> None:
    found = companion(
        notes=tuple(map(ForeignText, ("a word before", quality_text.format_note(loop, text), "a word after")))
    )
    assert quality_text.recorded_findings(found) == {loop: text}
    assert quality_text.missing_loops(found) == tuple([each for each in LOOPS if each != loop])


@pytest.mark.parametrize(
    "note",
    [
        "self-review: none", "[self-review]", "[self-review] findings:", "[self-review] findings: ",
        "[self-review] findings: none", "[self-review] findings: N/A.", "[self-review] none yet", "[Self-Review] none",
        "> [self-review] none", "please run [self-review] none", "[self-review] none\n[cross-review] none",
        "[random-exploration] none", "[security review] none", "[self-review] None", "",
    ],
)  # fmt: skip
def test_what_merely_looks_like_a_record_is_none(note: str) -> None:
    assert quality_text.missing_loops(companion(notes=(ForeignText(note),))) == LOOPS


def test_the_last_word_on_a_loop_counts() -> None:
    notes = (quality_text.format_note("self-review", ""), quality_text.format_note("self-review", "a race after all"))
    assert quality_text.recorded_findings(companion(notes=tuple(map(ForeignText, notes)))) == {
        "self-review": "a race after all"
    }


@pytest.mark.parametrize(
    "text", ["", " \n", "none", "None.", "NONE!", "nothing", "n/a", "N/A", "no findings", "-", "…", "no", '"none"']
)
def test_a_text_that_says_nothing_is_known(text: str) -> None:
    assert quality_text.is_no_finding(text)


@pytest.mark.parametrize(
    "text", ["none of the callers checks it", "x", "nothing checks the length", "解析器会丢行", "42"]
)
def test_a_finding_is_a_finding(text: str) -> None:
    assert not quality_text.is_no_finding(text)


@pytest.mark.parametrize(
    "word", ["random exploration", "random-exploration", "Random_Exploration", " random  exploration"]
)
def test_a_loop_is_known_however_it_is_hyphenated(word: str) -> None:
    assert quality_text.find_loop(word) == "random exploration"


@pytest.mark.parametrize("word", ["", "random", "review", "selfreview", "self-review!"])
def test_no_other_word_is_a_loop(word: str) -> None:
    assert quality_text.find_loop(word) == ""


# Closing


def test_a_companion_is_kept_open_until_all_is_recorded() -> None:
    done = bead(status=CLOSED, closed=5.0)
    assert quality.find_open_reason(work(done), companion(notes=ALL[1:])) == "not recorded: self-review"
    assert quality.find_open_reason(work(done), companion(notes=ALL)) == ""


def test_a_companion_is_kept_open_until_its_bead_is_closed() -> None:
    assert quality.find_open_reason(work(bead()), companion(notes=ALL)).startswith("bd-1 is not closed")


def test_a_companion_whose_bead_is_gone_can_be_closed() -> None:
    assert quality.find_open_reason(work(), companion(notes=ALL)) == ""


def test_other_tasks_are_none_of_its_business() -> None:
    assert quality.find_open_reason(work(bead()), bead()) == ""


@pytest.mark.parametrize("status", [OPEN, IN_PROGRESS, BLOCKED, DEFERRED])
def test_a_companion_is_ready_once_its_bead_is_closed(status: str) -> None:
    found = work(bead(status=status), companion(), bead("bd-2"), companion("bd-gone"))
    ready = {task.id for task in quality.find_ready(found)}
    assert ready == {"bd-2", "q-bd-gone", *(["bd-1"] if status == OPEN else [])}
    assert quality.find_blocker(found, found.tasks["q-bd-1"]) == "bd-1"
    done = work(bead(status=CLOSED), companion())
    assert [task.id for task in quality.find_ready(done)] == ["q-bd-1"]
    assert quality.find_blocker(done, done.tasks["q-bd-1"]) == quality.find_blocker(found, found.tasks["bd-2"]) == ""


def test_a_title_names_no_bead_that_cannot_be_one() -> None:
    """What it names goes into the command that an error tells."""
    assert quality_text.find_bead(TrackerTask("c", ForeignText("Quality loops for $(reboot)"), "open")) == ""
    assert quality_text.find_bead(TrackerTask("c", ForeignText("Quality loops for --force"), "open")) == ""
    assert quality_text.find_bead(TrackerTask("c", ForeignText("Quality loops for bd-1"), "open")) == "bd-1"
