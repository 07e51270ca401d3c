"""Forgetting old events. Numbers go on where they were, so whoever has seen one misses nothing that comes later."""

from __future__ import annotations

import contextlib
import os
import sqlite3

from midwatch.journal import spool_reader
from midwatch.journal.journal import Journal, transaction

CONDITION = """at < ? AND seq <= ? AND run NOT IN (SELECT run FROM kept)"""


def trim_journal(journal: Journal, before: float, kept_runs: set[str], most: int | None, *, count_only: bool) -> int:
    """Remove events that came before a moment (wall), but for those of some runs; how many.

    Nor any with a number above ``most``: those are still to be published. Nor those of which a spool is left, because
    they would be taken in again.
    """
    files = map(spool_reader.parse_file_name, spool_reader.grown_files(journal.directory, {}))
    kept = sorted(kept_runs | {found[1] for found in files if found})

    def do(base: sqlite3.Connection) -> int:
        base.execute("CREATE TEMP TABLE IF NOT EXISTS kept (run TEXT PRIMARY KEY)")
        limits = before, (1 << 62) if most is None else most
        with transaction(base, lasting=True):
            base.execute("DELETE FROM kept")
            base.executemany("INSERT INTO kept VALUES (?)", [(run,) for run in kept])
            found: int = base.execute(f"SELECT count(*) FROM events WHERE {CONDITION}", limits).fetchone()[0]  # noqa: S608
            if not count_only:
                base.execute(f"DELETE FROM events WHERE {CONDITION}", limits)  # noqa: S608  # our own words
        return found

    return journal.ask(do)


def remove_spools(journal: Journal, runs: set[str]) -> int:
    """Take in all spools; bytes that this frees. Those of some runs that are gone are removed although no end is told.

    Whatever was not taken in stays.
    """
    before = _total_size(journal.directory)
    journal.take_in()
    known = journal.spool_positions()
    for file in spool_reader.grown_files(journal.directory, {}):
        owner, place = spool_reader.parse_file_name(file), known.get(file)
        if owner is None or place is None or owner[1] not in runs or place.offset != place.size:
            continue
        spool_reader.remove(journal.directory, spool_reader.SpoolBatch(file, [], place, 0, over=True))
    return max(0, before - _total_size(journal.directory))


def _total_size(directory: str) -> int:
    folder, total = spool_reader.spool_directory(directory), 0
    for file in spool_reader.grown_files(directory, {}):
        with contextlib.suppress(OSError):
            total += os.lstat(f"{folder}/{file}").st_size
    return total
