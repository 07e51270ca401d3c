"""Whom one can adopt, and what one is told of those whom one cannot."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from midwatch.core.errors import RefusedError
from midwatch.core.policy import PATIENT
from midwatch.jobs import foreign_process
from midwatch.jobs.job_directory import JobDirectory
from midwatch.subjects import adopt as loop
from midwatch.system import procfs
from tests.conftest import Box, alive, until
from tests.integration.adopt.elsewhere import adopt, stranger, switches, until_ended
from tests.integration.foreign.template import dead_pid
from tests.integration.wait.watching import Gate, finish, listed, start, waiter

NOBODY = 65534
rooted = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


# Words --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "what is to be adopted?"),
        (["--pid", "2", "--dir", "/tmp"], "what is to be adopted?"),
        (["--pid", "x"], "--pid is the number of a process"),
        (["--pid", "0"], "--pid is the number of a process"),
        (["--pid", "99999999999999"], "--pid is the number of a process"),
        (["--pid", "-5"], "--pid is the number of a process"),
        (["--pid", "5", "--pid", "6"], "--pid takes one process"),
        (["--pid", "5", "step"], "--pid takes no names of steps"),
        (["--pid", "5", "--policy", "odd"], "--policy is one of"),
        (["--pid", "5", "--on-stuck", "stop"], "add --stop"),
        (["--pid", "5", "--heartbeat", "9m"], "--heartbeat"),
        (["--dir", "/tmp", "../x"], "the name"),
    ],
)
def test_a_call_that_makes_no_sense_is_told_what_would(box: Box, arguments: list[str], says: str) -> None:
    done = box("adopt", *arguments)
    assert (done.code, says in done.err) == (2, True), done


def test_a_name_that_cannot_be_is_refused_before_anything_is_done(box: Box) -> None:
    with stranger("sleep 300") as pid:
        assert box("adopt", "--pid", str(pid), "--name", "../x").code == 2
        assert not list(box.cwd.glob("**/*.json"))


def test_help_shows_how(box: Box) -> None:
    assert "midwatch adopt --pid 4711 --name train" in box("adopt", "--help").out


# Names --------------------------------------------------------------------------------------------------------------


def test_without_a_name_it_is_called_by_program_and_pid(box: Box) -> None:
    with stranger("sleep 300") as pid:
        done = box("adopt", "--pid", str(pid))
        assert done.out == f"sh-{pid}\n"
        again = box("adopt", "--pid", str(pid))
        assert (again.code, f"sh-{pid} is working already" in again.err) == (12, True)


def test_json_says_what_is_true_of_it_now(box: Box) -> None:
    with stranger("sleep 300") as pid:
        done = adopt(box, pid, "--json")
        assert (done.json["name"], done.json["state"], done.json["kind"]) == ("job", "working", "job")


def test_one_process_can_be_watched_under_two_names(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}; exit 3") as pid:
        adopt(box, pid, name="one")
        adopt(box, pid, name="two")
        with waiter(box, "one", "two") as process:
            gate.say()
            assert finish(process).out.count('"exit_code":3') == 2


# Whom one cannot ----------------------------------------------------------------------------------------------------


def refused(box: Box, pid: int) -> str:
    done = box("adopt", "--pid", str(pid))
    assert done.code == 12, done
    assert not list(box.dir.glob("*.json"))
    return done.err


def test_what_is_not_there_is_refused(box: Box) -> None:
    pid = dead_pid()
    assert f"there is no process {pid}" in refused(box, pid)


@pytest.mark.parametrize(("end", "said"), [("exit 3", "exit 3"), ("kill -KILL $$", "killed by SIGKILL")])
def test_what_has_ended_is_refused_with_how_it_ended(box: Box, end: str, said: str) -> None:
    with stranger(end, "forgets") as pid:
        until_ended(pid)
        assert f"process {pid} has ended already ({said})" in refused(box, pid)


def test_process_1_is_refused(box: Box) -> None:
    assert "the machine's own" in refused(box, 1)


def test_a_thread_is_refused_and_its_process_named(box: Box) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        assert f"is a thread of process {os.getpid()}; adopt that" in refused(box, thread.native_id)
    finally:
        done.set()
        thread.join()


def test_a_thread_of_the_kernel_is_refused(box: Box) -> None:
    kernels = [pid for pid in range(2, 200) if procfs.command_name(pid) == "kthreadd"]
    if not kernels:
        pytest.skip("no threads of the kernel can be seen in this pid namespace")
    assert "thread of the kernel" in refused(box, kernels[0])


def test_a_shim_is_refused(box: Box) -> None:
    start(box, "ours", "sleep", "300")
    shim, work = box.pids("ours")
    done = box("adopt", "--pid", str(shim))
    assert (done.code, "is Midwatch itself" in done.err) == (12, True)
    adopt(box, work)
    assert box("stop", "ours").code == 0
    assert box("wait", "job", "--json").json["signal"] == signal.SIGTERM


def test_a_keeper_is_refused(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        done = box("adopt", "--pid", str(box.pids("job")[0]))
        assert (done.code, "is Midwatch itself" in done.err) == (12, True)


def test_a_process_that_ends_while_it_is_looked_at_is_not_taken_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is read by pid after its end may be of another process: its pidfd has the last word."""
    with subprocess.Popen(["sleep", "300"]) as process:
        looked = foreign_process._find_log

        def late(pid: int) -> tuple[str, str]:
            process.kill()
            until_ended(pid)
            return looked(pid)

        monkeypatch.setattr(foreign_process, "_find_log", late)
        with pytest.raises(RefusedError, match="has ended already"):
            foreign_process.hold_process(process.pid)


def test_nothing_stays_open_after_a_refusal() -> None:
    before = len(os.listdir("/proc/self/fd"))
    with subprocess.Popen(["true"]) as process:
        until_ended(process.pid)
        with pytest.raises(RefusedError):
            foreign_process.hold_process(process.pid)
    assert len(os.listdir("/proc/self/fd")) == before


# Whom one can -------------------------------------------------------------------------------------------------------


def test_the_shell_that_calls_can_be_adopted(box: Box) -> None:
    call = f"{' '.join(box.program)} adopt --pid $$ --name me; read -r line; exit 4"
    with subprocess.Popen(["sh", "-c", call], env=box.env, cwd=box.cwd, stdin=subprocess.PIPE, text=True) as shell:
        box.until_file("me.seen")
        with waiter(box, "me") as process:
            assert shell.stdin is not None
            shell.stdin.close()
            assert finish(process).json["exit_code"] == 4


def test_output_that_goes_to_no_file_does_not_count_and_that_is_said(box: Box) -> None:
    with stranger("sleep 300") as pid:
        done = adopt(box, pid)
        assert "its output cannot be seen" in done.err
        assert "its output cannot be seen" in box("why", "job").out
        assert box.record("job")["policy"]["progress"] == ["cpu", "io", "beat"]
        assert "does not go to a file" in box("logs", "job").err


def test_where_nothing_else_was_to_count_it_is_refused(box: Box) -> None:
    with stranger("sleep 300") as pid:
        done = box("adopt", "--pid", str(pid), "--progress", "output")
        assert (done.code, "choose another --progress" in done.err) == (12, True)


def test_its_output_is_the_file_that_it_writes_to(box: Box, gate: Gate) -> None:
    log = box.cwd / "out put.txt"
    with stranger(f'read -r line < {gate.path}; echo "$line"; read -r line < {gate.path}', log=log) as pid:
        adopt(box, pid)
        assert box.record("job")["adopted"]["log"] == str(log)
        with waiter(box, "job", "--match", "ready") as process:
            gate.say("ready")
            done = finish(process)
        assert (done.code, done.json["log"]) == (0, str(log))
        assert box("logs", "job").out == "ready\n"
        following = box.start("logs", "job", "-f")
        gate.say()
        assert finish(following).out == "ready\n"


def test_a_file_that_was_removed_under_it_is_not_taken_for_its_output(box: Box) -> None:
    log = box.cwd / "out"
    with stranger("echo here; sleep 300", log=log) as pid:
        until(lambda: log.read_text() == "here\n", box.cwd)
        log.unlink()
        log.write_text("another's")
        adopt(box, pid)
        assert box.record("job")["adopted"]["log"] == ""


def test_standard_error_counts_where_standard_output_goes_nowhere(box: Box) -> None:
    log = box.cwd / "err"
    with log.open("w") as errors, subprocess.Popen(["sleep", "300"], stdout=subprocess.PIPE, stderr=errors) as process:
        try:
            adopt(box, process.pid)
            assert box.record("job")["adopted"]["log"] == str(log)
        finally:
            process.kill()


@rooted
def test_of_another_users_process_only_that_counts_which_may_be_seen(box: Box) -> None:
    with stranger("sleep 300", log=box.cwd / "out") as pid, as_nobody():
        found = foreign_process.hold_process(pid)
        os.close(found.pidfd)
        assert set(found.blind) == {"output", "io"}
        assert (found.log, found.cwd) == ("", "")


@rooted
def test_leave_to_stop_is_refused_for_what_may_not_be_signalled(box: Box) -> None:
    with stranger("sleep 300") as pid, as_nobody(), pytest.raises(RefusedError, match="adopt it without --stop"):
        loop.adopt_process(JobDirectory(str(box.dir), PATIENT), pid, "job", may_stop=True)


def test_an_idle_keeper_uses_next_to_nothing(box: Box) -> None:
    """It sleeps between its beats: no loop, no timed look."""
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        keeper = box.pids("job")[0]
        until(lambda: procfs.stat_fields(keeper)[0] == "S" and "poll" in wchan(keeper))
        before = switches(keeper)
        assert box("wait", "job", "--timeout", "2s").code == 13
        assert switches(keeper) - before <= 2
        assert alive(keeper)


def wchan(pid: int) -> str:
    """Where a process sleeps; where the kernel does not tell, it is taken to sleep in poll."""
    with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
        return file.read().replace("0", "poll")


def test_closed_streams_of_the_caller_do_no_harm(box: Box) -> None:
    with stranger("sleep 300") as pid:
        call = f"{sys.executable} -m midwatch adopt --pid {pid} --name job <&- >&- 2>&-"
        assert subprocess.run(["sh", "-c", call], env=box.env, cwd=box.cwd, check=False).returncode == 0
        assert listed(box)["job"]["state"] == "working"
