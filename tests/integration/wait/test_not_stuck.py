"""Silent work that moves, suspended work, a suspended shim and a clock that jumps are not hangs."""

import os
import signal

import pytest

from tests.conftest import Box, alive, until
from tests.integration.wait.watching import (
    LONG_ENOUGH,
    SOON,
    Gate,
    Stopwatch,
    finish,
    listed,
    silent_for,
    start,
    waiter,
)

COMPUTING = "while :; do :; done"
WRITING = "while :; do head -c 300000 /dev/zero > scratch; sleep 0.5; done"


@pytest.mark.parametrize(
    "script",
    [
        f"sh -c \"sh -c '{COMPUTING}'; true\"; true",
        f"(setsid sh -c '{COMPUTING}' &); exec sleep 300",
        "while :; do sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'; sleep 0.3; done",
    ],
    ids=["grandchild", "own-session", "many-short-children"],
)
def test_silent_work_that_computes_is_never_stuck(box: Box, script: str) -> None:
    start(box, "job", "sh", "-c", script, options=SOON)
    done = box("wait", "job", "--timeout", LONG_ENOUGH, "--json")
    assert (done.code, done.json["state"]) == (13, "working")
    assert {line["event"] for line in box.events("job")} <= {"started", "quiet"}


def test_silent_work_that_writes_is_never_stuck(box: Box) -> None:
    start(box, "job", "sh", "-c", f"sh -c '{WRITING}'; true", options=SOON)
    done = box("wait", "job", "--timeout", LONG_ENOUGH, "--json")
    assert (done.code, done.json["state"]) == (13, "working")
    assert {line["event"] for line in box.events("job")} <= {"started", "quiet"}


def test_suspended_work_is_never_stuck(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    os.kill(box.pids("job")[1], signal.SIGSTOP)
    done = box("wait", "job", "--until", "final", "--timeout", LONG_ENOUGH, "--json")
    assert (done.code, done.json["state"]) == (13, "waiting")


def test_the_silence_of_suspended_work_does_not_count_afterwards(box: Box) -> None:
    watch = Stopwatch()
    start(box, "job", "sleep", "300", options=SOON)
    work = box.pids("job")[1]
    os.kill(work, signal.SIGSTOP)
    silent_before = watch.seconds
    assert box("wait", "job", "--until", "final", "--timeout", LONG_ENOUGH, "--json").json["state"] == "waiting"
    os.kill(work, signal.SIGCONT)
    watch = Stopwatch()
    with waiter(box, "job", "--until", "stuck") as process:
        assert finish(process, 10).json["state"] == "stuck"
    assert silent_before + watch.seconds >= 2.0


def test_suspension_and_continuation_are_written_down(box: Box) -> None:
    start(box, "job", "sleep", "300")
    work = box.pids("job")[1]
    os.kill(work, signal.SIGSTOP)
    assert box("wait", "job").code == 8
    os.kill(work, signal.SIGCONT)
    until(lambda: box.events("job")[-1]["event"] == "continued", box.dir)
    assert [line["event"] for line in box.events("job")] == ["started", "suspended", "continued"]
    assert listed(box)["job"]["state"] == "working"


def test_the_timeout_stands_still_while_the_work_is_suspended(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--timeout", "2s"))
    work = box.pids("job")[1]
    os.kill(work, signal.SIGSTOP)
    assert box("wait", "job", "--until", "final", "--timeout", "3s", "--json").json["state"] == "waiting"
    os.kill(work, signal.SIGCONT)
    watch = Stopwatch()
    assert box("wait", "job", "--until", "final").code == 5
    assert watch.seconds >= 1.0


def test_a_suspended_shim_never_leads_to_stuck(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    os.kill(box.pids("job")[0], signal.SIGSTOP)
    done = box("wait", "job", "--timeout", LONG_ENOUGH, "--json")
    assert (done.code, done.json["state"]) == (13, "working")
    assert "its shim is suspended" in done.json["reason"]


def test_time_that_the_shim_was_suspended_does_not_count_as_silence(box: Box) -> None:
    watch = Stopwatch()
    start(box, "job", "sleep", "300", options=SOON)
    shim = box.pids("job")[0]
    os.kill(shim, signal.SIGSTOP)
    silent_before = watch.seconds
    with waiter(box, "job") as process:
        assert silent_for(process, 3.0)
        os.kill(shim, signal.SIGCONT)
        watch = Stopwatch()
        assert finish(process, 12).json["state"] == "stuck"
    pulse = 1.0 / 3  # the shim knows of its suspension only from its next pulse on
    assert silent_before + pulse + watch.seconds >= 2.0


def test_work_that_ends_while_its_shim_is_suspended_is_not_lost(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f"read x < {gate.path}; exit 6")
    shim, work = box.pids("job")
    os.kill(shim, signal.SIGSTOP)
    gate.say()
    until(lambda: not alive(work))
    said = listed(box)["job"]
    assert said["state"] == "working"
    assert "its shim is suspended" in said["reason"]
    os.kill(shim, signal.SIGCONT)
    assert box("wait", "job", "--json").json["exit_code"] == 6


@pytest.mark.parametrize("shift", [-86400.0, 86400.0], ids=["past", "future"])
def test_file_times_falsified_by_a_clock_jump_change_no_verdict(box: Box, shift: float) -> None:
    start(box, "job", "sh", "-c", "echo hello; exec sleep 300", options=("--stale", "60s"))
    for suffix in ("heartbeat", "log", "json", "pid", "seen"):
        path = box.path(f"job.{suffix}")
        moved = path.stat().st_mtime + shift
        os.utime(path, (moved, moved))
    done = box("wait", "job", "--timeout", "1s", "--json")
    assert (done.code, done.json["state"]) == (13, "working")
    assert 0 <= done.json["elapsed_s"] < 60


def test_work_that_moves_while_the_judge_answers_is_not_stopped_by_a_stale_answer(box: Box, gate: Gate) -> None:
    """The judge is held back after it has looked and answered `stop`; meanwhile the work goes on."""
    wait = f"open({str(box.cwd / 'hold')!r}).read()"
    held = f"import atexit, sys\nif '_decide' in sys.orig_argv: atexit.register(lambda: {wait})\n"
    (box.cwd / "sitecustomize.py").write_text(held)
    os.mkfifo(box.cwd / "hold")
    script = f"read -r line < {gate.path}; echo moved; exec sleep 300"
    options = ("--stale", "1s", "--grace", "0", "--heartbeat", "0.1s", "--on-stuck", "stop", "--progress", "output")
    box("run", "-d", "--name", "job", *options, "--", "sh", "-c", script, PYTHONPATH=str(box.cwd))
    hold = os.open(box.cwd / "hold", os.O_WRONLY)  # opens once a judge has come to its end: it has judged silence
    os.close(hold)  # the first answer: suspected
    box.until_file("job.seen", lambda text: '"stale_since": null' not in text)
    hold = os.open(box.cwd / "hold", os.O_WRONLY)  # the second: stuck, stop it
    gate.say()
    box.until_file("job.log", lambda text: "moved" in text)
    os.close(hold)
    box.until_file("job.seen", lambda text: '"helper": 0' in text)
    events = [event["event"] for event in box.events("job")]
    assert "stuck" not in events, events
    assert "stopping" not in events, events
    assert box("ls", "--json").json["state"] == "working"
    box("stop", "job")
