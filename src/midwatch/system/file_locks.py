"""Locks on files: held until they are let go or their last holder dies, however it does. Hot verbs import this."""

from __future__ import annotations

import fcntl
import os
import time

TICK = 0.01
"""Seconds between two attempts."""


def open_lock_file(path: str, *, shared: bool = False) -> int:
    """The file of a lock, made if it is not there. ``shared``: users who may only read it can lock it too. OSError."""
    access, mode = (os.O_RDONLY | os.O_NONBLOCK, 0o644) if shared else (os.O_RDWR, 0o600)
    return os.open(path, access | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def try_lock(fd: int) -> bool:
    """Whether it is ours now."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_free(path: str) -> bool:
    """Whether nobody holds a lock. Looking takes it for an instant, shared with all who look."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def lock_within(fd: int, seconds: float) -> bool:
    """Whether it became ours in that time. No lock can be waited for with a deadline, so it is asked for often."""
    deadline = time.monotonic() + seconds
    while not try_lock(fd):
        if time.monotonic() >= deadline:
            return False
        time.sleep(TICK)
    return True


def acquire(path: str, seconds: float = 0.0, *, shared: bool = False) -> int | None:
    """A file descriptor to hold or inherit; None where another has held it for so long. Raises OSError.

    A file that its holder removed locks nothing any more: the one in its place is meant.
    """
    while True:
        fd = open_lock_file(path, shared=shared)
        try:
            ours = lock_within(fd, seconds)
            if ours and os.fstat(fd).st_nlink:
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        if not ours:
            return None


class ExclusiveLock:
    """A lock that is waited for as long as it takes, and held for a block. Without contextlib, for the hot verbs."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd = -1

    def __enter__(self) -> None:
        self._fd = open_lock_file(self._path)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
        except BaseException:
            os.close(self._fd)
            raise

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)


class Lease:
    """The right to act: one has it, the others watch."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._fd: int | None = None

    def take(self) -> bool:
        """Whether it is ours. OSError where no file can be made."""
        if self._fd is None:
            self._fd = acquire(self._path)
        return self._fd is not None

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
