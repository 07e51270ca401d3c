"""Our own two files in a task directory: who may act on the task, and what the monitors remember of it.

They are beside the task's files, and not in a project's state, so that monitors called from anywhere exclude each
other, and so that they go when the directory goes.
"""

from __future__ import annotations

import contextlib

from midwatch.core.errors import FormatError
from midwatch.system.atomic_files import dumps, read_plain, write_atomic
from midwatch.system.file_locks import Lease
from midwatch.taskdir import codec as taskdir_codec
from midwatch.taskdir.model import TaskNotes

LOCK, NOTES = "midwatch.lock", "midwatch.json"
LARGEST = 1 << 20


def task_lease(directory: str) -> Lease:
    """The right to act on a task."""
    return Lease(f"{directory}/{LOCK}")


def read_text(directory: str) -> str:
    """The notes as they stand; empty where there are none."""
    with contextlib.suppress(OSError):
        return read_plain(f"{directory}/{NOTES}", LARGEST).decode("utf-8", "surrogateescape")
    return ""


def decode_notes(found: str, session: str) -> TaskNotes | None:
    """Notes of a text; None where there are none that can be read."""
    try:
        return taskdir_codec.decode_notes(found, session) if found else None
    except FormatError:
        return None


def write_notes(directory: str, notes: TaskNotes) -> None:
    write_atomic(f"{directory}/{NOTES}", dumps(taskdir_codec.encode_notes(notes)) + "\n")
