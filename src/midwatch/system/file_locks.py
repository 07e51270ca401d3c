"""Leases are file locks: held until they are let go or their last holder dies, however it does."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


TICK = 0.01
"""Seconds between two attempts."""


def opened(path: str) -> int:
    """The file of a lease. Raises OSError."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def locked(fd: int) -> bool:
    """Whether it is ours now."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def within(fd: int, seconds: float) -> bool:
    """Whether it became ours in that time. No lock can be waited for with a deadline, so it is asked for often."""
    deadline = time.monotonic() + seconds
    while not locked(fd):
        if time.monotonic() >= deadline:
            return False
        time.sleep(TICK)
    return True


def take(path: str) -> int | None:
    """A file descriptor to hold or inherit; None while another holds it. Raises OSError."""
    fd = opened(path)
    if locked(fd):
        return fd
    os.close(fd)
    return None


@contextlib.contextmanager
def alone(path: str) -> Iterator[None]:
    """Wait until nobody else is in here."""
    fd = opened(path)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


class Lease:
    """The right to act: one has it, the others watch."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd: int | None = None

    def take(self) -> bool:
        """Whether it is ours. OSError where no file can be made."""
        if self._fd is None:
            self._fd = take(self._path)
        return self._fd is not None

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
