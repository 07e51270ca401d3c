"""Beads' SQLite file, read and never written, also while another writes to it.

A database in WAL mode whose last user has gone has no ``-wal``. Opening it with ``mode=ro`` would create one, so then
it is opened as ``immutable``, which heeds no lock: what was read counts only if nothing has changed meanwhile.
"""

from __future__ import annotations

import contextlib
import glob
import os
import sqlite3
from urllib.parse import quote

from dogwatch.formats.beads import Issue
from dogwatch.lean import open_plain
from dogwatch.model.tracking import TrackerError

USUAL = "beads.db"
WAL = b"\2\2"
"""Bytes 18 and 19 of a database in WAL mode."""
TRIES = 3


def find(directory: str) -> str:
    """The database of a directory; empty where there is none. Of several the one that was written to last."""
    found = [path for path in glob.glob(f"{glob.escape(directory)}/*.db") if os.path.isfile(path)]
    usual = [path for path in found if os.path.basename(path) == USUAL]
    return max(usual or found, key=changed, default="")


def changed(path: str) -> int:
    """When it was last written to, in nanoseconds; 0 where it is not there."""
    return max([_stat(each)[2] for each in (path, f"{path}-wal")])


def read(path: str, limit: float) -> list[Issue]:
    """Every issue with its labels, dependencies and comments. TrackerError where that cannot be read."""
    try:
        for _ in range(TRIES):
            before, flags = _state(path), _flags(path)
            found = _rows(path, flags, limit)
            if "immutable" not in flags or _state(path) == before:
                return found
    except (OSError, sqlite3.Error) as error:
        raise TrackerError(f"{path} cannot be read: {error}") from error
    raise TrackerError(f"{path} is being changed all the time")


def _flags(path: str) -> str:
    with open(open_plain(os.path.realpath(path)), "rb") as file:
        journalled = file.read(20)[18:20] == WAL
    if not journalled or os.path.exists(f"{path}-shm"):
        return "mode=ro"
    if _stat(f"{path}-wal")[1]:
        raise OSError(f"{path}-wal is there without its index")
    return "mode=ro&immutable=1"


def _rows(path: str, flags: str, limit: float) -> list[Issue]:
    uri = f"file:{quote(os.path.abspath(path))}?{flags}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=limit, isolation_level=None)) as database:
        database.row_factory = sqlite3.Row
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        database.execute("BEGIN")  # all of it from one moment
        issues: dict[object, Issue] = {row["id"]: dict(row) for row in database.execute("SELECT * FROM issues")}
        for issue in issues.values():
            issue |= {"labels": [], "dependencies": [], "comments": []}
        for row in database.execute("SELECT issue_id, label FROM labels ORDER BY rowid"):
            _to(issues, row["issue_id"], "labels", row["label"])
        for row in database.execute("SELECT * FROM dependencies"):
            _to(issues, row["issue_id"], "dependencies", dict(row))
        for row in database.execute("SELECT * FROM comments ORDER BY created_at, id"):
            _to(issues, row["issue_id"], "comments", dict(row))
    return list(issues.values())


def _to(issues: dict[object, Issue], issue: object, name: str, value: object) -> None:
    found = issues.get(issue, {}).get(name)
    if isinstance(found, list):
        found.append(value)


def _state(path: str) -> tuple[tuple[int, int, int], ...]:
    return _stat(path), _stat(f"{path}-wal")


def _stat(path: str) -> tuple[int, int, int]:
    """Inode, size and time of a file; nothing where it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns
