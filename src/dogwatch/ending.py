"""Ending work, and saying how it ended. A leaf of the shim."""

from __future__ import annotations

import errno
import os
import time

from dogwatch import proc
from dogwatch.noting import quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # `signal` itself builds enums at import: a third of the shim's start

ENDINGS: dict[int, str] = {
    signal.SIGTERM: "stop was asked for",
    signal.SIGINT: "interrupted (Ctrl-C)",
    signal.SIGHUP: "its terminal went away",
    signal.SIGQUIT: "quit was asked for",
}
"""Signals that ask a shim to stop its work."""


class Tree:
    """Everything below a shim. It is our child or becomes it when its parent dies: no pid here is another's."""

    def __init__(self, spare: list[str]) -> None:
        self.told: set[int] = set()
        self.spare = spare
        """In command lines of what others need too."""
        self.spared: list[int] = []

    def pids(self, work: int, helper: int) -> list[int]:
        """All that is ours to end. A job that the work started with `run -d` has a shim of its own and outlives us."""
        found = proc.descendants(os.getpid(), besides=helper, jobs=False, spare=self.spare)
        if self.spare:
            self.spared = [pid for pid in proc.descendants(os.getpid()) if proc.is_shared(pid, self.spare)]
        if work and work not in found:  # it looks like a shim until it has become the command
            found.append(work)
        return found

    def signal(self, number: int, pids: list[int], *, again: bool = False) -> None:
        for pid in pids:
            if again or pid not in self.told:
                quietly(os.kill, pid, number)
            if number == signal.SIGTERM:
                self.told.add(pid)


def how_it_ended(
    status: int | None, cannot_start: int, stopping: tuple[str, str] | None, elapsed: float, left: list[int]
) -> dict[str, Any]:
    """The end of an attempt, as the record holds it. ``stopping``: the state and reason for which we ended it."""
    state, reason = stopping or ("", "")
    code = number = None
    if status is not None:
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if cannot_start:
        code = 127 if cannot_start == errno.ENOENT else 126
        reason = f"could not be started: {os.strerror(cannot_start)}"
    return {
        "state": state or ("crashed" if number else "failed" if code else "completed"),
        "exit_code": code, "signal": number, "reason": reason, "at": time.time(), "elapsed_s": round(elapsed, 3),
        "left": [{"command": proc.command_name(pid), "pid": pid} for pid in left],
    }  # fmt: skip
