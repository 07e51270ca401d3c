"""How a process of others ended: asked of real ones, at each moment at which the kernel may still tell."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator

import pytest

from midwatch.system import exit_status, procfs
from tests.conftest import PATIENCE

NOBODY = 65534
ENDS = {
    "exit 0": ("exit 0", 0),
    "exit 3": ("exit 3", 3 << 8),
    "killed by SIGKILL": ("kill -KILL $$", signal.SIGKILL),
    "killed by SIGSEGV": ("kill -SEGV $$", signal.SIGSEGV),
}
"""How it is told, what a shell does for it, and the wait status that this is (without the bit for a core)."""
CORE = 0x80


class Child:
    """A process that ends when it is told to; nobody has waited for it until ``reap``."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE)
        self.pid = self._process.pid
        self.pidfd = os.pidfd_open(self.pid)
        self.start = procfs.start_time(self.pid)

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert select.select([self.pidfd], [], [], PATIENCE)[0]

    def reap(self) -> None:
        self._process.wait()

    def status(self) -> tuple[int | None, str]:
        found, why = exit_status.read_status(self.pidfd, self.pid, self.start)
        return (None if found is None else found & ~CORE), why


@contextlib.contextmanager
def child(script: str = "exit 3", *command: str) -> Iterator[Child]:
    found = Child([*command] or ["sh", "-c", f"ulimit -c 0; read -r line; {script}"])
    try:
        yield found
    finally:
        found._process.kill()
        found._process.communicate()
        os.close(found.pidfd)


def kernel_keeps() -> bool:
    """Whether this kernel keeps the status of a process that its parent has waited for (Linux 6.15)."""
    with child() as each:
        each.end()
        each.reap()
        return each.status()[0] is not None


keeping = pytest.mark.skipif(not kernel_keeps(), reason="this kernel keeps no status for a pidfd (Linux 6.15 does)")


@pytest.fixture
def old_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that keeps nothing with a pidfd: it does not know the request."""
    monkeypatch.setattr(exit_status, "GET_INFO", exit_status.GET_INFO + 100)


@pytest.mark.parametrize("said", ENDS)
def test_a_zombie_shows_how_it_ended(said: str) -> None:
    end, expected = ENDS[said]
    with child(end) as each:
        each.end()
        assert each.status() == (expected, "")
    assert exit_status.format_status(expected) == said


@pytest.mark.parametrize("said", ENDS)
@pytest.mark.usefixtures("old_kernel")
def test_a_zombie_shows_it_on_an_old_kernel_too(said: str) -> None:
    end, expected = ENDS[said]
    with child(end) as each:
        each.end()
        assert each.status() == (expected, "")


@keeping
@pytest.mark.parametrize("said", ENDS)
def test_what_a_parent_has_taken_the_pidfd_still_tells(said: str) -> None:
    end, expected = ENDS[said]
    with child(end) as each:
        each.end()
        each.reap()
        assert each.status() == (expected, "")


@keeping
def test_a_parent_that_comes_between_the_two_questions_takes_nothing_away(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = exit_status._read_proc_status
    with child() as each:

        def late(pid: int, start: int) -> tuple[int | None, str]:
            each.reap()
            return asked(pid, start)

        monkeypatch.setattr(exit_status, "_read_proc_status", late)
        each.end()
        assert each.status() == (3 << 8, "")


@pytest.mark.usefixtures("old_kernel")
def test_what_a_parent_has_taken_on_an_old_kernel_is_not_known() -> None:
    with child("exit 0") as each:
        each.end()
        each.reap()
        found, why = each.status()
    assert found is None
    assert "its parent has taken it" in why


@pytest.mark.usefixtures("old_kernel")
def test_another_process_that_has_the_pid_by_now_is_not_asked() -> None:
    with child() as each:
        each.end()
        assert exit_status.read_status(each.pidfd, each.pid, each.start + 1)[0] is None


def test_the_status_of_all_threads_counts_though_the_first_left_before() -> None:
    program = (
        "import ctypes, os, sys, threading\n"
        "sys.stdin.read()\n"
        "gate = os.pipe()\n"
        "def last():\n"
        "    os.read(gate[0], 1)\n"
        "    while open(f'/proc/{os.getpid()}/stat').read().rsplit(')')[1].split()[0] != 'Z': pass\n"
        "    os._exit(5)\n"
        "threading.Thread(target=last).start()\n"
        "os.write(gate[1], b'x')\n"
        f"ctypes.CDLL(None).syscall({60 if os.uname().machine == 'x86_64' else 93}, 0)\n"
    )
    with child("", sys.executable, "-c", program) as each:
        each.end()
        assert each.status() == (5 << 8, "")


def test_the_request_names_the_size_of_what_is_exchanged() -> None:
    assert exit_status.INFO.size == exit_status.GET_INFO >> 16 & 0x3FFF == 64
    assert struct.calcsize("=QQ11I") == 60


def test_a_process_that_lives_has_not_ended() -> None:
    with child() as each:
        assert not exit_status.has_ended(each.pidfd)
        each.end()
        assert exit_status.has_ended(each.pidfd)


# Another user's -----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


rooted = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@rooted
def test_a_zero_that_the_kernel_shows_to_strangers_is_not_taken_for_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exit_status, "PATIENCE", 0.05)
    with child("exit 3") as each:
        each.end()
        with as_nobody():
            found, why = each.status()
    assert found is None
    assert "another user's" in why


@rooted
@keeping
def test_a_hidden_status_is_told_once_the_parent_has_taken_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = exit_status._read_proc_status
    hidden: list[int | None] = []
    with child("exit 3") as each:

        def late(pid: int, start: int) -> tuple[int | None, str]:
            found = asked(pid, start)
            hidden.append(found[0])
            each.reap()
            return found

        monkeypatch.setattr(exit_status, "_read_proc_status", late)
        each.end()
        with as_nobody():
            assert each.status() == (3 << 8, "")
    assert hidden == [None]
