"""Who watches a session: the lease of the one who acts, and his notes for whoever comes after him.

Besides, a person's wish that it be stopped: it outlives the run that it was said to, so that a monitor which is just
bringing the session back hears of it.
"""

from __future__ import annotations

import fcntl
import os
import time

from dogwatch.formats import watches
from dogwatch.lean import write_atomic
from dogwatch.model.errors import FormatError
from dogwatch.model.watching import Watch
from dogwatch.store import sentinels


class Lease:
    """One monitor of a session acts; the others watch."""

    def __init__(self, base: str) -> None:
        self.path = f"{base}.actor"
        self._fd: int | None = None

    def take(self) -> bool:
        """Whether we are the one. OSError where nothing can be written."""
        if self._fd is None:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(fd)
                return False
            self._fd = fd
        return True

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def read(base: str, run: str = "") -> Watch | None:
    """The notes of the last monitor; with a run, only those of that run."""
    try:
        text = sentinels.read(f"{base}.watch")
    except FormatError:
        return None
    found = watches.decode(text) if text else None
    return found if found is not None and run in ("", found.run) else None


def write(base: str, watch: Watch) -> None:
    write_atomic(f"{base}.watch", watches.encode(watch))


def ask_to_stop(base: str) -> None:
    """A person wants it stopped, whatever is being done about it."""
    write_atomic(f"{base}.halt", f"{time.time()}\n")


def asked_to_stop(base: str, since: float) -> bool:
    """Whether somebody has wanted that since a moment of the wall clock."""
    try:
        text = sentinels.read(f"{base}.halt")
        return text is not None and float(text) >= since
    except (FormatError, ValueError):
        return False
