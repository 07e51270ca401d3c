"""A file that says when something is to be done: one line with the moment by the wall clock, and by the monotonic one.

Who may be the next to come by looks in here, so this loads nothing and costs one read. The shim does at its heartbeats.
"""

from __future__ import annotations

import os
import time

LONGEST = 256


def read_due_time(path: str, boot: str) -> tuple[float, str] | None:
    """Seconds until it is to be done, below 0 when it is late, and the note beside it; None where there is nothing."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        wall, mono, of_boot, note = os.read(fd, LONGEST).decode("ascii", "replace").split()
        rest = float(wall) - time.time()
        return (min(rest, float(mono) - time.monotonic()) if of_boot == boot else rest), note
    except (OSError, ValueError):
        return None
    finally:
        os.close(fd)


def format_due_time(rest: float, boot: str, note: str) -> str:
    """The line for something that is to be done in ``rest`` seconds."""
    return f"{time.time() + rest:.3f} {time.monotonic() + rest:.3f} {boot} {note}\n"
