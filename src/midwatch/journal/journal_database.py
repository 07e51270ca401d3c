"""The journal's file: how it is made, opened and, when it is damaged, put aside.

It is made under another name and linked into place, so whoever finds it finds it whole. Opening holds a shared lock on
the directory and putting aside an exclusive one: a new journal must never meet the write-ahead log of the old one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Iterator

from midwatch.core.errors import RefusedError
from midwatch.journal import codec as journal_codec
from midwatch.system import file_locks

FILE = "journal.sqlite"
ASIDE = f"{FILE}.bad-"
VERSION = 1
TEMPORARY = re.compile(re.escape(f".{FILE}.") + "[0-9a-f]{8}(-journal|-wal|-shm)?")
"""Files of a journal that is being made."""
MAKING = 1.0
"""Seconds to wait for whoever makes one before what others left behind is removed."""
PATIENCE = 10.0
"""Seconds to wait for whoever writes."""
NEWEST = 255
"""Versions that a later release may have; a higher number is damage."""
FROM_OUTSIDE = (
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_ABORT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_MISUSE, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_AUTH,
)  # fmt: skip
"""Errors whose cause is not in the file. All others are: the questions that a journal is asked never change."""
SHAPE = f"""
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, n INTEGER, at REAL NOT NULL, name TEXT NOT NULL,
    event TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (run, n)
);
CREATE INDEX events_of_a_name ON events (name, seq);
CREATE TABLE spools (file TEXT PRIMARY KEY, inode INTEGER, size INTEGER, offset INTEGER) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""
ODD = """
SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')
    OR sql NOT LIKE 'CREATE TABLE %' AND sql NOT LIKE 'CREATE INDEX %'
"""


LAST_NUMBER = 1 << 53
"""Beyond it a number of an event is damage: no time gives so many, and JSON's readers keep no higher ones apart."""
UNNUMBERED = "SELECT count(*) FROM sqlite_sequence WHERE typeof(seq) <> 'integer' OR seq NOT BETWEEN 0 AND ?"


class DamagedError(sqlite3.DatabaseError):
    """There is a file, but it is no journal (any more)."""

    def __init__(self, why: str, inode: int = 0) -> None:
        """``inode``: which file; 0 for the one that is open."""
        super().__init__(why)
        self.inode = inode


def is_damage(error: Exception, path: str) -> bool:
    """Whether an error of SQLite, or of reading its messages, says that the file is no journal any more."""
    if isinstance(error, DamagedError | UnicodeDecodeError):  # a message quotes the schema as it stands
        return True
    code = getattr(error, "sqlite_errorcode", None)
    if code == sqlite3.SQLITE_READONLY and os.access(path, os.W_OK):
        return True  # its header says so; asked of the system, for to open the file here would end SQLite's locks on it
    if code is None:  # the module's own: a text that is not UTF-8; all others would be misuse
        return isinstance(error, sqlite3.OperationalError)
    return code & 0xFF not in FROM_OUTSIDE


def open_in_memory() -> sqlite3.Connection:
    """A journal for one call only."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.executescript(SHAPE)
    return database


def open_journal(directory: str) -> tuple[sqlite3.Connection, int]:
    """The journal of a directory, made if there is none, and its inode. Raises sqlite3.Error, OSError, RefusedError."""
    path = f"{directory}/{FILE}"
    if _may_have_been_left(path):
        _remove_left(directory)
    with _hold_lock(directory, fcntl.LOCK_SH) as folder:
        if os.path.islink(path):
            raise RefusedError(f"{path} is a symbolic link; remove it and try again")
        if not os.path.exists(path):
            _create_journal(directory, path)
            os.fsync(folder)  # spools are removed because it is there
        inode = journal_inode(directory)
        if not os.path.isfile(path):
            raise DamagedError("it is no plain file", inode)
        database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            if not check_database(database, path):
                raise DamagedError("it is no journal", inode)
            database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            database.close()
            raise DamagedError(str(error), inode) if is_damage(error, path) else error from error
        except RefusedError:
            database.close()
            raise
        return database, inode


def check_database(database: sqlite3.Connection, path: str) -> bool:
    """Whether it is a journal. One of a newer Midwatch is refused."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if VERSION < version <= NEWEST:
        newer = f"{path} was made by a newer Midwatch (its version is {version}, this one knows {VERSION})"
        raise RefusedError(f"{newer}; use that one, or another --dir")
    # A view, a trigger or a virtual table would run code of whoever wrote the file.
    odd = database.execute(ODD).fetchone()[0]
    computed = database.execute("SELECT count(*) FROM pragma_table_xinfo('events') WHERE hidden").fetchone()[0]
    numbered = version == VERSION and not database.execute(UNNUMBERED, (LAST_NUMBER,)).fetchone()[0]
    return numbered and not odd and not computed


def _create_journal(directory: str, path: str) -> None:
    temporary = f"{directory}/.{FILE}.{os.urandom(4).hex()}"
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as database:
            database.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {SHAPE}")
            if any(entry.startswith(ASIDE) for entry in os.listdir(directory)):
                # Beyond any number that the damaged one can have given: no listener skips what comes now.
                database.execute("INSERT INTO sqlite_sequence VALUES ('events', ?)", (time.time_ns() // 1_000_000,))
        with contextlib.suppress(FileExistsError):  # somebody else made one just now
            os.link(temporary, path)
    finally:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary + suffix)


def _may_have_been_left(path: str) -> bool:
    """Whether somebody may have been killed while a journal was made: there is none yet, or it has another name too."""
    try:
        return os.lstat(path).st_nlink > 1
    except OSError:
        return True


def _remove_left(directory: str) -> None:
    """Remove what was left behind by makers that were killed: each that lives holds a shared lock on the directory."""
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if file_locks.lock_within(fd, MAKING):
            for name in filter(TEMPORARY.fullmatch, os.listdir(fd)):
                os.unlink(name, dir_fd=fd)
    except OSError:  # no such locks here, or a read-only disk: it does no harm
        pass
    finally:
        os.close(fd)


def set_aside(directory: str, inode: int) -> str:
    """Rename a damaged journal, with its log, if it is still that one. Returns its new path; empty: it was done."""
    path = f"{directory}/{FILE}"
    with _hold_lock(directory, fcntl.LOCK_EX):
        if journal_inode(directory) != inode:
            return ""
        aside = f"{directory}/{ASIDE}{time.strftime('%Y%m%d-%H%M%S')}"
        while os.path.lexists(aside):
            aside += "+"
        for suffix in ("-wal", "-shm", ""):  # itself last: only then is a new one made
            with contextlib.suppress(FileNotFoundError):
                os.rename(path + suffix, aside + suffix)
        return aside


def journal_inode(directory: str) -> int:
    """Which file the journal is at this moment; 0 where there is none."""
    try:
        return os.lstat(f"{directory}/{FILE}").st_ino
    except OSError:
        return 0


@contextlib.contextmanager
def _hold_lock(directory: str, how: int) -> Iterator[int]:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without such locks: then only chance protects it
            fcntl.flock(fd, how)
        yield fd
    finally:
        os.close(fd)


# What a damaged file may hold in the place of a value


def to_number(found: object) -> int:
    if type(found) is not int or not 0 <= found < 1 << 63:
        raise DamagedError(f"{found!r:.20} is no number")
    return found


def to_moment(found: object) -> float:
    if type(found) is not float or not abs(found) < journal_codec.LATEST:
        raise DamagedError(f"{found!r:.20} is no time")
    return found


def to_text(found: object) -> str:
    if type(found) is not str:
        raise DamagedError(f"{found!r:.20} is no text")
    return found
