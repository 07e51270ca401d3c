"""SQLite databases that others write: read only, plain tables only, and with limits that hold.

A database decides by its schema what a query does: a view under the name of a table may never end, and so may a
computed column. Therefore only stored tables are read, an authorizer refuses all else, and a progress handler ends a
query at its deadline. The handler is Python, so signals are heard meanwhile. Limits raise LimitError; no list is cut.

What opening a database in WAL mode for reading does (``mode=ro``, tried with SQLite 3.40):

- while ``-wal`` and ``-shm`` are there, it reads what is committed, blocks no writer and leaves no file behind;
- when they are not, it *creates* both and leaves them. Then everything is in the main file, and it is opened with
  ``immutable=1``, which creates nothing and heeds no lock; what was read counts only if the file did not change;
- with ``-wal`` but no ``-shm`` (the index is gone), it would create the ``-shm``: that is left alone and reported.

A connection is open only while it reads: the last one to close a database that its writer has left cleans up, and we
may not.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from typing import TypeVar
from urllib.parse import quote

from midwatch.core.text import format_duration
from midwatch.core.value import Value
from midwatch.system.atomic_files import open_plain

TRIES = 3
WAL = b"\2\2"
"""Bytes 18 and 19 of a database in WAL mode."""
LARGEST_LOG = 1 << 30
"""Bytes of a ``-wal``: SQLite may go through all of it before the first query, and cannot be interrupted there."""
LONGEST_QUERY = 1 << 20
"""Bytes of one statement; the statements of the schema are parsed, too."""
STEPS = 1000
"""Instructions of SQLite's machine between two looks at the clock."""
ALLOWED = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION)
FUNCTIONS = ("count",)
SIZES = ("page_count", "page_size")
COMPUTED = (1, 2)
"""How SQLite marks columns that are worked out when they are read; those that are stored are plain data."""

T = TypeVar("T")
State = tuple[tuple[int, ...], ...]
Row = dict[str, object]


class DatabaseLimits(Value):
    seconds: float
    """For all of a reading, however often it begins anew."""
    rows: int
    size: int
    """Bytes of all values together."""
    value: int
    """Bytes of one value, or of one row as it is stored."""
    patience: float
    """Seconds to wait for a lock."""


class LimitError(sqlite3.OperationalError):
    """More than may be read; the message goes on after "cannot be read: "."""


def database_state(path: str) -> State:
    """What changes whenever something is written; empty where there is no database."""
    found: list[tuple[int, ...]] = []
    for each in (path, f"{path}-wal"):
        try:
            now = os.stat(each)
            found.append((now.st_ino, now.st_size, now.st_mtime_ns))
        except (FileNotFoundError, NotADirectoryError):
            found.append(())
    return tuple(found) if found[0] else ()


def read_tables(
    path: str, tables: tuple[str, ...], limits: DatabaseLimits, ask: Callable[[DatabaseReader], T]
) -> tuple[State, T]:
    """What ``ask`` finds in these tables, all of one moment, and the state of the files. The path must be no link.

    It is read again if the file changed meanwhile and nothing locked it. Raises OSError or sqlite3.Error.
    """
    until = time.monotonic() + limits.seconds
    for _ in range(TRIES):
        before, how = database_state(path), _open_mode(path)
        with contextlib.closing(_open_database(path, how, limits)) as database:
            found = ask(DatabaseReader(database, tables, limits, until))
        if how == "mode=ro" or database_state(path) == before:
            return before, found
    raise sqlite3.OperationalError("it is being written all the time")


def _open_mode(path: str) -> str:
    with open(open_plain(path), "rb") as file:
        journalled = file.read(20)[18:20] == WAL
    for beside in ("-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):  # SQLite opens what is there, and would wait for a pipe
            if not stat.S_ISREG(os.lstat(path + beside).st_mode):
                raise sqlite3.OperationalError(f"its {beside} is not a regular file")
    if not journalled:
        return "mode=ro"
    log = os.path.getsize(f"{path}-wal") if os.path.exists(f"{path}-wal") else None
    if (log or 0) > LARGEST_LOG:
        raise LimitError(f"its -wal is larger than {LARGEST_LOG >> 20} MB")
    if log is not None and os.path.exists(f"{path}-shm"):
        return "mode=ro"
    if log:
        raise sqlite3.OperationalError("its -wal has no -shm beside it, and reading would make one")
    return "mode=ro&immutable=1"


def _open_database(path: str, how: str, limits: DatabaseLimits) -> sqlite3.Connection:
    place = f"file:{quote(os.fsencode(os.path.abspath(path)))}?{how}"
    database = sqlite3.connect(place, uri=True, timeout=limits.patience, isolation_level=None)
    database.text_factory = lambda content: content.decode("utf-8", "replace")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.value)
    database.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, min(limits.value, LONGEST_QUERY))
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    return database


class DatabaseReader:
    """One connection, and how much may still be read through it."""

    def __init__(
        self, database: sqlite3.Connection, tables: tuple[str, ...], limits: DatabaseLimits, until: float
    ) -> None:
        self._database, self._tables, self._limits, self._until = database, tables, limits, until
        self._rows = self._size = 0
        self._late = False
        database.set_progress_handler(self._tick, STEPS)
        with self._watched():
            for setting in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "query_only = ON"):
                database.execute(f"PRAGMA {setting}")
            database.execute("BEGIN")
            for table in tables:
                _check_plain(database, table)
        database.set_authorizer(self._may)

    def rows(self, query: str, *values: object) -> list[Row]:
        """All rows that a query finds, by lower-case names; LimitError where there are more than may be read."""
        found: list[Row] = []
        with self._watched():
            answer = self._database.execute(query, values)
            names = [str(each[0]).lower() for each in answer.description]
            for row in answer:
                self._count(row)
                found.append(dict(zip(names, row, strict=True)))
        return found

    def _count(self, row: tuple[object, ...]) -> None:
        self._rows += 1
        self._size += sum([len(value) for value in row if isinstance(value, str | bytes)])
        if self._rows > self._limits.rows:
            raise LimitError(f"more than {self._limits.rows:,} rows")
        if self._size > self._limits.size:
            raise LimitError(f"more than {self._limits.size >> 20} MB of values")

    def copy_to(self, target: sqlite3.Connection) -> None:
        """Copy the whole database, with all its tables; LimitError where it is larger than may be read."""
        with self._watched():
            (pages,), (size,) = [self._database.execute(f"PRAGMA {each}").fetchone() for each in SIZES]
            if pages * size > self._limits.size:
                raise LimitError(f"larger than {self._limits.size >> 20} MB")
            self._database.backup(target, pages=STEPS, progress=lambda *_: self._in_time())

    def _may(self, action: int, first: str | None, second: str | None, _base: str | None, within: str | None) -> int:
        """What a statement may do. ``within``: the view that it is part of."""
        reads = action == sqlite3.SQLITE_READ and str(first).lower() in self._tables
        counts = action == sqlite3.SQLITE_FUNCTION and second in FUNCTIONS
        measures = action == sqlite3.SQLITE_PRAGMA and first in SIZES and second is None
        fine = within is None and (action in ALLOWED or reads or counts or measures)
        return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY

    def _tick(self) -> int:
        self._late = time.monotonic() >= self._until
        return self._late

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        self._in_time()
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code == sqlite3.SQLITE_TOOBIG:
                raise LimitError(f"a value of more than {self._limits.value >> 20} MB") from error
            if code != sqlite3.SQLITE_INTERRUPT:
                raise
            if not self._late:  # a handler of a signal raised within `_tick`, from where no exception comes through
                raise KeyboardInterrupt from error
            self._in_time()

    def _in_time(self) -> None:
        if self._tick():
            raise LimitError(f"it takes longer than {format_duration(self._limits.seconds)}")


def _check_plain(database: sqlite3.Connection, table: str) -> None:
    """Raise where a name of ours stands for anything but stored rows."""
    made = "SELECT type, sql FROM sqlite_master WHERE lower(name) = ?"
    for kind, text in database.execute(made, (table,)):
        if kind != "table" or not str(text).upper().startswith("CREATE TABLE "):
            raise sqlite3.OperationalError(f"{table} is not a plain table; views and virtual tables are not read")
    for _, name, *_, hidden in database.execute(f"PRAGMA table_xinfo({table})"):
        if hidden in COMPUTED:
            raise sqlite3.OperationalError(f"column {name[:80]!r} of {table} is computed; it is not read")
