"""The journal's file: how it is made, opened and, when it is damaged, put aside.

It is made under another name and linked into place, so whoever finds it finds it whole. Opening holds a shared lock on
the directory and putting aside an exclusive one: a new journal must never meet the write-ahead log of the old one.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator

from dogwatch.model.errors import RefusedError

FILE = "journal.sqlite"
ASIDE = f"{FILE}.bad-"
VERSION = 1
PATIENCE = 10.0
"""Seconds to wait for whoever writes."""
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
SHAPE = f"""
CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, n INTEGER, at REAL NOT NULL, name TEXT NOT NULL,
    event TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (run, n)
);
CREATE INDEX events_of_a_name ON events (name, seq);
CREATE TABLE spools (file TEXT PRIMARY KEY, inode INTEGER, size INTEGER, offset INTEGER) WITHOUT ROWID;
PRAGMA user_version = {VERSION};
"""


class DamagedError(sqlite3.DatabaseError):
    """There is a file, but it is no journal (any more)."""

    def __init__(self, why: str, inode: int) -> None:
        super().__init__(why)
        self.inode = inode


def damaged(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0)
    return isinstance(error, DamagedError) or code & 0xFF in DAMAGE


def in_memory() -> sqlite3.Connection:
    """A journal for one call only."""
    database = sqlite3.connect(":memory:", isolation_level=None)
    database.executescript(SHAPE)
    return database


def opened(directory: str) -> tuple[sqlite3.Connection, int]:
    """The journal of a directory, made if there is none, and its inode. Raises sqlite3.Error, OSError, RefusedError."""
    path = f"{directory}/{FILE}"
    with _locked(directory, fcntl.LOCK_SH) as folder:
        if os.path.islink(path):
            raise RefusedError(f"{path} is a symbolic link; remove it and try again")
        if not os.path.exists(path):
            _make(directory, path)
            os.fsync(folder)  # spools are removed because it is there
        inode = inode_of(directory)
        database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        try:
            if not check(database, path):
                raise DamagedError("it is no journal", inode)
            database.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        except sqlite3.Error as error:
            database.close()
            raise DamagedError(str(error), inode) if damaged(error) else error from error
        except RefusedError:
            database.close()
            raise
        return database, inode


def check(database: sqlite3.Connection, path: str) -> bool:
    """Whether it is a journal. One of a newer Dogwatch is refused."""
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        newer = f"{path} was made by a newer Dogwatch (its version is {version}, this one knows {VERSION})"
        raise RefusedError(f"{newer}; use that one, or another --dir")
    return bool(version == VERSION)


def _make(directory: str, path: str) -> None:
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


def put_aside(directory: str, inode: int) -> str:
    """Rename a damaged journal, with its log, if it is still that one. Returns its new path; empty: it was done."""
    path = f"{directory}/{FILE}"
    with _locked(directory, fcntl.LOCK_EX):
        if inode_of(directory) != inode:
            return ""
        aside = f"{directory}/{ASIDE}{time.strftime('%Y%m%d-%H%M%S')}"
        while os.path.lexists(aside):
            aside += "+"
        for suffix in ("-wal", "-shm", ""):  # itself last: only then is a new one made
            with contextlib.suppress(FileNotFoundError):
                os.rename(path + suffix, aside + suffix)
        return aside


def inode_of(directory: str) -> int:
    """Which file the journal is at this moment; 0 where there is none."""
    try:
        return os.lstat(f"{directory}/{FILE}").st_ino
    except OSError:
        return 0


@contextlib.contextmanager
def _locked(directory: str, how: int) -> Iterator[int]:
    fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):  # a file system without such locks: then only chance protects it
            fcntl.flock(fd, how)
        yield fd
    finally:
        os.close(fd)
