"""Hung work is seen and reported; what is done about it is what the job was started with."""

import signal
import sys
from pathlib import Path

import pytest

from tests.conftest import Box, alive, kill, until, until_gone
from tests.integration.wait.watching import (
    LONG_ENOUGH,
    SOON,
    Gate,
    Stopwatch,
    allowed,
    finish,
    listed,
    start,
    states,
    waiter,
    within,
)

BEAT = f"{sys.executable} -m midwatch beat"


def until_stuck(box: Box, *before: str) -> None:
    """Wait until the shim has written down that the job is stuck."""
    box.until_file("job.json", lambda _: states(box, "job")[-1 - len(before) :] == [*before, "stuck"])


def until_moved(box: Box) -> None:
    """Wait until the shim has written down that the job, once stuck, works again."""
    box.until_file("job.json", lambda _: states(box, "job")[-2:] == ["stuck", "working"])


def echoing(gate: Gate) -> tuple[str, ...]:
    """Work that hangs until it is told a line, and then says that line."""
    return ("sh", "-c", f'while read -r line; do echo "$line"; done < {gate.path}')


# Seen ---------------------------------------------------------------------------------------------------------------


def test_hung_work_is_seen_although_the_heartbeat_goes_on(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    heartbeat = box.path("job.heartbeat")
    assert within(box, 10, "wait", "job").code == 4
    before = heartbeat.stat().st_mtime_ns
    until(lambda: heartbeat.stat().st_mtime_ns > before, box.dir)
    assert box("wait", "job", "--timeout", "0").code == 4


def test_a_shell_loop_that_only_sleeps_is_seen_to_hang(box: Box) -> None:
    start(box, "job", "sh", "-c", "while :; do sleep 0.5; done", options=SOON)
    assert within(box, 12, "wait", "job").code == 4


def test_stuck_comes_after_threshold_and_grace_and_not_before(box: Box) -> None:
    watch = Stopwatch()
    start(box, "job", "sleep", "300", options=SOON)
    assert within(box, 10, "wait", "job").code == 4
    assert 2.0 <= watch.seconds < allowed(6.0)


def test_work_that_falls_silent_later_is_seen_to_hang(box: Box, gate: Gate) -> None:
    start(box, "job", *echoing(gate), options=SOON)
    gate.say("a sign of life")
    assert within(box, 12, "wait", "job").code == 4


def test_the_reason_names_what_was_silent_and_the_thresholds(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    reason = box("wait", "job", "--json").json["reason"]
    assert reason.startswith("no output, CPU, I/O or beat for ")
    assert "stale after 1s, grace 1s" in reason


def test_hung_work_without_its_shim_is_seen_too(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    shim, work = box.pids("job")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    done = within(box, 15, "wait", "job", "--json")
    assert (done.code, done.json["state"]) == (4, "stuck")
    assert listed(box)["job"]["state"] == "stuck"
    assert alive(work)


# Said alike by all --------------------------------------------------------------------------------------------------


def test_nobody_says_stuck_before_the_shim_has_written_it_down(box: Box, gate: Gate) -> None:
    """The judge that the shim asks is held at a gate: until it has answered, no face may be ahead of the record."""
    held = f"import sys\nif '_decide' in sys.orig_argv: open({gate.path!r}).readline()\n"
    (box.cwd / "sitecustomize.py").write_text(held)
    box("run", "-d", "--name", "job", *SOON, "--", "sleep", "300", PYTHONPATH=str(box.cwd))
    gate.say()
    until(lambda: box.events("job")[-1]["event"] == "stale", box.dir)
    box.until_file("job.seen", lambda text: '"helper": 0' not in text)
    said = [listed(box)["job"]["state"], box("wait", "job", "--timeout", "0", "--json").json["state"]]
    assert (states(box, "job")[-1], said) == ("working", ["working", "working"])
    gate.say()
    until_stuck(box)
    assert box("wait", "job").code == 4


def test_shim_ls_wait_and_why_say_the_same_of_hung_work(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    until_stuck(box)
    waited = box("wait", "job", "--json").json
    assert waited["state"] == "stuck"
    row, why = listed(box)["job"], box("why", "job", "--json").json
    for said in (row, why):
        assert (said["state"], said["final"], said["next"]) == ("stuck", False, "investigate")
        assert said["reason"].split(" for ")[0] == waited["reason"].split(" for ")[0]


def test_shim_ls_wait_and_why_say_the_same_of_work_that_moves(box: Box) -> None:
    start(box, "job", "sh", "-c", "while :; do echo x; sleep 0.2; done", options=SOON)
    assert box("wait", "job", "--timeout", LONG_ENOUGH, "--json").json["state"] == "working"
    assert states(box, "job")[-1] == "working"
    assert listed(box)["job"]["state"] == box("why", "job", "--json").json["state"] == "working"


def test_before_the_grace_period_is_over_nobody_says_stuck(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--stale", "1s", "--grace", "60s"))
    until(lambda: any(line["event"] == "stale" for line in box.events("job")), box.dir)
    assert states(box, "job")[-1] == "working"
    row, why = listed(box)["job"], box("why", "job", "--json").json
    assert (row["state"], why["state"], why["progress"]) == ("working", "working", "stalled")
    assert "unless it moves" in row["reason"]
    assert box("wait", "job", "--timeout", "0").code == 13


# Left alone, or not -------------------------------------------------------------------------------------------------


def test_stuck_is_reported_and_the_work_left_alone(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["final"]) == (4, False)
    assert not box.path("job.status").exists()
    assert all(map(alive, box.pids("job")))


def test_stuck_work_that_writes_again_is_working_again(box: Box, gate: Gate) -> None:
    start(box, "job", *echoing(gate), options=SOON)
    until_stuck(box)
    with waiter(box, "job", "--until", "working") as process:
        gate.say("back")
        assert finish(process, 10).json["state"] == "working"
    assert listed(box)["job"]["state"] == "working"
    until_moved(box)


def test_stuck_work_that_beats_again_is_working_again(box: Box, gate: Gate) -> None:
    script = f"while read -r line; do {BEAT}; done < {gate.path}"
    start(box, "job", "sh", "-c", script, options=(*SOON, "--progress", "beat"))
    until_stuck(box)
    gate.say()
    box.until_file("drop/job/job.beat")
    assert listed(box)["job"]["state"] == "working"
    until_moved(box)


def test_stuck_work_that_moved_and_hangs_again_is_stuck_again(box: Box, gate: Gate) -> None:
    start(box, "job", *echoing(gate), options=SOON)
    until_stuck(box)
    gate.say("back")
    until_moved(box)
    assert within(box, 12, "wait", "job").code == 4
    until_stuck(box, "stuck", "working")


def test_stop_when_stuck_is_enforced_although_nobody_waits(box: Box) -> None:
    start(box, "job", "sleep", "300", options=(*SOON, "--on-stuck", "stop"))
    shim, work = box.pids("job")
    assert box.until_file("job.status") == "FAILED\n"
    assert box.record("job")["end"]["state"] == "stuck"
    assert not alive(work)
    until_gone(shim)


def test_work_stopped_because_it_hung_is_stuck_for_good(box: Box) -> None:
    start(box, "job", "sleep", "300", options=(*SOON, "--on-stuck", "stop"))
    done = box("wait", "job", "--until", "final", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (4, "stuck", True)
    assert "stopped after" in done.json["reason"]


def test_the_strict_policy_stops_hung_work(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--policy", "strict", *SOON))
    box.until_file("job.status")
    assert box.record("job")["end"]["state"] == "stuck"


def test_the_strict_policy_can_be_told_to_report_only(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--policy", "strict", "--on-stuck", "report", *SOON))
    assert box("wait", "job", "--json").json["final"] is False
    assert alive(box.pids("job")[1])


def test_the_timeout_is_enforced_although_nobody_waits(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--timeout", "500ms"))
    work = box.pids("job")[1]
    assert box.until_file("job.status") == "FAILED\n"
    assert box.record("job")["end"]["state"] == "timeout"
    assert not alive(work)


def test_the_timeout_takes_children_that_went_their_own_way(box: Box) -> None:
    pidfile = box.cwd / "child"
    script = f"(setsid sh -c 'echo $$ > {pidfile}.new; mv {pidfile}.new {pidfile}; exec sleep 300' &); exec sleep 300"
    start(box, "job", "sh", "-c", script, options=("--timeout", "1s"))
    until(pidfile.exists, box.cwd)
    box.until_file("job.status")
    until_gone(int(pidfile.read_text()))


# What counts as progress --------------------------------------------------------------------------------------------


def test_with_progress_beat_output_does_not_count(box: Box) -> None:
    chatter = "while :; do echo still here; sleep 0.2; done"
    start(box, "job", "sh", "-c", chatter, options=(*SOON, "--progress", "beat"))
    done = within(box, 12, "wait", "job", "--json")
    assert done.code == 4
    assert done.json["reason"].startswith("no beat for ")


def test_with_progress_beat_work_that_beats_is_not_stuck(box: Box) -> None:
    script = f"while :; do {BEAT}; sleep 0.4; done"
    start(box, "job", "sh", "-c", script, options=(*SOON, "--progress", "beat"))
    assert box("wait", "job", "--timeout", LONG_ENOUGH).code == 13


def test_with_progress_heartbeat_work_that_touches_the_file_is_not_stuck(box: Box) -> None:
    script = 'while :; do touch "$MIDWATCH_DIR/$MIDWATCH_NAME.heartbeat"; sleep 0.4; done'
    start(box, "job", "sh", "-c", script, options=(*SOON, "--progress", "heartbeat"))
    assert box("wait", "job", "--timeout", LONG_ENOUGH).code == 13


def test_with_progress_heartbeat_the_shim_does_not_touch_the_file(box: Box) -> None:
    script = 'touch "$MIDWATCH_DIR/$MIDWATCH_NAME.heartbeat"; exec sleep 300'
    start(box, "job", "sh", "-c", script, options=(*SOON, "--progress", "heartbeat"))
    done = within(box, 12, "wait", "job", "--json")
    assert done.code == 4
    assert done.json["reason"].startswith("no heartbeat for ")


def test_with_progress_heartbeat_work_that_hangs_before_its_first_touch_is_stuck(box: Box) -> None:
    start(box, "job", "sleep", "300", options=(*SOON, "--progress", "heartbeat"))
    assert within(box, 12, "wait", "job").code == 4


@pytest.mark.parametrize("wrong", [",", "rain", "output,rain"])
def test_a_source_of_progress_that_does_not_exist_is_refused(box: Box, wrong: str) -> None:
    done = box("run", "-d", f"--progress={wrong}", "--", "true")
    assert done.code == 2
    assert "--progress takes output, cpu, io, beat, heartbeat" in done.err


def test_a_module_of_the_callers_directory_does_not_stand_in_the_way_of_the_judge(box: Box) -> None:
    """A project may hold a `json.py` of its own; it is neither imported nor run."""
    (box.cwd / "json.py").write_text("open('imported', 'w')\nraise SystemExit\n")
    box.program = [str(Path(sys.executable).parent / "midwatch")]  # `python -m` would import it by itself
    start(box, "job", "sleep", "300", options=("--stale", "0.5s", "--grace", "0", "--heartbeat", "0.1s"))
    assert box("wait", "job").code == 4
    assert not (box.cwd / "imported").exists()
