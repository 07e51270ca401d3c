"""Conversations that agents keep in SQLite: OpenCode's ``opencode.db`` and agy's ``conversations/<id>.db``.

Both are in WAL mode. What opening such a database for reading does (``mode=ro``, tried with SQLite 3.40):

- while ``-wal`` and ``-shm`` are there, it reads what is committed, blocks no writer and leaves no file behind;
- when they are not, it *creates* both and leaves them. Then everything is in the main file, and it is opened with
  ``immutable=1``, which creates nothing and heeds no lock; what was read counts only if the file did not change;
- with ``-wal`` but no ``-shm`` (the index is gone), it would create the ``-shm``: that is left alone and reported.

A connection is open only while it reads: the last one to close a database that its writer has left cleans up, and we
may not. Reading is asked for only when the size or time of the file or of its ``-wal`` has changed.

OpenCode gives the words of ``dogwatch.formats.transcripts``. Of agy, which has not been tried, only what is documented
is told: ``conversation``, ``path``, ``size`` (when it last changed), ``steps`` and the last step's ``step`` (its type)
and ``state``, both as its numbers; ``event`` is empty. Its transcript says more (``senses.transcripts``).
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import quote

from dogwatch.formats.transcripts import places
from dogwatch.formats.transcripts.opencode import OpenCode
from dogwatch.formats.transcripts.story import number
from dogwatch.lean import open_plain
from dogwatch.model.session import Report, Running
from dogwatch.senses.conversations import UnclearError, agy_last
from dogwatch.senses.heads import Heads
from dogwatch.senses.recent import SLACK

PATIENCE = 0.2
"""Seconds to wait for a lock."""
TRIES = 3
MOST = 512
WAL = b"\2\2"
"""Bytes 18 and 19 of a database in WAL mode."""
LATEST = 20
"""Parts and sub-sessions among which the last change is looked for; their numbers grow with time."""
PARTS = 500
MOST_ROWS = 4096
"""Answers that are remembered."""
RECENT = "SELECT * FROM session WHERE directory = ? AND parent_id IS NULL AND time_updated >= ?"

T = TypeVar("T")
State = tuple[tuple[int, ...], ...]
Row = dict[str, object]


class Databases:
    """Kept by a watcher from look to look, for all its agents."""

    def __init__(self) -> None:
        self._heads = Heads()
        self._read: dict[tuple[int, int, str], tuple[State, Report | None]] = {}
        self._rows: dict[tuple[str, str, tuple[object, ...]], tuple[State, list[Row]]] = {}

    def read(self, running: Running, conversation: str = "") -> Report | None:
        """What the agent's database says; None where it has none (yet), trouble where it cannot be read."""
        if running.agent not in READERS or "/" in conversation:
            return None
        find, tell = READERS[running.agent]
        path = find(running, conversation, self._heads)
        who = (running.pid, running.start, conversation)
        try:
            if not path or not (state := _state(path)):
                return None
            before = self._read.pop(who, ((), None))
            if before[0] != state:
                before = _settled(path, lambda database: tell(database, path, running, conversation))
        except UnclearError as error:
            return _trouble(str(error))
        except (OSError, sqlite3.Error) as error:
            return _trouble(f"{path} cannot be read: {error}")
        self._read[who] = before
        if len(self._read) > MOST:
            del self._read[next(iter(self._read))]
        return before[1]

    def since(self, running: Running) -> list[str]:
        """Ids of OpenCode's conversations in the agent's directory that were written since it started.

        Raises OSError or sqlite3.Error where they cannot be read.
        """
        own = (running.cwd, (running.started - SLACK) * 1000)
        return [str(row["id"]) for row in self._asked(running.environment, RECENT, own)]

    def holds(self, environment: dict[str, str], conversation: str) -> bool:
        """Whether OpenCode's database has a conversation. Raises as ``since``."""
        return bool(self._asked(environment, "SELECT id FROM session WHERE id = ?", (conversation,)))

    def _asked(self, environment: dict[str, str], query: str, values: tuple[object, ...]) -> list[Row]:
        """Rows of OpenCode's database; asked again only when it has changed."""
        path = places.opencode_database(environment)
        if not path or not (state := _state(path)):
            return []
        before = self._rows.pop((path, query, values), ((), []))
        if before[0] != state:
            before = _settled(path, lambda database: _rows(database, query, *values))
        self._rows[path, query, values] = before
        if len(self._rows) > MOST_ROWS:
            del self._rows[next(iter(self._rows))]
        return before[1]


def _trouble(why: str) -> Report:
    return Report("transcript", None, {}, why)


# Opening without a trace ----------------------------------------------------------------------------------------


def _state(path: str) -> State:
    """What changes whenever something is written; empty where there is no database."""
    found: list[tuple[int, ...]] = []
    for each in (path, f"{path}-wal"):
        try:
            now = os.stat(each)
            found.append((now.st_ino, now.st_size, now.st_mtime_ns))
        except (FileNotFoundError, NotADirectoryError):
            found.append(())
    return tuple(found) if found[0] else ()


def _settled(path: str, read: Callable[[sqlite3.Connection], T]) -> tuple[State, T]:
    """Read, again if the file changed meanwhile and nothing locked it."""
    for _ in range(TRIES):
        state, how = _state(path), _how(path)
        with contextlib.closing(_open(path, how)) as database:
            found = read(database)
        if how == "mode=ro" or _state(path) == state:
            return state, found
    raise sqlite3.OperationalError("it is being written all the time")


def _how(path: str) -> str:
    with open(open_plain(path), "rb") as file:
        if file.read(20)[18:20] != WAL:
            return "mode=ro"
    log, index = os.path.exists(f"{path}-wal"), os.path.exists(f"{path}-shm")
    if log and index:
        return "mode=ro"
    if log and os.path.getsize(f"{path}-wal"):
        raise sqlite3.OperationalError("its -wal has no -shm beside it, and reading would make one")
    return "mode=ro&immutable=1"


def _open(path: str, how: str) -> sqlite3.Connection:
    database = sqlite3.connect(f"file:{quote(os.fsencode(path))}?{how}", uri=True, timeout=PATIENCE)
    database.row_factory = sqlite3.Row
    database.text_factory = lambda content: content.decode("utf-8", "replace")
    return database


def _rows(database: sqlite3.Connection, query: str, *values: object) -> list[Row]:
    return [dict(row) for row in database.execute(query, values)]


# OpenCode -------------------------------------------------------------------------------------------------------


def _opencode_path(running: Running, _wanted: str, _heads: Heads) -> str:
    return places.opencode_database(running.environment)


def _opencode(database: sqlite3.Connection, path: str, running: Running, wanted: str) -> Report | None:
    if (session := _session(database, running, wanted)) is None:
        return None
    story = OpenCode()
    story.session(session)
    changed = [number(session.get("time_updated")) or 0]
    last = "SELECT id, time_updated, data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 2"
    for row in reversed(_rows(database, last, story.conversation)):
        parts = _rows(
            database, "SELECT time_updated, data FROM part WHERE message_id = ? ORDER BY id LIMIT ?", row["id"], PARTS
        )
        story.tell(_object(row["data"]) | {"parts": [_object(part["data"]) for part in parts]})
        changed += [number(each["time_updated"]) or 0 for each in (row, *parts)]
    below = "SELECT id FROM session WHERE parent_id = ? ORDER BY time_updated DESC LIMIT ?"
    newest = "SELECT time_updated FROM part WHERE session_id = ? ORDER BY rowid DESC LIMIT ?"
    for child in (session, *_rows(database, below, story.conversation, LATEST)):
        changed += [number(part["time_updated"]) or 0 for part in _rows(database, newest, child["id"], LATEST)]
    return Report("transcript", story.at, story.words() | {"path": path, "size": str(max(changed))})


def _session(database: sqlite3.Connection, running: Running, wanted: str) -> Row | None:
    if wanted := wanted or places.asked_for(running.args):
        found = _rows(database, "SELECT * FROM session WHERE id = ?", wanted)
    else:
        found = _rows(database, RECENT, running.cwd, (running.started - SLACK) * 1000)
    if len(found) > 1:
        raise UnclearError(running.cwd)
    return found[0] if found else None


def _object(data: object) -> Row:
    try:
        found = json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


# agy ------------------------------------------------------------------------------------------------------------


def _agy_path(running: Running, wanted: str, heads: Heads) -> str:
    home = places.agy_home(running.environment)
    named = home and (wanted or places.asked_for(running.args) or agy_last(home, running, heads))
    return f"{home}/conversations/{named}.db" if named else ""


def _agy(database: sqlite3.Connection, path: str, _running: Running, _wanted: str) -> Report | None:
    changed = max(each[2] for each in _state(path) if each) // 1_000_000
    words = {"event": "", "open": "", "path": path, "size": str(changed)}
    words["conversation"] = os.path.basename(path).removesuffix(".db")
    for row in _rows(database, "SELECT count(*) AS steps FROM steps"):
        words["steps"] = str(row["steps"])
    for row in _rows(database, "SELECT step_type, status FROM steps ORDER BY idx DESC LIMIT 1"):
        words |= {"step": str(row["step_type"]), "state": str(row["status"])}
    return Report("transcript", None, words)


READERS = {"opencode": (_opencode_path, _opencode), "agy": (_agy_path, _agy)}
