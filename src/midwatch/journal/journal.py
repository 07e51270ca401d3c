"""The journal: every event once, in one order that never changes.

An index and a memory, never needed to know the present. Whoever opens it takes in what shims have spooled. An event is
known by run and number, so two may take in the same lines at once, and whoever is killed in between is made good by the
next. Numbers (`seq`) are given under the write lock: whoever has seen one will later see only higher ones.

Importing this costs sqlite3: a verb does so only when it has something to remember or to tell.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from midwatch.config import paths
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.event import Event
from midwatch.core.text import visible
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal_database, spool_reader
from midwatch.journal.journal_database import to_moment, to_number, to_text
from midwatch.journal.spool_reader import SpoolBatch, SpoolPosition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    Answer = TypeVar("Answer")

BATCH = 8 << 20
"""Bytes that are taken in at once."""
COLUMNS = "run, CASE WHEN n > 0 THEN n END, at, name, event, body, seq"
ADVICE = "is the disk full or read-only, or the directory another's? Until it can be written, events wait in the spools"
BUSY = "somebody writes to it all the time; try again"
TAKE = """INSERT INTO events (run, n, at, name, event, body) SELECT ?1, ?2, ?3, ?4, ?5, ?6
    WHERE NOT EXISTS (SELECT 1 FROM events WHERE run = ?1 AND n = ?2)"""
"""Asked before and not ignored afterwards: what is ignored has used up a number."""


def warn(trouble: str) -> None:
    sys.stderr.write(f"midwatch: warning: {visible(trouble)}\n")


def find_problem(directory: str) -> str:
    """Why there is no journal in a directory; empty where there may be one. Nothing is written in another's."""
    if others := paths.find_sharing(directory):
        return others
    ours = os.path.isdir(spool_reader.spool_directory(directory)) and os.path.isdir(
        f"{directory}/archive"
    )  # made by every start
    if ours or journal_database.journal_inode(directory) or directory == paths.sentinel_directory():
        return ""
    return f"Midwatch has started nothing in {directory}"


def record_event(directory: str, name: str, run: str, event: str, **body: object) -> None:
    """Remember what one of our verbs did. If that fails it is a warning: the deed counts, not the note."""
    if find_problem(directory):
        return
    try:
        paths.prepare_directory(directory)
        with contextlib.closing(Journal(directory)) as journal:
            journal.take_in()  # what went before is told before
            journal.add(journal_codec.uncounted_event(run, time.time(), name, event, body))
    except RefusedError as error:
        warn(f"this was not noted: {error}")


class Journal:
    def __init__(self, directory: str, *, memory: bool = False, say: Callable[[str], None] = warn) -> None:
        """Of a directory that is ours; with ``memory`` for this call only, and nothing is written or removed."""
        self.directory = directory
        self.path = f"{directory}/{journal_database.FILE}"
        self.memory = memory
        self.say = say
        self._inode = 0
        self._database: sqlite3.Connection | None = None
        self._not_removed: dict[str, SpoolPosition] = {}
        self._say_once = cache(say)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    # Taking in

    def take_in(self) -> None:
        """Everything that stands whole in the spools, and nothing twice."""
        while self.ask(self._take_some):
            pass

    def _take_some(self, base: sqlite3.Connection) -> bool:
        """One batch. Returns whether there may be more."""
        known = _read_positions(base) | self._not_removed
        room, all_taken = BATCH, list[SpoolBatch]()
        for file in spool_reader.grown_files(self.directory, known):
            before = known.get(file, spool_reader.START)
            taken = spool_reader.read_spool(self.directory, file, before, room, self._say_once)
            if taken is not None:
                all_taken.append(taken)
                room -= taken.size
            if room <= 0:
                break
        if all_taken:
            over = [] if self.memory else [taken for taken in all_taken if taken.over]
            self._write(base, spool_reader.merge_by_time(all_taken), all_taken, over)
            for taken in over:
                if journal_database.journal_inode(self.directory) != self._inode or not spool_reader.remove(
                    self.directory, taken
                ):
                    self._not_removed[taken.file] = taken.place
        return room <= 0

    def _write(
        self, base: sqlite3.Connection, new: Sequence[Event], read: list[SpoolBatch], over: list[SpoolBatch]
    ) -> None:
        """Events and how far they were read, in one transaction; on the disk before a spool may go."""
        with transaction(base, lasting=bool(over)):
            base.executemany(TAKE, [event[:6] for event in new])
            # Also for those that go: so this is never an empty transaction, which would wait for no disk.
            far = [(taken.file, *taken.place) for taken in read]
            base.executemany("INSERT OR REPLACE INTO spools VALUES (?, ?, ?, ?)", far)
            base.executemany("DELETE FROM spools WHERE file = ?", [(taken.file,) for taken in over])

    def spool_positions(self) -> dict[str, SpoolPosition]:
        """How far each spool was read."""
        return self.ask(_read_positions)

    def add(self, *events: Event) -> None:
        """Remember events that are in no spool."""

        def do(base: sqlite3.Connection) -> None:
            with transaction(base, lasting=True):
                base.executemany(TAKE, [event[:6] for event in events])

        self.ask(do)

    # Telling

    def newest(self) -> int:
        """The highest number given so far."""
        asked = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence"  # one made anew has events yet to come
        return self.ask(lambda base: to_number(base.execute(asked).fetchone()[0]))

    def after(self, since: int, names: Sequence[str] = (), most: int = 1000, kind: str = "") -> list[Event]:
        """The next events beyond a number, at most so many, of all names or of some, of all kinds or of one.

        Read under the write lock: what somebody has written but not published yet is waited for, and so an event of
        the file system that told of it is answered in full.
        """

        def do(base: sqlite3.Connection) -> list[Event]:
            with transaction(base, lasting=False):
                where = f"seq > ? {_condition(names, kind)} ORDER BY seq LIMIT ?"
                return _select_events(base, where, since, *names, *filter(None, [kind]), most)

        return self.ask(do)

    def last(self, count: int, names: Sequence[str] = (), kind: str = "") -> list[Event]:
        where = f"true {_condition(names, kind)} ORDER BY seq DESC LIMIT ?"
        return self.ask(lambda base: _select_events(base, where, *names, *filter(None, [kind]), count))[::-1]

    def runs(self, name: str) -> dict[str, float]:
        """All runs of a name, each with the time of its first event."""
        asked = "SELECT run, min(at) FROM events WHERE name = ? AND event != ? GROUP BY run ORDER BY min(seq)"
        known = name, journal_codec.CHANGED  # also of a row of a registry with the name of a job, which has no run
        return self.ask(lambda base: {to_text(run): to_moment(at) for run, at in base.execute(asked, known)})

    def of_run(self, name: str, run: str) -> list[Event]:
        """The events of one run, as its shim counted them; what others noted stands where it came in."""
        where = "run = ? AND name = ? ORDER BY seq"
        return self.ask(lambda base: _select_events(base, where, run, name))

    def of_kinds(self, kinds: Sequence[str], since: float, runs: Sequence[str] = ()) -> list[Event]:
        """All events of some kinds of those runs that had any since a moment (wall clock), and of those named."""
        marks = ", ".join("?" * len(kinds)), ", ".join("?" * len(runs))
        recent = f"run IN (SELECT run FROM events WHERE at >= ?) OR run IN ({marks[1]})"  # noqa: S608  # marks alone
        where = f"event IN ({marks[0]}) AND run != '' AND ({recent}) ORDER BY seq"
        return self.ask(lambda base: _select_events(base, where, *kinds, since, *runs))

    # The database

    def ask(self, do: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Every question comes through here. If the journal is damaged, it is put aside and the new one is asked."""
        try:
            return do(self._base())
        except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
            if not journal_database.is_damage(error, self.path):
                raise self._refused(error) from error
            self._put_aside(error)
        try:
            while self._take_some(self._base()):  # whoever asks gets what the spools still hold
                pass
            return do(self._base())
        except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
            raise self._refused(error) from error

    def _base(self) -> sqlite3.Connection:
        if self._database is not None and (
            self.memory or journal_database.journal_inode(self.directory) == self._inode
        ):
            return self._database
        self.close()
        if self.memory:
            self._database = journal_database.open_in_memory()
        else:
            self._database, self._inode = journal_database.open_journal(self.directory)
        return self._database

    def _put_aside(self, error: Exception) -> None:
        self.close()
        if self.memory:
            return  # a copy of a damaged one; without it there are still the spools
        inode = (error.inode if isinstance(error, journal_database.DamagedError) else 0) or self._inode
        try:
            aside = journal_database.set_aside(self.directory, inode)
        except OSError as trouble:
            raise self._refused(trouble) from error
        if aside:
            self.say(f"{self.path} was damaged ({error}): it is {aside} now; a new one has what the spools still hold")

    def _refused(self, error: Exception) -> RefusedError:
        busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
        why = error.strerror if isinstance(error, OSError) else error
        return RefusedError(f"{self.path} cannot be used: {why}; {BUSY if busy else ADVICE}")

    def copied(self) -> Journal:
        """A journal for this call only: what can be read of this one, though it cannot be written, and the spools."""
        from midwatch.system import foreign_database  # noqa: PLC0415  # rarely needed

        limits = foreign_database.DatabaseLimits(
            seconds=30.0, rows=0, size=1 << 30, value=1 << 30, patience=journal_database.PATIENCE
        )
        found = Journal(self.directory, memory=True, say=self.say)
        try:
            foreign_database.read_tables(
                self.path, ("events", "spools"), limits, lambda base: base.copy_to(found._base())
            )
            if not journal_database.check_database(found._base(), self.path):
                found.close()
        except foreign_database.LimitError as error:
            raise self._refused(error) from error
        except (sqlite3.Error, UnicodeDecodeError, OSError):
            found.close()
        found.take_in()
        return found


@contextlib.contextmanager
def transaction(base: sqlite3.Connection, *, lasting: bool) -> Iterator[None]:
    """One transaction. With ``lasting`` it is on the disk when this is over."""
    base.execute(f"PRAGMA synchronous = {'FULL' if lasting else 'NORMAL'}")
    base.execute("BEGIN IMMEDIATE")
    try:
        yield
        base.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            base.execute("ROLLBACK")
        raise


def _read_positions(base: sqlite3.Connection) -> dict[str, SpoolPosition]:
    asked = "SELECT file, inode, size, offset FROM spools"
    return {to_text(file): SpoolPosition(*map(to_number, place)) for file, *place in base.execute(asked)}


def _condition(names: Sequence[str], kind: str) -> str:
    return (f"AND name IN ({', '.join('?' * len(names))})" if names else "") + (" AND event = ?" if kind else "")


def _select_events(base: sqlite3.Connection, where: str, *values: object) -> list[Event]:
    asked = f"SELECT {COLUMNS} FROM events WHERE {where}"  # noqa: S608  # our own words only; values are bound
    try:
        return [journal_codec.event_from_row(row) for row in base.execute(asked, values)]
    except FormatError as error:
        raise journal_database.DamagedError(str(error)) from error
