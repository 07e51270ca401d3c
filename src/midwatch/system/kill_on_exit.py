"""Programs that must not outlive us, however we end: the kernel kills them, also where we are killed ourselves.

The program inherits the reading end of a pipe, whose only writing end is ours. When that closes, the kernel sends the
signal of the pipe's owner (``fcntl(2)``: F_SETOWN, F_SETSIG), which is SIGKILL for the program or for its whole group.
PR_SET_PDEATHSIG would end with the thread that started the program, spare the program's children, and need a slow fork.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal


class KillOnExit:
    """The pipe, from before the program is started until it has ended."""

    def __init__(self) -> None:
        self.inherited, self._held = os.pipe()
        """``inherited``: what the program must be given."""

    def watch(self, pid: int, *, group: bool) -> None:
        """From now on it dies with us. ``group``: with the processes of its own group."""
        with contextlib.suppress(OSError):  # a kernel that cannot do it
            fcntl.fcntl(self.inherited, fcntl.F_SETSIG, signal.SIGKILL)
            fcntl.fcntl(self.inherited, fcntl.F_SETOWN, -pid if group else pid)
            fcntl.fcntl(self.inherited, fcntl.F_SETFL, os.O_ASYNC)

    def close(self) -> None:
        """What it has left running lives on."""
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.inherited, fcntl.F_SETFL, 0)
        os.close(self.inherited)
        os.close(self._held)
