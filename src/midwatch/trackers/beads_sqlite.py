"""Beads' SQLite file, read and never written, also while another writes to it."""

from __future__ import annotations

import glob
import os
import sqlite3

from midwatch.system import foreign_database
from midwatch.system.foreign_database import DatabaseLimits, DatabaseReader
from midwatch.trackers.codec.beads import Issue
from midwatch.trackers.model import TrackerError

USUAL = "beads.db"
TABLES = ("issues", "labels", "dependencies", "comments")
ROWS = 500_000
SIZE, VALUE = 128 << 20, 16 << 20
PATIENCE = 2.0


def find_database(directory: str) -> str:
    """The database of a directory; empty where there is none. Of several the one that was written to last."""
    found = [path for path in glob.glob(f"{glob.escape(directory)}/*.db") if os.path.isfile(path)]
    usual = [path for path in found if os.path.basename(path) == USUAL]
    return max(usual or found, key=modified_ns, default="")


def modified_ns(path: str) -> int:
    """When it was last written to, in nanoseconds; 0 where it is not there."""
    try:
        return max(each[2] for each in foreign_database.database_state(os.path.realpath(path)) if each)
    except (OSError, ValueError):
        return 0


def read_issues(path: str, limit: float) -> list[Issue]:
    """Every issue with its labels, dependencies and comments. TrackerError where that cannot be read."""
    limits = DatabaseLimits(limit, ROWS, SIZE, VALUE, min(limit, PATIENCE))
    try:
        return foreign_database.read_tables(os.path.realpath(path), TABLES, limits, _select_issues)[1]
    except (OSError, sqlite3.Error) as error:
        raise TrackerError(f"{path} cannot be read: {error}") from error
    except KeyError as error:
        raise TrackerError(f"{path} cannot be read: a table has no column {error}") from error


def _select_issues(database: DatabaseReader) -> list[Issue]:
    issues: dict[object, Issue] = {row["id"]: row for row in database.rows("SELECT * FROM issues")}
    for issue in issues.values():
        issue |= {"labels": [], "dependencies": [], "comments": []}
    for row in database.rows("SELECT issue_id, label FROM labels ORDER BY rowid"):
        _append_value(issues, row["issue_id"], "labels", row["label"])
    for row in database.rows("SELECT * FROM dependencies"):
        _append_value(issues, row["issue_id"], "dependencies", row)
    # Not sorted by SQLite, which would gather all rows before the first one is counted.
    for row in sorted(database.rows("SELECT * FROM comments"), key=_comment_time):
        _append_value(issues, row["issue_id"], "comments", row)
    return list(issues.values())


def _comment_time(comment: Issue) -> tuple[str, int, str]:
    """When a comment was made, as text: SQLite keeps any type in any column."""
    own = comment.get("id")
    return str(comment.get("created_at") or ""), own if isinstance(own, int) else 0, str(own)


def _append_value(issues: dict[object, Issue], issue: object, name: str, value: object) -> None:
    found = issues.get(issue, {}).get(name)
    if isinstance(found, list):
        found.append(value)
