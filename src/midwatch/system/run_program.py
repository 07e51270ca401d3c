"""A program run for its answer: in a group of its own, for so long and no longer, and gone when nobody waits for it.

It has no terminal and nothing to read. What it leaves running when it ends by itself is not touched.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time

from midwatch.core.foreign_text import ForeignText
from midwatch.core.program_result import ProgramResult
from midwatch.system import processes
from midwatch.system.child_environment import without_secrets

KEPT = 1 << 14
"""Bytes of its output that are kept, from the end."""
MOST = 8
"""Pieces read at a time: all that a pipe holds, though not all that others may go on writing into it."""
MERCY = 1.0
"""Seconds between asking a group to end and ending it."""
BLIND = 0.05
"""Seconds between looks where the kernel does not tell of an end."""


def run(command: list[str], cwd: str, limit: float, cancel: int) -> ProgramResult:
    """Run a program to its end, its time's end, or the end of the pipe ``cancel``. Raises OSError if it cannot be."""
    process = subprocess.Popen(
        command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True, bufsize=0, env=without_secrets(os.environ),
    )  # fmt: skip
    assert process.stdout is not None
    out = process.stdout.fileno()
    pidfd = processes.watch_exit(process.pid)
    try:
        text, ended = _listen(process.pid, out, pidfd, time.monotonic() + limit, cancel)
        if not ended:
            _end(process.pid, pidfd)
        try:
            code = process.wait(MERCY)
        except subprocess.TimeoutExpired:  # it hangs in the kernel; it ends when it comes back
            code = -signal.SIGKILL
        return ProgramResult(code, late=not ended, text=ForeignText(text.decode("utf-8", "replace")))
    finally:
        process.stdout.close()
        if pidfd is not None:
            os.close(pidfd)


def _listen(pid: int, out: int, pidfd: int | None, deadline: float, cancel: int) -> tuple[bytes, bool]:
    """What it prints until it ends, and whether it did. Children that keep the pipe open are not waited for."""
    os.set_blocking(out, False)
    poll = select.poll()
    for fd in (out, cancel, *([] if pidfd is None else [pidfd])):
        poll.register(fd, select.POLLIN)
    text = b""
    while True:
        left = deadline - time.monotonic()
        ready = {fd for fd, _ in poll.poll(max(0.0, left if pidfd is not None else min(left, BLIND)) * 1000)}
        ended = pidfd in ready if pidfd is not None else _has_ended(pid)
        for _ in range(MOST):
            data = _read(out)
            if data == b"":
                poll.unregister(out)
                out = -1
            if not data:
                break
            text = (text + data)[-KEPT:]
        if ended or cancel in ready or time.monotonic() >= deadline:
            return text, ended


def _read(fd: int) -> bytes | None:
    """What is there now: empty at the end, None when there may be more later."""
    try:
        return os.read(fd, KEPT) if fd >= 0 else None
    except BlockingIOError:
        return None


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(pid: int, pidfd: int | None) -> None:
    """End a group whose leader is not waited for yet, so that its number cannot be another's."""
    _signal(pid, signal.SIGTERM)
    _signal(pid, signal.SIGCONT)
    if pidfd is not None:
        select.select([pidfd], [], [], MERCY)
    _signal(pid, signal.SIGKILL)


def _signal(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass
