"""A library is a guest in somebody's program: it leaves the program as it was, and stands what the program is like."""

import os
import resource
import signal
import time

import pytest

from midwatch.jobs import wakeups
from tests.conftest import PATIENCE, Box, alive, kill, until_gone
from tests.integration.api.programs import program, said
from tests.integration.wait.watching import Gate, start_gated


def test_nothing_of_the_program_is_changed(box: Box) -> None:
    script = """
        import resource, signal, threading
        def all():
            umask = os.umask(0o22)
            os.umask(umask)
            return (
                [signal.getsignal(number) for number in signal.valid_signals()],
                signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.set_wakeup_fd(-1),
                [resource.getrlimit(number) for number in range(10)], umask,
                dict(os.environ), os.getcwd(), os.getpgrp(), os.getsid(0),
                fds(), children(), threading.active_count(), sys.stdout, sys.stderr,
            )
        midwatch.run(["true"], name="first")   # what is loaded once is loaded now
        midwatch.wait("first")
        before = all()
        for number in range(3):
            midwatch.run(["sh", "-c", "echo loud; echo loud >&2"], name=f"job-{number}", timeout="1m")
        midwatch.wait_all([f"job-{number}" for number in range(3)])
        midwatch.status("job-1")
        midwatch.beat("x", name="job-1", dir=os.environ["MIDWATCH_HOME"])
        after = all()
        for one, other in zip(before, after):
            assert one == other, (one, other)
        print("as it was")
    """
    assert said(program(box, script)) == ["as it was"]


def test_a_shim_is_nobodys_child_and_no_zombie_is_left(box: Box, gate: Gate) -> None:
    script = f"""
        name = midwatch.run(["sh", "-c", "read x < {gate.path}"], name="job").name
        print(children())
        print(read(f"/proc/{{record('job')['shim']['pid']}}/stat").split()[3] != str(os.getpid()))
        fd = os.open("{gate.path}", os.O_RDWR)
        os.write(fd, b"go\\n")
        print(midwatch.wait("job").state, children())
    """
    assert said(program(box, script)) == ["[]", "True", "completed []"]


def test_a_job_outlives_the_program_that_started_it(box: Box, gate: Gate) -> None:
    script = f"""
        midwatch.run(["sh", "-c", "read x < {gate.path}; echo still here"], name="job")
        os.kill(os.getpid(), 9)
    """
    assert program(box, script).code == -signal.SIGKILL
    shim, work = box.pids("job")
    assert alive(shim)
    assert alive(work)
    assert os.getsid(shim) == shim
    gate.say()
    assert box("wait", "job").code == 0
    assert box("logs", "job").out == "still here\n"


def test_standard_streams_that_are_closed_stay_closed_and_take_no_harm(box: Box) -> None:
    script = """
        for fd in (0, 1, 2):
            os.close(fd)
        midwatch.run(["sh", "-c", "cat; echo out; echo err >&2"], name="job")
        state = midwatch.wait("job").state
        still = []
        for fd in (0, 1, 2):
            try:
                os.fstat(fd)
                still.append(fd)
            except OSError:
                pass
        with open("told", "w") as file:
            file.write(f"{state} {still}")
        os._exit(0)
    """
    assert program(box, script).code == 0
    assert (box.cwd / "told").read_text() == "completed []"
    assert box("logs", "job").out == "out\nerr\n"


def test_no_python_of_the_program_runs_between_fork_and_exec(box: Box) -> None:
    """Another thread may have held any lock at the fork; whatever the child did with it would never end."""
    script = """
        import threading
        held = threading.Lock()
        os.register_at_fork(before=lambda: print("forked"), after_in_child=held.acquire)
        held.acquire()
        midwatch.run(["true"], name="job")
        print(midwatch.wait("job").state)
    """
    assert said(program(box, script)) == ["completed"]


def test_many_threads_run_wait_and_speak_at_once(box: Box) -> None:
    script = """
        import threading
        from concurrent.futures import ThreadPoolExecutor
        home = os.environ["MIDWATCH_HOME"]
        midwatch.run(["true"], name="first")
        midwatch.wait("first")
        midwatch.run(["sleep", "600"], name="heard")
        before = fds()
        def one(number):
            name = f"job-{number}"
            midwatch.run(["sh", "-c", f"exit {number}"], name=name)
            for _ in range(20):
                midwatch.beat(f"from {number}", progress=number / 100, name="heard", dir=home)
            return midwatch.wait(name).exit_code
        with ThreadPoolExecutor(12) as pool:
            assert list(pool.map(one, range(36))) == list(range(36))
        beat = midwatch.status("heard").beat
        assert beat.note.raw == f"from {round(beat.progress * 100)}", beat
        assert fds() == before
        assert children() == [], children()
        print([name for name in os.listdir(home) if name.startswith(".")])
    """
    assert said(program(box, script)) == ["[]"]


def test_one_of_many_threads_gets_a_name_and_the_others_are_refused(box: Box, gate: Gate) -> None:
    script = f"""
        from concurrent.futures import ThreadPoolExecutor
        def one(_):
            try:
                return midwatch.run(["sh", "-c", "read x < {gate.path}"], name="job").state
            except midwatch.RefusedError:
                return "refused"
        with ThreadPoolExecutor(8) as pool:
            print(sorted(pool.map(one, range(8))))
        print(children())
    """
    assert said(program(box, script)) == [str(["refused"] * 7 + ["working"]), "[]"]


def test_a_refused_start_leaves_nothing_open(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "true")
    script = """
        midwatch.status("job")
        before = fds()
        for _ in range(5):
            try:
                midwatch.run(["true"], name="job")
            except midwatch.RefusedError:
                print("refused")
        assert fds() == before, (before, fds())
    """
    assert said(program(box, script)) == ["refused"] * 5


def test_a_program_that_ignores_the_end_of_its_children_can_start_jobs(box: Box) -> None:
    script = """
        import signal
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        midwatch.run(["true"], name="job")
        print(midwatch.wait("job").state)
    """
    assert said(program(box, script)) == ["completed"]


def test_a_wait_can_be_interrupted(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "true")
    script = """
        import signal
        midwatch.status("job")
        before = fds()
        signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            midwatch.wait("job")
        except KeyboardInterrupt:
            print("interrupted", fds() == before)
    """
    assert said(program(box, script)) == ["interrupted True"]


def test_few_files_may_be_open_so_most_of_them_are_left_to_the_program(
    box: Box, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that gets no descriptor of its own is visited instead; its end is told all the same."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    monkeypatch.setattr(wakeups, "GUEST_SHARE", 2 / limit[0])
    names = [f"job-{number}" for number in range(4)]
    watch = wakeups.JobWakeups(str(box.dir), set(names), guest=True)
    try:
        for name in names:
            start_gated(box, gate, name, "true")
            assert watch.watch_process(name, box.pids(name)[0])
        assert list(watch._pidfds) == names[:2]
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == limit
        while watch.take():
            pass  # the files of jobs that began
        for pid in box.pids("job-3"):
            kill(pid, signal.SIGKILL)
            until_gone(pid)
        deadline, touched = time.monotonic() + PATIENCE, set[str]()
        while not touched and time.monotonic() < deadline:
            touched = watch.sleep(deadline)
        assert touched == {"job-3"}
        watch.forget("job-2")
        assert watch.due == float("inf")
    finally:
        watch.close()
