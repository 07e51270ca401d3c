"""Files written whole, and JSON, for programs that count milliseconds: `beat` and the shim.

The json module costs as much to import as a whole `midwatch beat` may take; writing JSON is fifteen lines.
"""

from __future__ import annotations

import _thread
import errno
import os

try:
    from _json import encode_basestring_ascii as quote
except ImportError:  # an interpreter without the C accelerator
    from json.encoder import encode_basestring_ascii as quote

KIND, REGULAR = 0o170000, 0o100000
"""Of a file's mode; the stat module has them too, and an import more."""
PIECE = 1 << 20
"""Bytes that are read at once of a file that grows."""
PREVIOUS = ".1"
"""Behind the name of a log: what was put aside when it had grown too large."""


def dumps(value: object) -> str:
    """JSON without the json module, whose import would cost as much as this whole program."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(key)}: {dumps(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(dumps, value)) + "]"
    raise TypeError(type(value))


def open_plain(path: str, *, follow: bool = False) -> int:
    """Open a file for reading: no pipe or device can make us wait, and no link is followed. Raises OSError.

    ``follow``: where the owner of a file may well have put a link in its place.
    """
    fd = os.open(path, os.O_RDONLY | (0 if follow else os.O_NOFOLLOW) | os.O_NONBLOCK | os.O_CLOEXEC)
    if os.fstat(fd).st_mode & KIND != REGULAR:
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return fd


def read_all(fd: int, most: int) -> bytes:
    """All of an open file, also if it grows. OSError (EFBIG) where that is more than so many bytes: nothing is cut."""
    parts = [os.read(fd, min(os.fstat(fd).st_size, most) + 1)]
    size = len(parts[0])
    while parts[-1] and size <= most:
        parts.append(os.read(fd, min(PIECE, most + 1 - size)))
        size += len(parts[-1])
    if size > most:
        large = f"{most >> 20} MB" if most >> 20 else f"{most >> 10} kB"
        raise OSError(errno.EFBIG, f"it is larger than {large}")
    return b"".join(parts)


def read_plain(path: str, most: int, *, follow: bool = False) -> bytes:
    """All of a file that another may have written, as ``open_plain`` and ``read_all`` have it. Raises OSError."""
    fd = open_plain(path, follow=follow)
    try:
        return read_all(fd, most)
    finally:
        os.close(fd)


def write_atomic(path: str, text: str) -> None:
    """Replace a file whole: readers see the old one or the new one."""
    temporary = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.getpid()}.{_thread.get_native_id()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    try:
        fd = os.open(temporary, flags, 0o600)
    except FileExistsError:  # left by one that was killed; or planted, and then it may be a pipe or a link
        os.unlink(temporary)
        fd = os.open(temporary, flags, 0o600)
    try:
        try:
            write_all(fd, text.encode("utf-8", "surrogateescape"))
            os.rename(temporary, path)
        except BaseException:
            try:
                os.unlink(temporary)
            except FileNotFoundError:  # broken off when it had its name
                pass
            raise
    finally:
        os.close(fd)


def write_new(path: str, text: str) -> None:
    """Write a whole file that must not be there yet: FileExistsError where it is."""
    temporary = f"{os.path.dirname(path)}/.{os.path.basename(path)}.{os.getpid()}.{_thread.get_native_id()}.new"
    write_atomic(temporary, text)
    try:
        os.link(temporary, path)
    finally:
        os.unlink(temporary)


UNSENT = "outbox/unsent"
"""Where an empty file stands for each run whose end must still be sent, in a directory of jobs."""


class StateDirectory:
    """The directory of a job's files, in which the process that writes them lives from now on.

    So it is written to wherever it is: under another name, or with another file system mounted over its path.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.way = "."
        """What the paths of its files begin with."""
        try:
            os.chdir(path)
        except OSError:
            self.way = path

    def is_in_place(self) -> bool:
        """Whether those who know its path can see it."""
        try:
            found, ours = os.stat(self.path), os.stat(self.way)
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)

    def is_removed(self) -> bool:
        try:
            return os.stat(self.way).st_nlink == 0
        except FileNotFoundError:
            return True
        except OSError:
            return False

    def is_away(self) -> bool:
        """Whether it was moved, or another is mounted over it."""
        return not self.is_in_place() and not self.is_removed()

    def write(self, path: str, text: str) -> bool:
        """Write for good. False: try again. What was removed cannot be written to any more."""
        try:
            write_atomic(path, text)
        except FileNotFoundError:
            return self.is_removed()
        except OSError:
            return False
        return True


def write_all(fd: int, data: bytes) -> None:
    """Write until nothing is left: one call may write less. Raises OSError."""
    while data:
        data = data[os.write(fd, data) :]


def make_durable(path: str) -> None:
    """Wait until a file is on the disk. Apart from writing it, so that readers are told first."""
    fd = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def append(path: str, text: str) -> None:
    """Add whole lines to a file, or none. Raises OSError, also for a pipe that nobody reads."""
    data = text.encode("utf-8", "surrogateescape")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    try:
        written = os.write(fd, data)
        if written < len(data):  # the disk is full; what stands there would spoil the next line
            end = os.lseek(fd, 0, os.SEEK_CUR)
            if os.fstat(fd).st_size == end:
                os.ftruncate(fd, end - written)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
    finally:
        os.close(fd)
