"""What `midwatch replay` makes of files, whole and broken."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Box

POLICY = {"name": "patient", "stale_s": 600.0, "grace_s": 30.0, "timeout_s": None, "heartbeat_s": 20.0,
          "on_stuck": "report", "progress": ["output", "beat"]}  # fmt: skip
GOLDENS = Path(__file__).parents[2] / "goldens"


def event(n: int, word: str, after: float, run: str = "r1", **more: Any) -> dict[str, Any]:
    return {
        "schema": 1,
        "run": run,
        "n": n,
        "at": 9e8 + after,
        "mono": 100.0 + after,
        "name": "job",
        "event": word,
    } | more


def silent_run(run: str = "r1") -> list[dict[str, Any]]:
    """A run that was suspected, and ended."""
    reason = "no output or beat for 10m; stuck in 30s unless it moves"
    moved = {"output": 100.0, "beat": 100.0}
    end = {"state": "completed", "exit_code": 0, "signal": None, "reason": "", "elapsed_s": 610.0, "left": []}
    return [
        event(1, "started", 0.0, run, policy=POLICY, attempt=1),
        event(2, "stale", 600.1, run, reason=reason, judged=700.0, moved=moved),
        event(3, "ended", 610.0, run, **end),
    ]


def lines(events: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(each) + "\n" for each in events)


def replayed(box: Box, text: str, *options: str) -> Any:
    (box.cwd / "f.jsonl").write_text(text)
    return box("replay", "f.jsonl", *options)


# For people and for programs ------------------------------------------------------------------------------------------


def test_a_person_is_told_line_by_line(box: Box) -> None:
    done = replayed(box, lines(silent_run()))
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "job, run r1:",
        "       0s  =  working (started)",
        "      10m  =  suspected: no output or beat for 10m; stuck in 30s unless it moves",
        "  10m 10s  =  completed: exit 0 after 10m 10s",
        "3 verdicts, all as they were given",
    ]


def test_a_program_is_told_line_by_line(box: Box) -> None:
    done = replayed(box, lines(silent_run()), "--json")
    assert done.err == "3 verdicts, all as they were given\n"
    last = json.loads(done.out.splitlines()[-1])
    assert last == {
        "schema": 1, "name": "job", "run": "r1", "attempt": 1, "at": 610.0, "event": "ended",
        "given": {"state": "completed", "exit_code": 0, "signal": None},
        "now": {"state": "completed", "exit_code": 0, "signal": None, "reason": "exit 0 after 10m 10s"},
        "same": True, "uncertain": None, "note": None,
    }  # fmt: skip


def test_a_verdict_that_is_another_now_is_told_and_gives_the_exit_code(box: Box) -> None:
    events = silent_run()
    events[1]["reason"] = "no output for ages"
    done = replayed(box, lines(events))
    assert done.code == 1
    assert (
        "      10m  ≠  given: suspected: no output for ages\n              now:   suspected: no output or" in done.out
    )
    assert "3 verdicts: 2 as given, 1 otherwise" in done.out
    assert replayed(box, lines(events), "--grace", "60s").code == 0


def test_standard_input_is_a_file_too(box: Box) -> None:
    done = box("replay", "-", stdin=lines(silent_run()))
    assert (done.code, done.out.splitlines()[-1]) == (0, "3 verdicts, all as they were given")


def test_nothing_in_a_file_can_move_the_cursor(box: Box) -> None:
    events = silent_run()
    events[1]["reason"] = "\x1b[2J\x1b]0;title\x07"
    assert "\x1b" not in replayed(box, lines(events)).out


def test_whoever_stops_reading_is_not_told_of_it(box: Box) -> None:
    (box.cwd / "f.jsonl").write_text("".join(lines(silent_run(f"r{n}")) for n in range(3000)))
    call = f"{' '.join(box.program)} replay f.jsonl --json | head -n 1"
    done = subprocess.run(
        ["sh", "-c", call], env=box.env, cwd=box.cwd, capture_output=True, text=True, timeout=60, check=False
    )
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr


# Odd files ----------------------------------------------------------------------------------------------------------


def test_a_last_line_that_is_cut_off_is_passed_over(box: Box) -> None:
    text = lines(silent_run())
    done = replayed(box, text[:-10])
    assert (done.code, done.out.splitlines()[-1]) == (0, "2 verdicts, all as they were given")
    assert done.err == "midwatch: f.jsonl:3: the last line is cut off; it is passed over\n"
    assert replayed(box, text.rstrip("\n")).err == ""


def test_a_line_that_is_no_event_is_told_with_its_number(box: Box) -> None:
    first, second, third = lines(silent_run()).splitlines(keepends=True)
    done = replayed(box, first + second + "\n\x00nonsense\n" + third)
    assert (done.code, done.err) == (12, "midwatch: f.jsonl:4: it is not JSON\n")


def test_events_behind_one_that_was_cut_off_count(box: Box) -> None:
    first, second, third = lines(silent_run()).splitlines(keepends=True)
    done = replayed(box, first + second + third[:20] + third)
    assert (done.code, done.out.splitlines()[-1]) == (0, "3 verdicts, all as they were given")
    assert "f.jsonl:3: 20 bytes in it are no event" in done.err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "f.jsonl is empty"),
        ("\n\n", "f.jsonl is empty"),
        (
            "hello\n",
            "f.jsonl:1: it is not JSON; replay takes a file of `midwatch record`, or of `midwatch events --json`",
        ),
        ('{"schema":1,"name":"build","state":"completed"}\n', "f.jsonl:1: it is no event; replay takes"),
        ('{"schema":2,"event":"started"}\n', "f.jsonl:1: it is of schema 2, not 1: it was written by a newer Midwatch"),
        ('{"midwatch":"timeline","v":2}\n', "f.jsonl:1: a recording of version 2, not 1: it was written by a newer"),
        ('{"midwatch":"timeline","v":1,"agent":"claude"}\n', "f.jsonl: a recording without a look"),
        ('{"midwatch":"timeline","v":1,"agent":"claude"}\n{"at":1}\n', "f.jsonl:2: not a line of a timeline"),
        ('{"midwatch":"timeline","v":1,"agent":"nobody"}\n', "f.jsonl: a recording without a look"),
        ('{"midwatch":', "f.jsonl:1: it is cut off before its first line ends"),
    ],
)
def test_what_is_no_evidence_is_told_in_words(box: Box, text: str, says: str) -> None:
    done = replayed(box, text)
    assert done.code == 12
    assert says in done.err
    assert "Traceback" not in done.err


def test_runs_in_one_file_are_replayed_apart(box: Box) -> None:
    mixed = [each for pair in zip(silent_run("r1"), silent_run("r2"), strict=True) for each in pair]
    done = replayed(box, lines(mixed), "--json")
    assert done.code == 0
    found = [json.loads(line) for line in done.out.splitlines()]
    assert [row["run"] for row in found] == ["r1", "r2"] * 3
    assert {row["same"] for row in found} == {True}
    assert replayed(box, lines(mixed), "--stale", "15m").code == 0


def test_events_of_others_are_shown_as_such(box: Box) -> None:
    events = silent_run()
    events.insert(1, {"schema": 1, "run": "r1", "n": None, "at": 9e8 + 5, "name": "job", "event": "asked", "policy": 3})
    done = replayed(box, lines(events))
    assert done.code == 0
    assert "       5s     asked: no verdict of a shim\n" in done.out
    assert "3 verdicts, all as they were given" in done.out


def test_missing_and_repeated_events_are_told(box: Box) -> None:
    events = silent_run()
    done = replayed(box, lines([*events[:2], event(2, "moved", 601.0), event(7, "lost", 602.0, seconds=3.0)]))
    assert done.code == 0
    assert "job: event 2 of run r1 is there twice" in done.err
    assert "job: events 3 to 6 of run r1 are missing" in done.err


def test_events_of_the_first_release_tell_too_little(box: Box) -> None:
    done = box("replay", str(GOLDENS / "formats" / "v1" / "build.18f6a2b3c4d-a1b2c3.jsonl"))
    assert done.code == 0
    assert "8 verdicts: 0 as given, 0 otherwise, 8 uncertain" in done.out
    assert "the start of this run, with its policy, is not in the evidence" in done.out


def test_a_line_without_end_is_not_read(box: Box) -> None:
    with (box.cwd / "f.jsonl").open("wb") as file:
        file.truncate(100 << 20)
    done = box("replay", "f.jsonl")
    assert (done.code, done.err) == (12, "midwatch: f.jsonl:1: a line of more than 64 MB is no evidence\n")


# What is meant ------------------------------------------------------------------------------------------------------


def test_a_name_of_which_nothing_is_known(box: Box) -> None:
    done = box("replay", "nobody")
    assert (done.code, done.out) == (7, "")
    assert done.err == "midwatch: there is no file nobody, and no event of a job nobody is known\n"


def test_a_path_that_is_not_there(box: Box) -> None:
    done = box("replay", "no/such.jsonl")
    assert (done.code, done.err) == (12, "midwatch: there is no file no/such.jsonl\n")


def test_a_file_goes_before_a_job_and_a_job_before_a_directory(box: Box) -> None:
    box("run", "--name", "job", "--", "true")
    (box.cwd / "job").mkdir()
    assert "2 verdicts, all as they were given" in box("replay", "job").out
    (box.cwd / "job").rmdir()
    (box.cwd / "job").write_text(lines(silent_run()))
    assert "3 verdicts, all as they were given" in box("replay", "job").out


def test_only_the_last_run_of_a_job_is_meant(box: Box) -> None:
    box("run", "--name", "job", "--", "false")
    box("run", "--name", "job", "--", "true")
    found = [json.loads(line) for line in box("replay", "job", "--json").out.splitlines()]
    assert [row["now"]["state"] for row in found] == ["working", "completed"]
    all_runs = box("replay", "-", stdin=box("events", "job", "--json").out)
    assert "4 verdicts, all as they were given" in all_runs.out


@pytest.mark.parametrize(
    "arguments",
    [
        [], ["a", "b"], ["job", "--policy", "odd"], ["job", "--stale", "x"], ["job", "--stale", "0"],
        ["job", "--timeout", "0"], ["job", "--on-stuck", "shout"], ["job", "--progress", "rain"],
        ["job", "--heartbeat", "1s"],
    ],
)  # fmt: skip
def test_usage(box: Box, arguments: list[str]) -> None:
    assert box("replay", *arguments).code == 2
