"""Work that ends after its shim was killed: one end, the same for every reader, and none that nobody saw."""

from __future__ import annotations

import os
import signal
import time

import pytest

from midwatch.system import exit_status, procfs
from tests.conftest import Box, alive, kill, letter, reap, until, until_gone
from tests.integration.wait.watching import Gate, finish, listed, silent_for, start_gated, waiter

EXIT = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
"""The system call that ends one thread, not the process."""
ENDS = {
    "exit 0": ("completed", 0, None, "SUCCESS\n"),
    "exit 3": ("failed", 3, None, "FAILED\n"),
    "kill -KILL $$": ("crashed", None, signal.SIGKILL, "FAILED\n"),
}


def lose_shim(box: Box, name: str = "job") -> int:
    """Kill a job's shim; returns the pid of the work, which goes on."""
    shim, work = box.pids(name)
    kill(shim, signal.SIGKILL)
    reap(shim)
    return work


def noted_alone(box: Box) -> None:
    box.until_file("job.seen", lambda text: '"outlived": true' in text)


def told(box: Box) -> set[tuple[str, bool, str, int | None]]:
    """What every face says: state, whether that is final, cause and exit code."""
    faces = [box("wait", "job", "--json").json, box("why", "job", "--json").json, listed(box)["job"]]
    return {(each["state"], each["final"], each["cause"], each["exit_code"]) for each in faces}


@pytest.mark.usefixtures("heir")
@pytest.mark.parametrize("script", ENDS)
def test_a_wait_learns_the_exit_status_of_work_that_nobody_has_reaped(box: Box, gate: Gate, script: str) -> None:
    state, code, number, status = ENDS[script]
    start_gated(box, gate, "job", script)
    work = lose_shim(box)
    with waiter(box, "job") as process:
        noted_alone(box)
        gate.say()
        done = finish(process)
    assert (done.json["state"], done.json["exit_code"], done.json["signal"]) == (state, code, number)
    assert done.json["final"]
    reap(work)
    assert told(box) == {(state, True, done.json["cause"], code)}, "said once, it stays so"
    assert box.path("job.status").read_text() == status
    assert box.record("job")["end"]["unsupervised"]


def keeps_status() -> bool:
    """Whether this kernel tells the exit status of a process that was reaped (Linux 6.15)."""
    pid = os.posix_spawn("/bin/true", ["true"], {})
    held = exit_status.HeldProcess(pid, procfs.start_time(pid))
    os.waitpid(pid, 0)
    return held.status() == 0


@pytest.mark.usefixtures("heir")
@pytest.mark.parametrize("alone", [True, False], ids=["shim gone before", "shim gone with it"])
def test_a_wait_learns_the_exit_status_of_work_that_was_reaped_at_once(box: Box, gate: Gate, *, alone: bool) -> None:
    if not keeps_status():
        pytest.skip("this kernel keeps no exit status with a pidfd (Linux 6.15 does)")
    start_gated(box, gate, "job", "exit 0")
    with waiter(box, "job") as process:
        assert silent_for(process, 0.5)
        if alone:
            work = lose_shim(box)
            noted_alone(box)
            os.kill(process.pid, signal.SIGSTOP)
        else:
            os.kill(process.pid, signal.SIGSTOP)
            work = lose_shim(box)
        gate.say()
        reap(work)
        os.kill(process.pid, signal.SIGCONT)
        done = finish(process)
    assert (done.code, done.json["state"], done.json["exit_code"]) == (0, "completed", 0)
    assert told(box) == {("completed", True, "exit", 0)}


@pytest.mark.usefixtures("heir")
def test_an_end_that_nobody_saw_is_unknown_and_final(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    work = lose_shim(box)
    with waiter(box, "job"):
        noted_alone(box)
    gate.say()
    reap(work)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["next"]) == (12, "investigate")
    assert told(box) == {("unknown", True, "exit-unseen", None)}


@pytest.mark.usefixtures("heir")
def test_work_that_wrote_long_after_its_shim_beat_last_is_not_called_crashed(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "echo late; exit 0")
    work = lose_shim(box)
    gate.say()
    reap(work)
    assert told(box) == {("crashed", True, "no-status", None)}, "gone together, as far as anybody can tell"
    beat = box.path("job.heartbeat").stat().st_mtime
    os.utime(box.path("job.log"), (beat + 60, beat + 60))
    assert told(box) == {("unknown", True, "exit-unseen", None)}


@pytest.mark.usefixtures("heir")
def test_a_dead_process_that_nobody_has_reaped_is_not_shown_as_working(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    work = lose_shim(box)
    gate.say()
    until(lambda: letter(work) == "Z")
    before = told(box)
    reap(work)
    assert before == told(box) == {("completed", True, "exit", 0)}


def test_a_process_goes_on_while_one_of_its_threads_does(box: Box) -> None:
    """The kernel shows a process as a zombie when its first thread has ended, though others go on."""
    program = f"import ctypes, threading\nthreading.Thread(target=input).start()\nctypes.CDLL(None).syscall({EXIT}, 0)"
    os.mkfifo(box.cwd / "gate")
    line = f"exec {box.program[0]} -c '{program}' < {box.cwd}/gate"
    assert box("run", "-d", "--name", "job", "--", "sh", "-c", line).code == 0
    fd = os.open(box.cwd / "gate", os.O_WRONLY)
    shim, work = box.pids("job")
    until(lambda: letter(work) == "Z")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    assert (listed(box)["job"]["state"], listed(box)["job"]["final"]) == ("working", False)
    os.close(fd)
    until_gone(work)
    assert listed(box)["job"]["final"]


# A stop that has begun ------------------------------------------------------------------------------------------------

STUBBORN = "(trap '' TERM; echo $$; exec sleep 300) & echo $! > child; wait"


def stubborn(box: Box) -> tuple[int, int]:
    """A job without its shim, whose child does not hear TERM: pids of work and child."""
    assert box("run", "-d", "--name", "job", "--", "sh", "-c", STUBBORN).code == 0
    child = (box.cwd / "child").read_text
    until(lambda: (box.cwd / "child").exists() and bool(child().strip()))
    until(lambda: procfs.command_name(int(child())) == "sleep")
    shim, work = box.pids("job")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    return work, int(child())


def test_while_a_stop_lasts_nobody_calls_the_job_crashed(box: Box) -> None:
    work, child = stubborn(box)
    with waiter(box, "job") as process, box.start("stop", "job", "--json") as stop:
        until(lambda: not alive(work))
        said = listed(box)["job"]
        assert (said["state"], said["final"], said["cause"]) == ("working", False, "ending")
        assert silent_for(process, 0.3)
        lasted = time.monotonic() - box.record("job")["started_mono"]
        kill(child, signal.SIGKILL)
        stopped, waited = finish(stop), finish(process)
    assert stopped.json["elapsed_s"] >= lasted, "it lasts until all of it has ended"
    assert (waited.code, waited.json["state"]) == (10, "stopped")
    assert stopped.json["state"] == "stopped"
    assert told(box) == {("stopped", True, "stop-asked", None)}


def test_a_stop_that_was_killed_halfway_is_the_end_all_the_same(box: Box) -> None:
    work, child = stubborn(box)
    with waiter(box, "job") as process:
        with box.start("stop", "job") as stop:
            until(lambda: not alive(work))
            kill(stop.pid, signal.SIGKILL)
            finish(stop)
        waited = finish(process)
    assert waited.json["state"] == "stopped"
    assert f"({child})" in waited.json["reason"]
    assert {(state, final) for state, final, _, _ in told(box)} == {("stopped", True)}
    assert box("stop", "job").code == 0, "what it left can still be ended"
    assert not alive(child)


def test_a_stop_that_could_not_be_carried_out_is_forgotten(box: Box) -> None:
    assert box("run", "-d", "--name", "job", "--", "sleep", "300").code == 0
    box.path("job.json").write_text(box.path("job.json").read_text().replace('"host": "', '"host": "not-'))
    assert box("stop", "job").code == 12
    assert not box.path("job.ending").exists()


def test_retries_that_a_killed_shim_can_no_longer_make_are_named(box: Box, gate: Gate) -> None:
    script = f"read -r line < {gate.path}; exit 3"
    assert box("run", "-d", "--name", "job", "--retries", "2", "--", "sh", "-c", script).code == 0
    with waiter(box, "job") as process:
        shim, _ = box.pids("job")
        kill(shim, signal.SIGKILL)
        until_gone(shim)
        gate.say()
        waited = finish(process)
    assert waited.json["reason"].endswith("; attempt 1 of 3; its shim is gone, so it is not tried again")
