"""Every event once, in one order, whatever stands in the spools and whatever becomes of the file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal, journal_database, spool_reader
from midwatch.journal.journal import Journal
from midwatch.system import atomic_files


class Book:
    """A directory with spools, and its journal."""

    def __init__(self, path: Path) -> None:
        self.dir = path
        self.said: list[str] = []
        self.journal = Journal(str(path), say=self.said.append)

    def spool(self, run: str = "r1", name: str = "job") -> Path:
        return self.dir / "spool" / f"{name}.{run}.jsonl"

    def line(self, n: int, event: str = "moved", run: str = "r1", name: str = "job", **more: Any) -> str:
        return atomic_files.dumps(
            {"schema": 1, "run": run, "n": n, "at": 1000.0 + n, "name": name, "event": event} | more
        )

    def write(self, *numbers: int, event: str = "moved", run: str = "r1", name: str = "job", **more: Any) -> None:
        for n in numbers:
            atomic_files.append(str(self.spool(run, name)), self.line(n, event, run, name, **more) + "\n")

    def taken(self) -> list[tuple[str, int | None, str]]:
        self.journal.take_in()
        return [(event.run, event.n, event.event) for event in self.journal.after(0, most=1 << 30)]

    def numbers(self) -> list[int | None]:
        return [n for _, n, _ in self.taken()]


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    paths.prepare_directory(str(tmp_path / "jobs"))
    found = Book(tmp_path / "jobs")
    yield found
    found.journal.close()


# Spools -------------------------------------------------------------------------------------------------------------


def test_lines_are_taken_in_once_and_numbered_without_a_gap(book: Book) -> None:
    book.write(1, 2)
    assert book.numbers() == book.numbers() == [1, 2]
    book.write(3)
    assert book.numbers() == [1, 2, 3]
    assert [event.seq for event in book.journal.after(0)] == [1, 2, 3]


def test_lines_that_are_met_again_keep_their_numbers_and_use_up_no_other(book: Book) -> None:
    book.write(1, 2, 3)
    book.journal.take_in()
    before = book.journal.after(0)
    book.spool().rename(book.spool("r2"))
    book.write(4)
    book.journal.take_in()
    assert book.journal.after(0)[:-1] == before
    assert [(event.seq, event.n) for event in book.journal.after(3)] == [(4, 4)]


def test_the_body_is_kept_as_it_came(book: Book) -> None:
    book.write(1, mono=5.5, reason="é\udcff \n", deep={"a": [1, None]})
    book.journal.take_in()
    assert journal_codec.event_body(book.journal.after(0)[0]) == {
        "mono": 5.5,
        "reason": "é\udcff \n",
        "deep": {"a": [1, None]},
    }


def test_a_last_line_that_is_not_whole_is_waited_for(book: Book) -> None:
    book.write(1)
    with book.spool().open("a") as spool:
        spool.write(book.line(2)[:-5])
    assert book.numbers() == [1]
    with book.spool().open("a") as spool:
        spool.write(book.line(2)[-5:] + "\n")
    assert book.taken() == [("r1", 1, "moved"), ("r1", 2, "moved")]


def test_a_line_that_was_cut_off_in_the_middle_is_told_once_and_costs_no_other(book: Book) -> None:
    book.write(1)
    with book.spool().open("a") as spool:
        spool.write(book.line(2)[:-5])
    book.write(3)
    with book.spool().open("ab") as rubbish:
        rubbish.write(b"\xff\x00 rubbish\n\n")
    book.write(4)
    expected = ["moved", "unreadable", "moved", "unreadable", "moved"]
    assert [event for _, _, event in book.taken()] == expected
    book.journal.close()
    with contextlib.closing(sqlite3.connect(book.dir / "journal.sqlite")) as base, base:
        base.execute("DELETE FROM spools")  # as if nobody had noted how far it was read
    assert [event for _, _, event in book.taken()] == expected


def test_a_line_of_any_length_is_passed_over_and_what_follows_is_not(book: Book) -> None:
    book.write(1)
    with book.spool().open("ab") as spool:
        spool.write(b"x" * (3 << 20) + b"\n")
    book.write(2)
    assert [event for _, _, event in book.taken()] == ["moved", "unreadable", "moved"]
    told = journal_codec.event_body(book.journal.after(1)[0])
    assert (told["bytes"], len(str(told["text"]))) == (3 << 20, journal_codec.KEPT)


def test_more_than_fits_one_batch_is_taken_in_wholly(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "BATCH", 500)
    book.write(*range(1, 100))
    book.write(*range(1, 50), run="r2")
    with book.spool().open("a") as spool:
        spool.write('{"torn')
    found = book.taken()
    assert [n for run, n, _ in found if run == "r1"] == [*range(1, 100)]
    assert [n for run, n, _ in found if run == "r2"] == [*range(1, 50)]


def test_events_of_several_jobs_come_in_the_order_of_their_time(book: Book) -> None:
    book.write(1, 5, 9, run="r1")
    book.write(2, 3, 7, run="r2")
    assert book.numbers() == [1, 2, 3, 5, 7, 9]


def test_a_clock_that_was_set_back_does_not_change_the_order_within_a_run(book: Book) -> None:
    book.write(1, run="r1", at=5000.0)
    book.write(2, 3, run="r1", at=10.0)
    book.write(1, run="r2", at=4000.0)
    assert [(run, n) for run, n, _ in book.taken()] == [("r2", 1), ("r1", 1), ("r1", 2), ("r1", 3)]


def test_a_shorter_file_in_its_place_is_read_from_its_beginning(book: Book) -> None:
    book.write(1, 2, 3)
    assert book.numbers() == [1, 2, 3]
    book.spool().write_text(book.line(3) + "\n" + book.line(4) + "\n")
    assert book.numbers() == [1, 2, 3, 4]


def test_another_file_in_its_place_is_read_from_its_beginning(book: Book) -> None:
    book.write(1, 2)
    assert book.numbers() == [1, 2]
    other = book.dir / "other"
    other.write_text("".join(book.line(n, reason="long enough") + "\n" for n in (1, 2, 3)))
    other.rename(book.spool())
    assert book.numbers() == [1, 2, 3]


def test_a_file_written_anew_in_place_is_read_from_its_beginning(book: Book) -> None:
    book.write(1, 2)
    assert book.numbers() == [1, 2]
    book.spool().write_text("".join(book.line(n, reason="another length") + "\n" for n in (3, 4, 5)))
    assert book.numbers() == [1, 2, 3, 4, 5]


def test_what_is_no_spool_is_left_alone(book: Book) -> None:
    book.write(1)
    elsewhere = book.dir.parent / "elsewhere"
    elsewhere.write_text(book.line(1, run="r9", event="ended") + "\n")
    book.spool("r2").symlink_to(elsewhere)
    book.spool("r3").mkdir()
    os.mkfifo(book.spool("r4"))
    (book.dir / "spool/shim.err").write_text("oh\n")
    (book.dir / "spool/norun.jsonl").write_text(book.line(1, run="r5") + "\n")
    (book.dir / "spool/.hidden.r6.jsonl").write_text(book.line(1, run="r6") + "\n")
    assert book.taken() == [("r1", 1, "moved")]
    assert elsewhere.exists()


def test_a_file_that_cannot_be_read_costs_no_other(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.write(1)
    book.write(1, run="r2")
    refused = str(book.spool())

    def open_plain(path: str) -> int:
        if path == refused:
            raise PermissionError(13, "Permission denied")
        return atomic_files.open_plain(path)

    monkeypatch.setattr(spool_reader, "open_plain", open_plain)
    assert book.taken() == [("r2", 1, "moved")]
    monkeypatch.undo()
    assert book.taken() == [("r2", 1, "moved"), ("r1", 1, "moved")]


def test_a_spool_beyond_the_limit_is_named_once_and_costs_no_other(book: Book) -> None:
    book.write(1)
    with book.spool().open("ab") as spool:
        spool.truncate(256 << 30)  # sparse: it takes no room on the disk
    book.write(1, 2, run="r2")
    assert book.taken() == book.taken() == [("r2", 1, "moved"), ("r2", 2, "moved")]
    (said,) = book.said
    assert str(book.spool()) in said
    assert "more than 1024 MiB that were never read" in said


def test_a_spool_that_is_read_as_it_grows_may_become_larger_than_the_limit(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_reader, "MOST", 1000)
    monkeypatch.setattr(journal, "BATCH", 200)
    for n in range(1, 41, 4):
        book.write(*range(n, n + 4))
        assert book.numbers() == [*range(1, n + 4)]
    assert book.spool().stat().st_size > 3000
    assert book.said == []


def test_a_file_that_did_not_grow_is_not_opened_again(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        book.write(1, run=f"r{number}")
    with book.spool("r3").open("a") as spool:
        spool.write('{"torn')
    assert len(book.taken()) == 20
    opened: list[str] = []

    def open_plain(path: str) -> int:
        opened.append(path)
        return atomic_files.open_plain(path)

    monkeypatch.setattr(spool_reader, "open_plain", open_plain)
    Journal(str(book.dir)).take_in()
    assert opened == []
    book.write(2, run="r7")
    assert len(book.taken()) == 21
    assert opened == [str(book.spool("r7"))]


# The end of a run ---------------------------------------------------------------------------------------------------


def test_the_spool_of_a_run_that_has_ended_is_removed(book: Book) -> None:
    book.write(1)
    book.write(2, event="ended")
    book.write(1, run="r2")
    assert len(book.taken()) == 3
    assert [path.name for path in (book.dir / "spool").iterdir()] == ["job.r2.jsonl"]
    assert len(book.taken()) == 3


def test_a_spool_in_which_something_follows_the_end_stays(book: Book) -> None:
    book.write(1, event="ended")
    with book.spool().open("a") as spool:
        spool.write('{"torn')
    assert book.numbers() == [1]
    assert book.spool().exists()


def test_the_end_of_another_run_removes_nothing(book: Book) -> None:
    atomic_files.append(str(book.spool("r1")), book.line(1, event="ended", run="r2") + "\n")
    assert book.taken() == [("r2", 1, "ended")]
    assert book.spool("r1").exists()


def test_a_line_that_comes_after_the_spool_was_removed_is_taken_in_too(book: Book) -> None:
    book.write(1, event="ended")
    assert book.numbers() == [1]
    book.write(2)
    assert book.numbers() == [1, 2]


def test_a_spool_that_grew_while_it_was_taken_in_is_not_removed(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    real = spool_reader.remove

    def late(directory: str, taken: spool_reader.SpoolBatch) -> bool:
        book.write(2)
        return real(directory, taken)

    book.write(1, event="ended")
    monkeypatch.setattr(spool_reader, "remove", late)
    assert book.numbers() == [1]
    monkeypatch.undo()
    assert book.numbers() == [1, 2]


def test_a_spool_that_cannot_be_removed_is_not_written_down_again_and_again(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool_reader, "remove", lambda *_: False)
    book.write(1, event="ended")
    assert book.numbers() == [1]
    log = book.dir / "journal.sqlite-wal"
    before = log.stat()
    assert book.numbers() == [1]
    assert (log.stat().st_size, log.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


# Asking -------------------------------------------------------------------------------------------------------------


def test_names_and_numbers_narrow_what_is_told(book: Book) -> None:
    book.write(1, 4, name="a", run="ra")
    book.write(2, 5, name="b", run="rb")
    book.write(3, 6, name="c", run="rc")
    book.journal.take_in()
    ask = book.journal
    assert [event.n for event in ask.after(2, ["a", "c"])] == [3, 4, 6]
    assert [event.n for event in ask.after(2, most=2)] == [3, 4]
    assert [event.n for event in ask.last(2)] == [5, 6]
    assert [event.n for event in ask.last(2, ["a"])] == [1, 4]
    assert ask.last(0) == ask.after(6) == ask.after(0, ["d"]) == []
    assert ask.newest() == 6
    assert ask.runs("a") == {"ra": 1001.0}
    assert [event.n for event in ask.of_run("b", "rb")] == [2, 5]


def test_two_that_have_it_open_see_the_same(book: Book) -> None:
    with contextlib.closing(Journal(str(book.dir))) as other:
        book.write(1)
        other.take_in()
        book.write(2)
        assert book.numbers() == [1, 2]
        assert other.after(0) == book.journal.after(0)


# Notes of our own verbs -----------------------------------------------------------------------------------------------


def test_a_note_is_an_event_without_a_number_of_its_own(book: Book) -> None:
    journal.record_event(str(book.dir), "job", "r1", "adopted", pid=5)
    journal.record_event(str(book.dir), "job", "r1", "adopted", pid=6)
    assert book.taken() == [("r1", None, "adopted")] * 2
    assert [journal_codec.event_body(event) for event in book.journal.after(0)] == [{"pid": 5}, {"pid": 6}]


LEFT = (".journal.sqlite.0123abcd", ".journal.sqlite.0123abcd-wal", ".journal.sqlite.0123abcd-journal")


def left(book: Book) -> list[str]:
    return sorted(path.name for path in book.dir.glob(".journal.sqlite.*"))


def test_what_a_maker_that_was_killed_left_behind_is_removed(book: Book) -> None:
    for name in (*LEFT, ".journal.sqlite.mine"):
        (book.dir / name).write_bytes(b"")
    book.write(1)
    assert book.numbers() == [1]
    assert left(book) == [".journal.sqlite.mine"]


def test_the_second_name_that_a_killed_maker_left_is_removed(book: Book) -> None:
    book.write(1)
    assert book.numbers() == [1]
    book.journal.close()
    os.link(book.dir / "journal.sqlite", book.dir / LEFT[0])
    assert book.numbers() == [1]
    assert left(book) == []


def test_what_a_living_maker_has_begun_is_left_alone(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_database, "MAKING", 0.05)
    (book.dir / LEFT[0]).write_bytes(b"")
    fd = os.open(book.dir, os.O_RDONLY)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)  # as it does while it makes one
        book.write(1)
        assert book.numbers() == [1]
        assert left(book) == [LEFT[0]]
    finally:
        os.close(fd)


def test_a_note_that_cannot_be_written_is_a_warning(book: Book, capsys: pytest.CaptureFixture[str]) -> None:
    (book.dir / "journal.sqlite").symlink_to("elsewhere")
    journal.record_event(str(book.dir), "job", "r1", "adopted")
    said = capsys.readouterr().err
    assert said.startswith("midwatch: warning: this was not noted: ")
    assert "journal.sqlite is a symbolic link" in said


def test_a_note_in_our_own_directory_makes_it_ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDWATCH_HOME", str(tmp_path / "new"))
    journal.record_event(str(tmp_path / "new"), "", "", "trusted")
    with contextlib.closing(Journal(str(tmp_path / "new"))) as found:
        assert [event.event for event in found.after(0)] == ["trusted"]


@pytest.mark.parametrize("kind", ["another's", "shared", "empty", "with a spool of its own"])
def test_nothing_is_written_into_a_directory_that_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    directory = tmp_path / "theirs"
    directory.mkdir(mode=0o700)
    if kind != "empty":
        (directory / "spool").mkdir()
    if kind not in ("empty", "with a spool of its own"):
        (directory / "archive").mkdir()
    if kind == "shared":
        directory.chmod(0o777)
    if kind == "another's":
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
        if os.getuid() == 0:  # root's directories are trusted
            os.chown(directory, 54321, 54321)
    before = os.listdir(directory)
    assert journal.find_problem(str(directory))
    journal.record_event(str(directory), "job", "", "adopted")
    assert os.listdir(directory) == before


def test_a_journal_for_one_call_writes_and_removes_nothing(book: Book) -> None:
    book.write(1, event="ended")
    with contextlib.closing(Journal(str(book.dir), memory=True)) as found:
        found.take_in()
        found.take_in()
        assert [event.n for event in found.after(0)] == [1]
    assert book.spool().exists()
    assert sorted(os.listdir(book.dir)) == ["archive", "spool"]


# The file -------------------------------------------------------------------------------------------------------------


def test_the_file_is_for_nobody_elses_eyes(book: Book) -> None:
    book.write(1)
    book.journal.take_in()
    made = [path for path in book.dir.iterdir() if path.is_file()]
    assert {path.name for path in made} == {"journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o600}


def test_a_journal_of_a_newer_midwatch_is_refused_and_left_as_it_is(book: Book) -> None:
    book.write(1)
    book.journal.take_in()
    book.journal.close()
    with contextlib.closing(sqlite3.connect(book.dir / "journal.sqlite")) as base:
        base.execute("PRAGMA user_version = 7")
    with pytest.raises(RefusedError, match="newer Midwatch"):
        book.journal.take_in()
    assert not list(book.dir.glob("*.bad-*"))


def test_a_link_in_its_place_is_refused(book: Book) -> None:
    (book.dir / "journal.sqlite").symlink_to(book.dir.parent / "elsewhere")
    with pytest.raises(RefusedError, match="symbolic link"):
        book.journal.take_in()
    assert not (book.dir.parent / "elsewhere").exists()


def spoil(path: Path, how: str) -> None:
    data = path.read_bytes()
    match how:
        case "rubbish":
            path.write_bytes(b"rubbish" * 1000)
        case "empty":
            path.write_bytes(b"")
        case "cut":
            path.write_bytes(data[: len(data) // 2])
        case "pages":  # all but the first, which holds the shape
            path.write_bytes(data[:4096] + b"\xaa" * (len(data) - 4096))


@pytest.mark.parametrize("how", ["rubbish", "empty", "cut", "pages"])
@pytest.mark.parametrize("first", ["take_in", "after", "note"])
def test_a_damaged_journal_is_put_aside_and_made_anew_from_the_spools(book: Book, how: str, first: str) -> None:
    book.write(*range(1, 200), run="r1", name="gone", reason="x" * 100)
    book.write(200, run="r1", name="gone", event="ended")
    book.write(*range(1, 200), run="r2")
    newest = len(book.taken())
    book.journal.close()
    spoil(book.dir / "journal.sqlite", how)
    book.write(200, run="r2")
    match first:
        case "after":
            book.journal.after(0)
        case "note":
            journal.record_event(str(book.dir), "job", "r2", "noted")
    found = [(run, n) for run, n, _ in book.taken() if n is not None]
    assert found == [("r2", n) for n in range(1, 201)]
    assert book.journal.after(0)[0].seq > newest, "a listener would have skipped it"
    aside = [path for path in book.dir.glob("journal.sqlite.bad-*") if not path.name.endswith(("-wal", "-shm"))]
    assert len(aside) == 1
    assert len(book.said) == (first != "note")
    assert all(str(aside[0]) in said for said in book.said)


@pytest.mark.parametrize("number", [2**63 - 1, -1, 1.5])
def test_a_journal_without_numbers_left_is_put_aside(book: Book, number: float) -> None:
    book.write(1)
    book.taken()
    book.journal.close()
    with contextlib.closing(sqlite3.connect(book.dir / "journal.sqlite", isolation_level=None)) as base:
        base.execute("UPDATE sqlite_sequence SET seq = ?", (number,))
    book.write(2)
    assert book.numbers() == [1, 2]
    assert len(book.said) == 1


def test_whoever_has_a_damaged_journal_open_goes_on_with_the_new_one(book: Book) -> None:
    book.write(1)
    assert book.numbers() == [1]
    inode = journal_database.journal_inode(str(book.dir))
    assert journal_database.set_aside(str(book.dir), inode)
    with contextlib.closing(Journal(str(book.dir))) as other:
        other.take_in()
        book.write(2)
        assert book.numbers() == [1, 2]
        assert other.after(0) == book.journal.after(0)


def test_a_new_journal_in_which_nothing_stands_yet_is_not_behind_the_damaged_one(book: Book) -> None:
    book.write(1, event="ended")
    assert book.numbers() == [1]
    assert journal_database.set_aside(str(book.dir), journal_database.journal_inode(str(book.dir)))
    assert book.journal.newest() > 1


def test_only_the_journal_that_was_found_damaged_is_put_aside(book: Book) -> None:
    book.write(1)
    book.journal.take_in()
    inode = journal_database.journal_inode(str(book.dir))
    assert journal_database.set_aside(str(book.dir), inode)
    book.journal.take_in()
    assert journal_database.set_aside(str(book.dir), inode) == ""
    assert book.numbers() == [1]


def test_what_cannot_be_written_can_still_be_read_with_the_spools_on_top(book: Book) -> None:
    book.write(1)
    book.journal.take_in()
    book.write(2)
    with contextlib.closing(book.journal.copied()) as copy:
        assert [event.n for event in copy.after(0)] == [1, 2]
    assert [event.n for event in book.journal.after(0)] == [1]


@pytest.mark.parametrize("how", ["rubbish", "empty", "pages"])
def test_of_a_damaged_journal_the_spools_can_still_be_read(book: Book, how: str) -> None:
    book.write(*range(1, 100))
    book.journal.take_in()
    book.journal.close()
    spoil(book.dir / "journal.sqlite", how)
    with contextlib.closing(book.journal.copied()) as copy:
        assert [event.n for event in copy.after(0)] == [*range(1, 100)]


HOSTILE = {
    "a view": "DROP TABLE events; CREATE VIEW events AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) "
    "SELECT i AS seq, i AS run, i AS n, i AS at, i AS name, i AS event, i AS body FROM n",
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON events BEGIN SELECT count(*) FROM (WITH RECURSIVE n(i) AS "
    "(SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n); END",
    "a computed column": "ALTER TABLE events ADD COLUMN x AS (body LIKE '%a%a%a%a%a%a%b')",
}


def spoiled(book: Book, what: str) -> None:
    book.write(1)
    book.journal.take_in()
    book.journal.close()
    with contextlib.closing(sqlite3.connect(book.journal.path)) as other:
        other.executescript(HOSTILE[what])
    book.write(2)


@pytest.mark.parametrize("what", HOSTILE)
def test_a_journal_that_would_run_code_is_put_aside(book: Book, what: str) -> None:
    spoiled(book, what)
    assert book.numbers() == [1, 2], "from the spool, which is still there"
    assert len(list(book.dir.glob("journal.sqlite.bad-*"))) == 1


@pytest.mark.parametrize("what", HOSTILE)
def test_a_journal_that_would_run_code_is_not_copied(book: Book, what: str) -> None:
    spoiled(book, what)
    with contextlib.closing(book.journal.copied()) as copy:
        assert [event.n for event in copy.after(0)] == [1, 2]
