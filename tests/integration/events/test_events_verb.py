"""`midwatch events`: in order, from any number on, for machines and for people."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.exit_codes import EXIT_CODES
from midwatch.journal import journal
from tests.conftest import PATIENCE, Box, Done, tool
from tests.integration.events.spooling import line, prepared
from tests.integration.wait.disks import fill, mounted


def rows(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done
    return [json.loads(row) for row in done.out.splitlines()]


def spool(box: Box, run: str, *numbers: int, name: str = "job", event: str = "moved") -> None:
    if not box.dir.exists():
        prepared(box.dir)
    with box.path(f"spool/{name}.{run}.jsonl").open("a") as file:
        file.writelines(line(run, n, event, name) + "\n" for n in numbers)


def test_a_jobs_whole_story_is_told_in_order(box: Box) -> None:
    assert box("run", "--name", "job", "--", "sh", "-c", "exit 3").code == 3
    told = rows(box("events", "--json"))
    assert [row["event"] for row in told] == ["started", "ended"]
    assert [list(row)[:7] for row in told] == [["schema", "seq", "run", "n", "at", "name", "event"]] * 2
    assert [(row["schema"], row["seq"], row["n"], row["name"]) for row in told] == [(1, 1, 1, "job"), (1, 2, 2, "job")]
    assert {row["run"] for row in told} == {box.record("job")["run"]}
    assert told[0]["pid"] == box.pids("job")[1]
    assert (told[1]["state"], told[1]["exit_code"]) == ("failed", 3)
    assert rows(box("events", "--json")) == told


def test_people_are_told_in_words(box: Box) -> None:
    assert box("run", "--name", "job", "--", "sh", "-c", "exit 3").code == 3
    done = box("events", TZ="UTC")
    first, last = done.out.splitlines()
    assert first.split()[2:6] == ["1", "job", "started", "pid"]
    assert " job          ended      failed, exit 3" in last
    assert "\033" not in done.out


def test_since_and_n_choose_what_is_told(box: Box) -> None:
    spool(box, "r1", *range(1, 11), name="a")
    spool(box, "r2", *range(11, 14), name="b")

    def numbers(*arguments: str) -> list[int]:
        return [row["seq"] for row in rows(box("events", "--json", *arguments))]

    assert numbers() == numbers("--since", "0") == [*range(1, 14)]
    assert numbers("--since", "11") == [12, 13]
    assert numbers("--since", "13") == numbers("-n", "0") == []
    assert numbers("-n", "2") == [12, 13]
    assert numbers("-n", "2", "a") == [9, 10]
    assert numbers("-n", "2", "--since", "4") == [5, 6]
    assert numbers("--since=9", "a") == [10]
    assert numbers("a", "b", "--since", "9") == [10, 11, 12, 13]


def test_more_events_than_one_page_are_all_told(box: Box) -> None:
    spool(box, "r1", *range(1, 2502))
    assert [row["n"] for row in rows(box("events", "--json"))] == [*range(1, 2502)]


def test_a_number_beyond_the_newest_is_an_error_that_says_the_newest(box: Box) -> None:
    spool(box, "r1", 1, 2, 3)
    for more in ((), ("--follow",)):
        done = box("events", "--since", "9", *more)
        assert done.code == 12
        assert "newest event, which is 3" in done.err


@pytest.mark.parametrize(
    "wrong",
    [
        ("--since", "x"),
        ("--since", "-1"),
        ("-n", "many"),
        ("-n", "9" * 5000),
        ("../x",),
        ("--follow", "-n1", "--since", "1"),
    ],
)
def test_a_wrong_call_is_told_so(box: Box, wrong: tuple[str, ...]) -> None:
    assert box("events", *wrong).code == 2


def test_a_name_that_nobody_knows_is_not_found(box: Box) -> None:
    spool(box, "r1", 1)
    done = box("events", "jbo", "--json")
    assert (done.code, done.out) == (7, "")
    assert "no job 'jbo'" in done.err
    box.path("job2.status").write_text("SUCCESS\n")
    assert box("events", "job2").code == 0


def test_where_nothing_ran_there_is_nothing_to_tell_and_nothing_is_made(box: Box) -> None:
    done = box("events")
    assert (done.code, done.out) == (0, "")
    assert "no events here" in done.err
    assert not box.dir.exists()


def test_a_reader_that_stops_reading_ends_it_quietly(box: Box) -> None:
    spool(box, "r1", *range(1, 20_000))
    with box.start("events", "--json") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.parametrize(("env", "wanted"), [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False)])
def test_colours_only_on_a_terminal_that_wants_them(box: Box, env: dict[str, str], *, wanted: bool) -> None:
    prepared(box.dir)
    box.path("spool/job.r1.jsonl").write_text(line("r1", 1, "ended", state="failed") + "\n")
    master, slave = os.openpty()
    with box.start("events", env=env, stdout=slave) as process:
        assert process.wait(PATIENCE) == 0
    shown = os.read(master, 4096).decode()
    os.close(master)
    os.close(slave)
    assert "failed" in shown
    assert ("\033[31mfailed" in shown) == wanted


# Directories that are not ours ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["empty", "of a script", "shared"])
def test_in_a_directory_of_others_nothing_is_written(box: Box, kind: str) -> None:
    other = box.cwd / "other"
    other.mkdir(mode=0o700)
    if kind == "of a script":
        (other / "step.status").write_text("SUCCESS\n")
    if kind == "shared":
        (other / "spool").mkdir()
        (other / "spool/job.r1.jsonl").write_text(line("r1", 1, "ended") + "\n")
        other.chmod(0o777)
    before = sorted(other.rglob("*"))
    done = box("events", "--json", "--dir", str(other))
    assert [row["n"] for row in rows(done)] == ([1] if kind == "shared" else [])
    assert "no journal is kept there" in done.err
    for more in (("--since", "0"), ("--follow",)):
        refused = box("events", "--dir", str(other), *more)
        assert refused.code == 12
        assert "no journal is kept there" in refused.err
    assert sorted(other.rglob("*")) == before


# What can go wrong ----------------------------------------------------------------------------------------------------


def test_a_damaged_journal_is_put_aside_with_a_warning(box: Box) -> None:
    spool(box, "r1", 1, 2)
    assert len(rows(box("events", "--json"))) == 2
    box.path("journal.sqlite").write_bytes(b"rubbish" * 999)
    done = box("events", "--json")
    assert [row["n"] for row in rows(done)] == [1, 2]
    assert "was damaged" in done.err
    assert len(list(box.dir.glob("journal.sqlite.bad-*"))) == 1
    assert [row["n"] for row in rows(box("events", "--json", "--since", "2"))] == [1, 2], "a listener would skip them"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_what_is_no_file_in_the_place_of_the_journal_is_put_aside(box: Box, make: Callable[[str], None]) -> None:
    box("run", "--name", "build", "--", "true")
    make(str(box.path("journal.sqlite")))
    done = box("events", "-n", "1")
    assert (done.code, "ended" in done.out) == (0, True), done
    assert "was damaged (it is no plain file)" in done.err
    assert len(list(box.dir.glob("journal.sqlite.bad-*"))) == 1
    assert box("events").err == ""


@pytest.mark.parametrize(
    ("verb", "code"),
    [(("events", "--json"), 0), (("show", "job", "--json"), 0), (("replay", "job"), EXIT_CODES["not_found"])],
)  # what was known of a run that has ended is in the file put aside, so there is nothing to replay
def test_whoever_asks_a_journal_whose_schema_is_not_utf_8_gets_an_answer(
    box: Box, verb: tuple[str, ...], code: int
) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    spool(box, "r1", 1)
    assert box("events").code == 0
    path = box.path("journal.sqlite")
    path.write_bytes(path.read_bytes().replace(b"events", b"\xffvents", 1))  # Python cannot read the message either
    done = box(*verb)
    assert done.code == code, done
    assert "was damaged" in done.err
    assert "Traceback" not in done.err
    assert [row["n"] for row in rows(box("events", "--json"))] == [1]


def test_a_journal_of_a_newer_midwatch_is_refused(box: Box) -> None:
    spool(box, "r1", 1)
    assert box("events").code == 0
    with sqlite3.connect(box.path("journal.sqlite")) as base:
        base.execute("PRAGMA user_version = 9")
    base.close()
    done = box("events")
    assert done.code == 12
    assert "newer Midwatch" in done.err


@pytest.fixture
def small(box: Box) -> Iterator[Box]:
    """A box whose directory is a disk of half a megabyte."""
    mounted(box.dir, "size=512k,mode=700")
    yield box
    box.sweep()
    subprocess.run(["umount", "--lazy", str(box.dir)], check=True)


def test_on_a_full_disk_it_says_what_to_do_and_nothing_is_lost(small: Box) -> None:
    prepared(small.dir)
    spool(small, "r1", 1)
    assert len(rows(small("events", "--json"))) == 1
    spool(small, "r1", *range(2, 1000))
    fill(small)
    done = small("events", "--json")
    assert done.code == 12
    assert "is the disk full" in done.err
    small.path("filler").unlink()
    assert [row["n"] for row in rows(small("events", "--json"))] == [*range(1, 1000)]


def test_on_a_disk_that_is_read_only_it_says_so_and_show_tells_what_can_be_read(small: Box) -> None:
    assert small("run", "--name", "job", "--", "true").code == 0
    assert len(rows(small("events", "--json"))) == 2
    run = small.record("job")["run"]
    with small.path(f"spool/job.{run}.jsonl").open("a") as file:
        file.write(line(run, 3, "late") + "\n")
    subprocess.run(["mount", "-o", "remount,ro", str(small.dir)], check=True)
    done = small("events", "--json")
    assert done.code == 12
    assert "cannot be used" in done.err
    shown = small("show", "job", "--json")
    assert [event["event"] for event in shown.json["events"]] == ["started", "ended", "late"]
    assert "warning" in shown.err
    subprocess.run(["mount", "-o", "remount,rw", str(small.dir)], check=True)


def test_a_note_on_a_full_disk_is_only_a_warning(small: Box, capsys: pytest.CaptureFixture[str]) -> None:
    prepared(small.dir)
    fill(small)
    journal.record_event(str(small.dir), "job", "", "stopped")
    assert "warning: this was not noted" in capsys.readouterr().err


def test_ten_thousand_spools_that_did_not_grow_are_only_looked_at(box: Box) -> None:
    prepared(box.dir)
    for number in range(10_000):
        Path(box.dir, f"spool/job{number}.r{number}.jsonl").write_text(
            line(f"r{number}", 1, name=f"job{number}") + "\n"
        )
    assert len(rows(box("events", "--json"))) == 10_000
    trace = box.cwd / "trace"
    call = [tool("strace"), "-f", "-qq", "-o", str(trace), "-e", "trace=openat", *box.program, "events", "-n1"]
    subprocess.run(call, env=box.env, cwd=box.cwd, check=True, capture_output=True, timeout=60)
    assert "/spool" in trace.read_text()
    assert not [row for row in trace.read_text().splitlines() if f"{os.sep}spool/" in row]
