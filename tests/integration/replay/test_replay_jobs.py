"""`midwatch replay` of real jobs: what was given is said again, whatever became of them."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import Box, Done, kill, until, until_gone
from tests.integration.wait.watching import Gate

SOON = ("--stale", "0.5s", "--grace", "0.3s", "--heartbeat", "0.1s")


@pytest.fixture
def gate(box: Box) -> Iterator[Gate]:
    found = Gate(box.cwd / "gate")
    yield found
    found.close()


def start(box: Box, *options: str, command: tuple[str, ...] = ("sleep", "300")) -> None:
    begun = box("run", "-d", "--name", "job", *SOON, *options, "--", *command)
    assert begun.code == 0, begun


def until_event(box: Box, word: str, times: int = 1) -> None:
    until(lambda: sum(line["event"] == word for line in box.events("job")) >= times, box.dir / "spool")


def rows(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done
    return [json.loads(line) for line in done.out.splitlines()]


def states(found: list[dict[str, Any]]) -> list[str]:
    return ["suspected" if row["now"].get("progress") else row["now"]["state"] for row in found]


def all_the_same(box: Box, *expected: str) -> None:
    """The job by its name, its events and its `show` as files: every verdict as it was given."""
    told = box("replay", "job")
    assert "all as they were given" in told.out, told
    found = rows(box("replay", "job", "--json"))
    assert states(found) == [*expected]
    assert {row["same"] for row in found} == {True}
    (box.cwd / "show.jsonl").write_text(box("show", "job", "--json").out)
    assert rows(box("replay", "show.jsonl", "--json")) == found
    (box.cwd / "events.jsonl").write_text(box("events", "job", "--json").out)
    again = rows(box("replay", "events.jsonl", "--json"))
    assert states(again) == [*expected]
    assert False not in {row["same"] for row in again}


# As it was ----------------------------------------------------------------------------------------------------------


def test_work_that_got_stuck_and_moved_again(box: Box, gate: Gate) -> None:
    start(box, command=("sh", "-c", f"read -r line < {gate.path}; echo back; read -r line < {gate.path}"))
    until_event(box, "stuck")
    gate.say()
    until_event(box, "moved")
    until_event(box, "stuck", 2)
    gate.say()
    assert box("wait", "job", "--until", "final").code == 0
    silent = ["suspected", "stuck"]
    all_the_same(box, "working", *silent, "working", *silent, "completed")


def test_work_that_was_suspended_and_continued(box: Box, gate: Gate) -> None:
    start(box, command=("sh", "-c", f"read -r line < {gate.path}"))
    until_event(box, "stuck")
    work = box.pids("job")[1]
    kill(work, signal.SIGSTOP)
    until_event(box, "suspended")
    kill(work, signal.SIGCONT)
    until_event(box, "continued")
    gate.say()
    assert box("wait", "job", "--until", "final").code == 0
    all_the_same(box, "working", "suspected", "stuck", "waiting", "stuck", "completed")


def test_work_that_was_stopped_because_it_hung(box: Box) -> None:
    start(box, "--on-stuck", "stop")
    assert box("wait", "job", "--until", "final").code == 4
    all_the_same(box, "working", "suspected", "stuck", "stuck", "stuck")


def test_work_whose_time_was_up(box: Box) -> None:
    start(box, "--timeout", "300ms")
    assert box("wait", "job").code == 5
    all_the_same(box, "working", "timeout", "timeout")


def test_work_that_was_tried_again(box: Box) -> None:
    start(box, "--retries", "2", "--backoff", "100ms", command=("false",))
    assert box("wait", "job").code == 1
    all_the_same(box, *["working", "failed", "starting"] * 2, "working", "failed")


def test_work_that_cannot_be_started_is_not_tried_again(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "2", "--", "/nowhere/at/all")
    assert box("wait", "job").code == 1
    all_the_same(box, "working", "failed", "failed")


def test_work_that_was_stopped_by_a_person(box: Box) -> None:
    start(box, command=("sleep", "299"))
    assert box("stop", "job").code == 0
    found = rows(box("replay", "job", "--json"))
    assert (states(found)[0], states(found)[-1]) == ("working", "stopped")
    assert {row["same"] for row in found} == {True}


def test_work_whose_shim_was_killed(box: Box) -> None:
    start(box)
    until_event(box, "stuck")
    shim = box.pids("job")[0]
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    all_the_same(box, "working", "suspected", "stuck")


def test_work_that_runs_is_replayed_as_far_as_it_is(box: Box) -> None:
    start(box)
    until_event(box, "stuck")
    all_the_same(box, "working", "suspected", "stuck")
    assert box("wait", "job", "--timeout", "0").code == 4


def test_a_spool_is_a_file_like_any_other(box: Box) -> None:
    start(box, "--timeout", "300ms")
    until_event(box, "ended")
    spool = next(box.dir.glob("spool/job.*.jsonl"))
    assert states(rows(box("replay", str(spool), "--json"))) == ["working", "timeout", "timeout"]


# Another policy -----------------------------------------------------------------------------------------------------


def test_a_stricter_policy_would_have_stopped_it(box: Box, gate: Gate) -> None:
    start(box, command=("sh", "-c", f"read -r line < {gate.path}"))
    until_event(box, "stuck")
    gate.say()
    assert box("wait", "job", "--until", "final").code == 0
    done = box("replay", "job", "--on-stuck", "stop")
    assert done.code == 0
    assert "≠  stuck → stopped (stuck): no output, CPU, I/O or beat for " in done.out
    assert "would have been stopped as stuck at " in done.out
    assert "; in truth it completed at " in done.out
    assert "with --on-stuck stop: 2 the same, 1 would be otherwise" in done.out


def test_a_more_patient_policy_would_have_let_it_go_on(box: Box) -> None:
    start(box, "--on-stuck", "stop")
    assert box("wait", "job", "--until", "final").code == 4
    found = rows(box("replay", "job", "--policy", "patient", "--json"))
    assert states(found) == ["working"] * 4
    assert [row["same"] for row in found] == [True, False, False, False]
    assert found[-1]["note"] == "it would have gone on; how it would have ended, nobody knows"
    assert found[-1]["given"] == {"state": "stuck", "exit_code": None, "signal": 15, "stop": True}


def test_a_threshold_below_what_was_noted_is_said_to_be_uncertain(box: Box) -> None:
    start(box, "--timeout", "400ms")
    assert box("wait", "job").code == 5
    done = box("replay", "job", "--stale", "50ms")
    assert done.code == 0
    assert "silences of up to 0.2s were not noted" in done.err


def test_the_environment_has_no_say(box: Box) -> None:
    start(box, "--timeout", "300ms")
    assert box("wait", "job").code == 5
    done = box("replay", "job", MIDWATCH_STALE="1ms", MIDWATCH_POLICY="strict")
    assert "3 verdicts, all as they were given" in done.out
