"""A terminal to test on: with a small shell, or none, between it and `midwatch run`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from typing import Any

from midwatch.system import procfs
from tests.conftest import PATIENCE, Box, alive

SHELL = """
import contextlib, fcntl, os, signal, sys, termios
said, told, background = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "background"
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if pid == 0:
    os.setpgid(0, 0)
    if not background:
        os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[4], sys.argv[4:])
while True:
    _, status = os.waitpid(pid, os.WUNTRACED)
    with contextlib.suppress(OSError):
        os.tcsetpgrp(0, os.getpid())
    if not os.WIFSTOPPED(status):
        os.write(said, f"ended {os.waitstatus_to_exitcode(status)} {pid}\\n".encode())
        break
    os.write(said, f"stopped {os.WSTOPSIG(status)} {pid}\\n".encode())
    if os.read(told, 2) == b"fg":
        os.tcsetpgrp(0, pid)
    os.killpg(pid, signal.SIGCONT)
"""
"""A shell with job control and one job: tells when that is suspended or ends, and continues it when told to."""
NO_SHELL = "import fcntl, os, sys; fcntl.ioctl(0, 0x540E, 0); os.execvp(sys.argv[1], sys.argv[1:])"
"""Takes the terminal (TIOCSCTTY) and becomes the command, as `ssh -t` or a new window of tmux run one."""
TERM = {"TERM": "xterm", "MIDWATCH_PROGRAM_STATUS": "off"}
"""A terminal that is not asked what it understands, and gets no reports."""
SOON = 4.0
"""Seconds in which a stop must be over: less than it takes until KILL."""
CHILDREN = "setsid sleep 1000 & sleep 1000 &"
"""Children of a shell: one in a session of its own, both deaf to SIGINT as the shell makes them."""


class Terminal:
    """A terminal on which `midwatch run` is started; the test is its screen and its keyboard."""

    def __init__(self, box: Box, *arguments: str, rows: int = 33, columns: int = 101, **how: Any) -> None:
        self.master, slave = pty.openpty()
        os.set_blocking(self.master, False)
        self.path = os.ttyname(slave)
        self.shown = b""
        self.resize(rows, columns)
        self.modes_before = self.modes()
        said, say = os.pipe()
        hear, self.orders = os.pipe()
        self.reports = open(said, encoding="utf-8")  # noqa: SIM115  # closed in close()
        command = [*box.program, *how.get("verb", ("run", "--name", "job")), *arguments]
        if how.get("shell", True):
            where = "background" if how.get("background") else "foreground"
            command = [sys.executable, "-c", SHELL, str(say), str(hear), where, *command]
        else:
            command = [sys.executable, "-c", NO_SHELL, *command]
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=how.get("stdout", slave), stderr=how.get("stderr", slave),
            pass_fds=(say, hear), start_new_session=True, env=box.env | TERM | how.get("env", {}), cwd=box.cwd,
        )  # fmt: skip
        for fd in (slave, say, hear):
            os.close(fd)

    def __repr__(self) -> str:
        return f"a terminal that ends with {self.shown[-2000:]!r}"

    def see(self, pattern: str, within: float = PATIENCE) -> re.Match[bytes]:
        """Look at the screen until something is there."""
        wanted, deadline = re.compile(pattern.encode("latin-1"), re.DOTALL), time.monotonic() + within
        while not (found := wanted.search(self.shown)):
            assert self.observe(deadline - time.monotonic()), f"{pattern!r} is not to be seen in {self.shown!r}"
        return found

    def observe(self, within: float) -> bool:
        """See what is new on the screen. False: nothing came in that time, or nothing will ever come."""
        ready, _, _ = select.select([self.master], [], [], max(0.0, within))
        try:
            more = os.read(self.master, 65536) if ready else b""
        except OSError:  # nobody has the terminal open any more
            more = b""
        self.shown += more
        return bool(more)

    def type(self, keys: bytes) -> None:
        while keys:
            _, ready, _ = select.select([], [self.master], [], PATIENCE)
            assert ready, f"nobody reads what is typed; on the screen: {self.shown!r}"
            keys = keys[os.write(self.master, keys) :]

    def unread(self) -> int:
        """How many keys were typed that nobody has read yet."""
        slave = os.open(self.path, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            return int.from_bytes(fcntl.ioctl(slave, termios.FIONREAD, b"\0" * 4), sys.byteorder)
        finally:
            os.close(slave)

    def unread_keys(self) -> bytes:
        """Read them, as the next program on this terminal does."""
        slave = os.open(self.path, os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            return os.read(slave, 4096)
        except BlockingIOError:
            return b""
        finally:
            os.close(slave)

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.master)

    def report(self, within: float = PATIENCE) -> tuple[str, int, int]:
        """What the shell says next of its job: stopped or ended, by what, its pid. The screen is seen meanwhile."""
        deadline, said = time.monotonic() + within, self.reports.fileno()
        watched = [said, self.master]
        while True:
            ready, _, _ = select.select(watched, [], [], max(0.0, deadline - time.monotonic()))
            assert ready, f"after {within} s it goes on; on the screen: {self.shown!r}"
            if said in ready:
                word, number, pid = self.reports.readline().split()
                while self.observe(0):
                    pass
                return word, int(number), int(pid)
            if not self.observe(0):
                watched = [said]

    def ended(self, within: float = PATIENCE) -> int:
        """Wait for the end of the job: its exit code."""
        word, code, _ = self.report(within)
        assert word == "ended", f"it was {word} by signal {code}; on the screen: {self.shown!r}"
        return code

    def suspended(self) -> int:
        """Wait until the shell sees its job stop: the pid of that."""
        word, code, pid = self.report()
        assert word == "stopped", f"{word} {code}; on the screen: {self.shown!r}"
        return pid

    def go_on(self, where: bytes = b"fg") -> None:
        """Continue it, as `fg` or `bg` do."""
        os.write(self.orders, where)

    def hang_up(self) -> None:
        os.close(self.master)
        self.master = -1

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reports.close()
        os.close(self.orders)
        if self.master >= 0:
            self.hang_up()


Open = Callable[..., Terminal]
Go = Callable[[], None]


def state(box: Box) -> str:
    found: str = box("wait", "job", "--timeout", "0", "--json").json["state"]
    return found


def left(box: Box) -> list[int]:
    """Pids of what lives of the job, wherever it went: found by its environment, not by Midwatch's observers."""
    mark, found = f"MIDWATCH_RUN={box.record('job')['run']}\0", []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if mark in procfs.read_text(f"/proc/{pid}/environ") and alive(int(pid)):
                found.append(int(pid))
    return found


def parent_of(pid: int) -> int:
    return int(procfs.stat_fields(pid)[1])
