"""Ending work, and saying how it ended. A leaf of the shim."""

from __future__ import annotations

import errno
import os
import time

from dogwatch import proc
from dogwatch.lean import open_plain
from dogwatch.noting import quietly

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # `signal` itself builds enums at import: a third of the shim's start

ENDINGS: dict[int, tuple[str, str, str]] = {
    signal.SIGTERM: ("stopped", "stop-asked", "stop was asked for"),
    signal.SIGINT: ("stopped", "interrupt", "interrupted (Ctrl-C)"),
    signal.SIGHUP: ("stopped", "hangup", "its terminal went away"),
    signal.SIGQUIT: ("stopped", "quit", "quit was asked for"),
}
"""Signals that ask a shim to stop its work: state, cause and reason of such an end."""


LARGEST = 4096
"""Bytes of what a stop says of itself."""


def asked(base: str, run: str) -> tuple[str, str, str]:
    """How the work ends that a signal asks us to stop, by ``<name>.ending`` of this run; else as a plain stop."""
    try:
        fd = open_plain(base + ".ending")
        try:
            words = os.read(fd, LARGEST).decode("utf-8", "replace").rstrip("\n").split("\t", 3)
        finally:
            os.close(fd)
    except OSError:
        words = []
    if len(words) == 4 and words[0] == run and words[1] == "stuck":  # noqa: PLR2004  # run, state, cause, reason
        return words[1], words[2], words[3]
    return ENDINGS[signal.SIGTERM]


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


SIGNALLED = 128
"""An agent that ends itself because of a signal exits with this and the number, as shells do."""


def how_it_ended(
    status: int | None, cannot_start: int, stopping: tuple[str, str, str] | None, elapsed: float, left: list[int],
    *, agent: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The end of an attempt, as the record holds it. ``stopping``: state, cause and reason for which we ended it.

    ``agent``: it is one in a pane. Whoever ends that by Ctrl-C means it, and many agents die of the second one.
    """
    state, cause, reason = stopping or ("", "", "")
    code = number = None
    if status is not None:
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if agent and not stopping:
        asked = number if number != signal.SIGTERM else None
        state, cause, reason = ENDINGS.get(asked or (code or 0) - SIGNALLED, ("", "", ""))
    if cannot_start:
        code = 127 if cannot_start == errno.ENOENT else 126
        cause, reason = "not-started", f"could not be started: {os.strerror(cannot_start)}"
    return {
        "state": state or ("crashed" if number else "failed" if code else "completed"),
        "exit_code": code, "signal": number, "cause": cause or ("signal" if number else "exit"), "reason": reason,
        "at": time.time(), "elapsed_s": round(elapsed, 3),
        "left": [{"command": proc.command_name(pid), "pid": pid} for pid in left],
    }  # fmt: skip
