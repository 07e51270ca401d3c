"""Every known defect of the shell wrapper that Midwatch replaces (agentic-process-monitor), by name, and right here."""

import os
import select
import signal
import sys
import time

from midwatch.system import inotify, processes, procfs
from tests.conftest import PATIENCE, Box, alive, kill, until, until_gone
from tests.integration.foreign.template import dead_pid, sleeper, wrapped
from tests.integration.wait.watching import (
    SOON,
    SOON_BY_ENV,
    Gate,
    Stopwatch,
    allowed,
    finish,
    recycle,
    start,
    start_gated,
    waiter,
    within,
)

# The heartbeat is a separate loop, so a hung command keeps it fresh and "hung" can never be said --------------------


def test_hung_work_is_called_stuck_while_its_heartbeat_is_fresh(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    assert within(box, 10, "wait", "job").code == 4
    assert time.time() - box.path("job.heartbeat").stat().st_mtime < 1.0


def test_hung_work_under_the_original_wrapper_is_called_stuck_while_its_heartbeat_is_fresh(box: Box) -> None:
    with wrapped(box, "step", "sleep 300"):
        box.until_file("step.heartbeat")
        assert within(box, 15, "wait", "step", **SOON_BY_ENV).code == 4
        assert time.time() - box.path("step.heartbeat").stat().st_mtime < 10.5


# A killed wrapper leaves its toucher behind, which keeps the heartbeat fresh for ever without a status --------------


def test_a_killed_shim_leaves_nobody_to_touch_the_heartbeat(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--heartbeat", "100ms"))
    shim, work = box.pids("job")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    assert processes.find_run_processes(box.record("job")["run"]) == [work]


def test_a_killed_shim_and_work_are_crashed_at_once(box: Box) -> None:
    start(box, "job", "sleep", "300")
    with waiter(box, "job") as process:
        watch = Stopwatch()
        for pid in box.pids("job"):
            kill(pid, signal.SIGKILL)
        assert finish(process, 5).code == 3
        assert watch.seconds < allowed(1.5)


def test_a_killed_wrapper_is_crashed_although_its_toucher_goes_on(box: Box) -> None:
    with wrapped(box, "step", "sleep 300") as pid:
        until(lambda: len(procfs.descendants(pid)) >= 3)
        orphans = procfs.descendants(pid)
        os.kill(pid, signal.SIGKILL)
        until_gone(pid)
        assert within(box, 5, "wait", "step").code == 3
        assert any(map(alive, orphans))


# The pid file names the wrapper; killing it leaves the command running and writes no status -------------------------


def test_killing_the_pid_of_the_pid_file_ends_the_whole_tree_and_leaves_a_status(box: Box) -> None:
    start(box, "job", "sh", "-c", "(setsid sleep 300 &); sleep 300; true")
    run = box.record("job")["run"]
    until(lambda: len(processes.find_run_processes(run)) >= 3)
    found = processes.find_run_processes(run)
    os.kill(int(box.path("job.pid").read_text()), signal.SIGTERM)
    assert box.until_file("job.status") == "FAILED\n"
    assert [pid for pid in found if alive(pid)] == []
    assert box("wait", "job").code == 10


# The status is written before the result, and neither at once -------------------------------------------------------


def written(box: Box, gate: Gate) -> list[tuple[str, bool]]:
    """Names that appear in the directory while a job ends, and whether each came by rename (so, whole)."""
    beat = f"echo '[1]' | {sys.executable} -m midwatch beat --result -"
    start_gated(box, gate, "job", beat)
    events, found, deadline = inotify.FileEvents(), [], time.monotonic() + PATIENCE
    try:
        events.add(str(box.dir), inotify.NAMES)
        gate.say()
        while ("job.status", True) not in found and time.monotonic() < deadline:
            select.select([events], [], [], 0.5)
            seen = [(name, mask) for _, mask, name in events.read() if mask & (inotify.MOVED_TO | inotify.CREATE)]
            found += [(name, bool(mask & inotify.MOVED_TO)) for name, mask in seen if not name.startswith(".")]
    finally:
        events.close()
    return found


def test_the_result_is_there_before_the_record_of_the_end_and_the_status_comes_last(box: Box, gate: Gate) -> None:
    names = [name for name, _ in written(box, gate) if name in ("job.result", "job.json", "job.status")]
    assert names == ["job.result", "job.json", "job.status"]


def test_every_file_appears_whole(box: Box, gate: Gate) -> None:
    assert [name for name, whole in written(box, gate) if not whole] == []


def test_success_of_the_original_wrapper_is_never_told_without_its_result(box: Box) -> None:
    for number in range(5):
        with waiter(box, f"step-{number}", "--start", "20s") as process, wrapped(box, f"step-{number}", "true"):
            assert finish(process, 10).json["result"] == {"key": "value"}


# An old status is not removed, and completes the next run at once ---------------------------------------------------


def test_an_old_status_does_not_complete_a_new_run(box: Box, gate: Gate) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    start_gated(box, gate, "job", "exit 3")
    assert box("wait", "job", "--timeout", "200ms").code == 13
    gate.say()
    assert box("wait", "job", "--json").json["exit_code"] == 3


# No look at the process: the dead are called hung after a minute, or never before the timeout -----------------------


def test_death_is_told_at_once_and_not_called_hung(box: Box) -> None:
    start(box, "job", "sleep", "300")
    with waiter(box, "job") as process:
        watch = Stopwatch()
        kill(box.pids("job")[1], signal.SIGKILL)
        done = finish(process, 5)
        assert watch.seconds < allowed(1.5)
    assert (done.json["state"], done.json["signal"]) == ("crashed", 9)


def test_death_before_the_first_heartbeat_is_told_at_once(box: Box) -> None:
    box.dir.mkdir()
    box.path("step.pid").write_text(f"{dead_pid()}\n")
    watch = Stopwatch()
    assert box("wait", "step").code == 3
    assert watch.seconds < allowed(1.5)


def test_death_of_the_original_wrapper_is_told_at_once(box: Box) -> None:
    with wrapped(box, "step", "sleep 300") as pid, waiter(box, "step") as process:
        watch = Stopwatch()
        os.kill(pid, signal.SIGKILL)
        assert finish(process, 5).json["state"] == "crashed"
        assert watch.seconds < allowed(1.5)


# A pid is trusted although another process may have it by now -------------------------------------------------------


def test_a_pid_that_another_process_has_by_now_is_neither_alive_nor_signalled(box: Box) -> None:
    start(box, "job", "sleep", "300")
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    with sleeper() as pid:
        recycle(box, "job", "shim", pid)
        assert box("wait", "job").code == 3
        assert box("stop", "job").code == 0
        assert alive(pid)


def test_a_pid_file_older_than_its_process_is_not_believed(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    with sleeper() as pid:
        box.path("step.pid").write_text(f"{pid}\n")
        os.utime(box.path("step.pid"), (time.time() - 3600, time.time() - 3600))
        assert box("wait", "step").code == 3
        assert box("stop", "step").code == 0
        assert alive(pid)


# Exit code, standard output and signal are not recorded -------------------------------------------------------------


def test_the_exit_code_is_recorded(box: Box) -> None:
    start(box, "job", "sh", "-c", "exit 42")
    assert box("wait", "job", "--json").json["exit_code"] == 42
    assert box.record("job")["end"]["exit_code"] == 42


def test_standard_output_is_recorded_with_standard_error(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo out; echo err >&2")
    assert box("wait", "job").code == 0
    assert box.path("job.log").read_text() == "out\nerr\n"


def test_the_signal_is_recorded(box: Box) -> None:
    start(box, "job", "sh", "-c", "kill -ABRT $$")
    found = box("wait", "job", "--json").json
    assert (found["signal"], found["exit_code"]) == (6, None)
    assert "SIGABRT" in found["reason"]
    assert box.record("job")["end"]["signal"] == 6


# Whoever captures the output gets it when the work ends, not when the toucher's sleep does --------------------------


def test_the_caller_of_a_captured_run_is_not_held_up_by_a_heartbeat(box: Box) -> None:
    watch = Stopwatch()
    done = box("run", "--name", "job", "--", "echo", "hello")
    assert (done.code, done.out) == (0, "hello\n")
    assert watch.seconds < allowed(2.0)
