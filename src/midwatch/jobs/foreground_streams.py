"""What work in the foreground gets for its input and output, and what we know of the caller's terminal."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import termios

from midwatch.core.value import Value
from midwatch.system import procfs

NOWHERE = -1


class WorkStreams(Value):
    """What the work gets, and what we read of it."""

    stdio: tuple[int, int, int]
    copies: dict[int, int]
    """Where each of our ends goes: descriptor of ours → of the caller's."""
    terminal: int
    """Our end of the work's terminal, NOWHERE when it has pipes."""


def open_streams() -> WorkStreams:
    """A terminal for the work where the caller is on one, pipes elsewhere; its input is passed on as it is."""
    if os.isatty(0) and os.isatty(1):
        ours, theirs = os.openpty()
        copy_terminal_size(theirs)
        with contextlib.suppress(OSError):
            termios.tcsetattr(theirs, termios.TCSANOW, termios.tcgetattr(0))
        if os.isatty(2):
            return WorkStreams((theirs, theirs, theirs), {ours: 1}, ours)
        ours_err, theirs_err = os.pipe()
        return WorkStreams((theirs, theirs, theirs_err), {ours: 1, ours_err: 2}, ours)
    out, theirs_out = os.pipe()
    err, theirs_err = os.pipe()
    return WorkStreams((os.dup(0), theirs_out, theirs_err), {out: 1, err: 2}, NOWHERE)


def copy_terminal_size(terminal: int) -> None:
    with contextlib.suppress(OSError):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))


def is_in_foreground() -> bool:
    """Whether the caller's terminal is ours to read from; one that controls nobody here is anybody's."""
    try:
        return os.tcgetpgrp(0) == os.getpgrp()
    except OSError as error:
        return error.errno == errno.ENOTTY


def has_job_control() -> bool:
    """Whether a shell with job control is above us. Without one a suspended group would stay so for ever."""
    pid = os.getppid()
    try:
        while os.getsid(pid) == os.getsid(0):
            if os.getpgid(pid) != os.getpgrp():
                return True
            pid = int(procfs.stat_fields(pid)[1])
    except (OSError, ValueError):
        return False
    return False
