"""How far the journal of a directory was published, and that somebody should go on: two files in its ``outbox/``.

``published`` is the number up to which the broker has everything; it moves only once the broker has said so. As long as
``unpublished`` is there, something may be behind: it is written before a try and removed after the last event. So what
a killed process leaves undone is found by the next.
"""

from __future__ import annotations

import json
import os
import time

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.value import Value
from midwatch.system import file_locks
from midwatch.system.atomic_files import write_atomic

SCHEMA = 1
REST = 60.0
"""Seconds after a try before whoever comes by begins another."""


class PublishMark(Value):
    """That something may be behind."""

    project: str
    """Whose settings name the broker."""
    trouble: str
    """Why it could not be published when it was last tried; empty when it was not, or that goes on."""
    at: float
    """When somebody last asked for it (wall)."""


def publish_lease(directory: str) -> int | None:
    """The right to publish: a descriptor to be closed, None while another has it."""
    return file_locks.acquire(f"{directory}/outbox/.publisher")


def read_cursor(directory: str) -> int | None:
    """The number up to which all is published; None where nothing ever was."""
    found = _read_fields(f"{directory}/outbox/published").get("seq")
    return found if type(found) is int and found >= 0 else None


def write_cursor(directory: str, seq: int) -> None:
    write_atomic(f"{directory}/outbox/published", json.dumps({"schema": SCHEMA, "seq": seq}) + "\n")


def write_mark(directory: str, project: str, trouble: str = "") -> None:
    text = json.dumps({"schema": SCHEMA, "project": project, "trouble": trouble})
    write_atomic(_mark_path(directory), text + "\n")


def unmark(directory: str) -> None:
    try:
        os.unlink(_mark_path(directory))
    except FileNotFoundError:
        pass


def read_mark(directory: str) -> PublishMark | None:
    try:
        at = os.lstat(_mark_path(directory)).st_mtime
    except OSError:
        return None
    found = _read_fields(_mark_path(directory))
    project, trouble = found.get("project"), found.get("trouble")
    return PublishMark(project, trouble, at) if isinstance(project, str) and isinstance(trouble, str) else None


def is_due(directory: str) -> bool:
    """Whether whoever comes by should have it tried again."""
    found = read_mark(directory)
    return found is not None and abs(time.time() - found.at) > REST


def _mark_path(directory: str) -> str:
    return f"{directory}/outbox/unpublished"


def _read_fields(path: str) -> dict[str, object]:
    """What a file says; nothing where it cannot be read: then something may be published twice."""
    try:
        found = json.loads(sentinel_files.read(path) or "{}")
    except (ValueError, RecursionError, FormatError, OSError):
        return {}
    return found if isinstance(found, dict) and found.get("schema") == SCHEMA else {}
