"""Ending work, and saying how it ended. A leaf of the shim."""

from __future__ import annotations

import errno
import os
import time

from midwatch.shim.run_files import ignore_os_errors
from midwatch.system import procfs
from midwatch.system.atomic_files import open_plain, write_atomic

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


TERM_AFTER = 2.0
"""Seconds that work may take to end after Ctrl-C before it is told to (TERM)."""
KILL_AFTER = 5.0
"""Seconds between asking the work to end (TERM) and ending it (KILL)."""
GIVE_UP_AFTER = 20.0
"""Seconds of KILL without effect (uninterruptible sleep) before the rest is reported as left behind."""
STOP_TICK = 0.1
"""How often the tree is looked at while it is being stopped: a newly adopted orphan announces itself to nobody."""
LARGEST = 4096
"""Bytes of what a stop says of itself."""
ASKED_FOR = ("stopped", "stuck")
"""States in which a stop can end a job."""


def requested_end(base: str, run: str) -> tuple[str, str, str]:
    """How the work ends that a signal asks us to stop, by ``<name>.ending`` of this run; else as a plain stop."""
    found = read_stop(base, run)
    return ENDINGS[signal.SIGTERM] if found is None else found[0]


def read_stop(base: str, run: str) -> tuple[tuple[str, str, str], tuple[int, int]] | None:
    """What ``<name>.ending`` says of this run: state, cause and reason; pid and start of the process that ends it.

    The pid is 0 where nobody has begun to.
    """
    try:
        fd = open_plain(base + ".ending")
        try:
            first, _, second = os.read(fd, LARGEST).decode("utf-8", "replace").partition("\n")
        finally:
            os.close(fd)
    except OSError:
        return None
    words, by = first.split("\t", 3), second.split()
    if len(words) != 4 or words[0] != run or words[1] not in ASKED_FOR:  # noqa: PLR2004  # run, state, cause, reason
        return None
    carrier = (int(by[0]), int(by[1])) if len(by) == 2 and all(map(str.isdecimal, by)) else (0, 0)  # noqa: PLR2004
    return (words[1], words[2], words[3]), carrier


def write_stop(base: str, run: str) -> None:
    """Let every reader know that this process ends the run from now on. Raises OSError."""
    state, cause, reason = requested_end(base, run)
    carrier = f"{os.getpid()}\t{procfs.start_time(os.getpid())}"
    write_atomic(base + ".ending", f"{run}\t{state}\t{cause}\t{reason}\n{carrier}\n")


class ShimProcessTree:
    """Everything below a shim. It is our child or becomes it when its parent dies: no pid here is another's."""

    def __init__(self, spare: list[str]) -> None:
        self.told: set[int] = set()
        self.spare = spare
        """In command lines of what others need too."""
        self.spared: list[int] = []

    def pids(self, work: int, helper: int) -> list[int]:
        """All that is ours to end. A job that the work started with `run -d` has a shim of its own and outlives us."""
        found = procfs.descendants(os.getpid(), besides=helper, jobs=False, spare=self.spare)
        if self.spare:
            self.spared = [pid for pid in procfs.descendants(os.getpid()) if procfs.is_shared(pid, self.spare)]
        if work and work not in found:  # it looks like a shim until it has become the command
            found.append(work)
        return found

    def signal(self, number: int, pids: list[int], *, again: bool = False) -> None:
        for pid in pids:
            if again or pid not in self.told:
                ignore_os_errors(os.kill, pid, number)
            if number == signal.SIGTERM:
                self.told.add(pid)


SIGNALLED = 128
"""An agent that ends itself because of a signal exits with this and the number, as shells do."""


def build_end(
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
        "left": [{"command": procfs.command_name(pid), "pid": pid} for pid in left],
    }  # fmt: skip
