"""Removing a directory that the work or an agent has filled: its depth is theirs to choose, and no link is followed."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str) -> None:
    """Remove a directory with all that is in it. Raises OSError.

    A directory within another is moved up to the top first, so neither recursion nor open files grow with the depth.
    """
    top = os.open(path, os.O_RDONLY | DIRECTORY)
    try:
        numbers = itertools.count()
        while names := os.listdir(top):
            taken = set(names)
            fresh = (name for name in map(str, numbers) if name not in taken)
            for name in names:
                if not _remove_entry(name, top):
                    _empty_directory(name, top, fresh)
                    os.rmdir(name, dir_fd=top)
    finally:
        os.close(top)
    os.rmdir(path)


def _empty_directory(name: str, top: int, fresh: Iterator[str]) -> None:
    """Remove what is in a directory; what has something in it itself gets a fresh name at the top."""
    directory = _open_writable(name, top)
    try:
        for each in os.listdir(directory):
            if not _remove_entry(each, directory):
                os.close(_open_writable(each, directory))  # or it could not be moved
                os.rename(each, next(fresh), src_dir_fd=directory, dst_dir_fd=top)
    finally:
        os.close(directory)


def _open_writable(name: str, parent: int) -> int:
    """Open a directory whose owner may have forbidden to read or change it; if that is us, we may allow it."""
    found = os.open(name, os.O_PATH | DIRECTORY, dir_fd=parent)
    try:
        with contextlib.suppress(PermissionError):
            os.chmod(f"/proc/self/fd/{found}", 0o700)
        return os.open(f"/proc/self/fd/{found}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(found)


def _remove_entry(name: str, parent: int) -> bool:
    """Remove a file or an empty directory. False: it is a directory with something in it."""
    try:
        os.unlink(name, dir_fd=parent)
    except IsADirectoryError:
        try:
            os.rmdir(name, dir_fd=parent)
        except OSError as error:
            if error.errno != errno.ENOTEMPTY:
                raise
            return False
    return True
