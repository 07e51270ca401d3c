"""Conversations that agents keep in SQLite: OpenCode's ``opencode.db`` and agy's ``conversations/<id>.db``.

How such a file is opened and what limits hold stands in ``system/foreign_database.py``. Reading is asked for only when
the size or time of the file or of its ``-wal`` has changed.

OpenCode gives the words of ``midwatch.agents.transcripts``. Of agy, which has not been tried, only what is documented
is told: ``conversation``, ``path``, ``size`` (when it last changed), ``steps`` and the last step's ``step`` (its type)
and ``state``, both as its numbers; ``event`` is empty. Its transcript says more (``senses.transcripts``).
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from midwatch.agents import file_locations
from midwatch.agents.conversation_files import AmbiguousConversationError, agy_last
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.opencode.transcript import OpenCode
from midwatch.agents.transcripts.transcript_state import number
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system import foreign_database
from midwatch.system.foreign_database import DatabaseLimits, DatabaseReader, LimitError, Row, State
from midwatch.system.recent_files import SLACK

LIMITS = DatabaseLimits(seconds=2.0, rows=10_000, size=256 << 20, value=64 << 20, patience=0.2)
"""A watcher reads at each look, so a database must not hold it up."""
MOST = 512
LATEST = 20
"""Parts and sub-sessions among which the last change is looked for; their numbers grow with time."""
PARTS = 500
MOST_ROWS = 4096
"""Answers that are remembered."""
RECENT = "SELECT * FROM session WHERE directory = ? AND parent_id IS NULL AND time_updated >= ? AND id IS NOT NULL"

T = TypeVar("T")


class SqliteConversations:
    """Kept by a watcher from look to look, for all its agents."""

    def __init__(self) -> None:
        self._heads = FileHeadCache()
        self._read: dict[tuple[int, int, str], tuple[State, SourceReport | None]] = {}
        self._rows: dict[tuple[str, str, tuple[object, ...]], tuple[State, list[Row]]] = {}
        self._refused: dict[str, tuple[State, str]] = {}
        """Databases that went beyond a limit: in which state, and beyond which."""

    def read(self, running: RunningAgent, conversation: str = "") -> SourceReport | None:
        """What the agent's database says; None where it has none (yet), trouble where it cannot be read."""
        if running.agent not in READERS or "/" in conversation:
            return None
        find, tables, tell = READERS[running.agent]
        path = find(running, conversation, self._heads)
        who = (running.pid, running.start, conversation)
        try:
            if not path or not (state := foreign_database.state(path)):
                return None
            before = self._read.pop(who, ((), None))
            if before[0] != state:
                before = self._ask(path, tables, lambda database: tell(database, path, running, conversation))
        except AmbiguousConversationError as error:
            return _trouble(str(error))
        except (OSError, sqlite3.Error) as error:
            return _trouble(f"{path} cannot be read: {error}")
        self._read[who] = before
        if len(self._read) > MOST:
            del self._read[next(iter(self._read))]
        return before[1]

    def since(self, running: RunningAgent) -> list[str]:
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
        path = file_locations.opencode_database(environment)
        if not path or not (state := foreign_database.state(path)):
            return []
        before = self._rows.pop((path, query, values), ((), []))
        if before[0] != state:
            before = self._ask(path, ("session",), lambda database: database.rows(query, *values))
        self._rows[path, query, values] = before
        if len(self._rows) > MOST_ROWS:
            del self._rows[next(iter(self._rows))]
        return before[1]

    def _ask(self, path: str, tables: tuple[str, ...], ask: Callable[[DatabaseReader], T]) -> tuple[State, T]:
        """Read a database, unless it was too much for us and is still the same."""
        state = foreign_database.state(path)
        if self._refused.get(path, ((), ""))[0] == state:
            raise LimitError(self._refused[path][1])
        self._refused.pop(path, None)
        try:
            return foreign_database.read(path, tables, LIMITS, ask)
        except LimitError as error:
            self._refused[path] = state, str(error)
            raise


def _trouble(why: str) -> SourceReport:
    return SourceReport("transcript", None, {}, why)


# OpenCode -------------------------------------------------------------------------------------------------------


def _opencode_path(running: RunningAgent, _wanted: str, _heads: FileHeadCache) -> str:
    return file_locations.opencode_database(running.environment)


def _opencode(database: DatabaseReader, path: str, running: RunningAgent, wanted: str) -> SourceReport | None:
    if (session := _session(database, running, wanted)) is None:
        return None
    story = OpenCode()
    story.session(session)
    changed = [number(session.get("time_updated")) or 0]
    last = "SELECT id, time_updated, data FROM message WHERE session_id = ? ORDER BY time_created DESC, id DESC LIMIT 2"
    for row in reversed(database.rows(last, story.conversation)):
        parts = database.rows(
            "SELECT time_updated, data FROM part WHERE message_id = ? ORDER BY id LIMIT ?", row["id"], PARTS
        )
        story.tell(_object(row["data"]) | {"parts": [_object(part["data"]) for part in parts]})
        changed += [number(each["time_updated"]) or 0 for each in (row, *parts)]
    below = "SELECT id FROM session WHERE parent_id = ? ORDER BY time_updated DESC LIMIT ?"
    newest = "SELECT time_updated FROM part WHERE session_id = ? ORDER BY rowid DESC LIMIT ?"
    for child in (session, *database.rows(below, story.conversation, LATEST)):
        changed += [number(part["time_updated"]) or 0 for part in database.rows(newest, child["id"], LATEST)]
    return SourceReport("transcript", story.at, story.words() | {"path": path, "size": str(max(changed))})


def _session(database: DatabaseReader, running: RunningAgent, wanted: str) -> Row | None:
    if wanted := wanted or file_locations.asked_for(running.args):
        found = database.rows("SELECT * FROM session WHERE id = ?", wanted)
    else:
        found = database.rows(RECENT, running.cwd, (running.started - SLACK) * 1000)
    if len(found) > 1:
        raise AmbiguousConversationError(running.cwd)
    return found[0] if found else None


def _object(data: object) -> Row:
    try:
        found = json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {}


# agy ------------------------------------------------------------------------------------------------------------


def _agy_path(running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
    home = file_locations.agy_home(running.environment)
    named = home and (wanted or file_locations.asked_for(running.args) or agy_last(home, running, heads))
    return f"{home}/conversations/{named}.db" if named else ""


def _agy(database: DatabaseReader, path: str, _running: RunningAgent, _wanted: str) -> SourceReport | None:
    changed = max(each[2] for each in foreign_database.state(path) if each) // 1_000_000
    words = {"event": "", "open": "", "path": path, "size": str(changed)}
    words["conversation"] = os.path.basename(path).removesuffix(".db")
    for row in database.rows("SELECT count(*) AS steps FROM steps"):
        words["steps"] = str(row["steps"])
    for row in database.rows("SELECT step_type, status FROM steps ORDER BY idx DESC LIMIT 1"):
        words |= {"step": str(row["step_type"]), "state": str(row["status"])}
    return SourceReport("transcript", None, words)


READERS = {
    "opencode": (_opencode_path, ("session", "message", "part"), _opencode),
    "agy": (_agy_path, ("steps",), _agy),
}
