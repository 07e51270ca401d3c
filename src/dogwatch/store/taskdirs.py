"""Our own two files in a task directory: who may act on the task, and what the monitors remember of it.

They are beside the task's files, and not in a project's state, so that monitors called from anywhere exclude each
other, and so that they go when the directory goes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os

from dogwatch.formats import taskdir
from dogwatch.lean import dumps, open_plain, write_atomic
from dogwatch.model.errors import FormatError
from dogwatch.model.taskdir import Notes

LOCK, NOTES = "dogwatch.lock", "dogwatch.json"
LARGEST = 1 << 20


class Lease:
    """The right to act on a task, held until it is closed or its holder dies."""

    def __init__(self, directory: str) -> None:
        self.path = f"{directory}/{LOCK}"
        self._fd = -1

    def take(self) -> bool:
        """Whether it is ours now. OSError where no file can be made."""
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        self._fd = fd
        return True

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def text(directory: str) -> str:
    """The notes as they stand; empty where there are none."""
    with contextlib.suppress(OSError), open(open_plain(f"{directory}/{NOTES}"), "rb") as file:
        return file.read(LARGEST).decode("utf-8", "surrogateescape")
    return ""


def read(found: str, session: str) -> Notes | None:
    """Notes of a text; None where there are none that can be read."""
    try:
        return taskdir.notes(found, session) if found else None
    except FormatError:
        return None


def write(directory: str, notes: Notes) -> None:
    write_atomic(f"{directory}/{NOTES}", dumps(taskdir.noted(notes)) + "\n")
