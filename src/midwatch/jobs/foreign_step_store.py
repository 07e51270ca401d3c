"""How Midwatch ended steps of foreign directories, where nothing but FAILED can be written.

One note for each step, in a place of our own. It holds for the run whose pid file was there: once that is written
again, the note says nothing more.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.job_model import End
from midwatch.jobs.codec import sentinel
from midwatch.system.atomic_files import write_atomic
from midwatch.system.file_locks import Lease

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
LONGEST = 30 * 86400.0
"""Seconds for which a note is kept."""


def read_end(base: str) -> End | None:
    """How the run that the pid file of a step names was ended by us; None where it was not."""
    try:
        text = sentinel_files.read(f"{_end_path(base)}.ended")
        if text is None:
            return None
        found = json.loads(text)
        if not isinstance(found, dict) or found.get("schema") != SCHEMA or found.get("run") != _run_key(base):
            return None
        return sentinel.decode_end(found.get("end"))
    except (FormatError, ValueError, RecursionError):
        return None


def write_end(base: str, end: dict[str, Any]) -> None:
    """Note how we end it, before we do: whoever sees it gone must know why. Raises OSError."""
    _remove_old_ends()
    note = {"schema": SCHEMA, "step": _real_path(base), "run": _run_key(base), "end": end}
    write_atomic(f"{_end_path(base)}.ended", json.dumps(note) + "\n")


def remove_end(base: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(f"{_end_path(base)}.ended")


def step_lease(base: str) -> Lease:
    """The right to end a step: one watcher has it."""
    with contextlib.suppress(OSError):
        paths.make_private(_store_directory())
    return Lease(f"{_end_path(base)}.lock")


def _run_key(base: str) -> list[object]:
    """Text and time of the pid file. Raises FormatError."""
    found = sentinel_files.read_dated(f"{base}.pid")
    return [] if found is None else [found[0].strip(), found[1]]


def _real_path(base: str) -> str:
    directory, name = os.path.split(base)
    return f"{os.path.realpath(directory)}/{name}"


def _store_directory() -> str:
    return f"{paths.state_root()}/steps"


def _end_path(base: str) -> str:
    digest = hashlib.sha256(_real_path(base).encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return f"{_store_directory()}/{digest}"


def _remove_old_ends() -> None:
    """Take out what nobody asks for any more. Raises OSError where nothing can be written."""
    paths.make_private(_store_directory())
    oldest = time.time() - LONGEST
    for entry in os.listdir(_store_directory()):
        path = f"{_store_directory()}/{entry}"
        with contextlib.suppress(OSError):
            if os.stat(path, follow_symlinks=False).st_mtime < oldest:
                os.unlink(path)
