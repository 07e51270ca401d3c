"""Conversations that agents keep in SQLite. How one agent's databases are read stands in its folder.

How such a file is opened and what limits hold stands in ``system/foreign_database.py``. Reading is asked for only when
the size or time of the file or of its ``-wal`` has changed. A report has the words of ``midwatch.agents.transcripts``.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import TypeVar

from midwatch.agents import parts
from midwatch.agents.agent_files import AmbiguousConversationError
from midwatch.agents.database_format import DatabaseFormat
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system import foreign_database
from midwatch.system.foreign_database import DatabaseLimits, DatabaseReader, LimitError, Row, State
from midwatch.system.recent_files import SLACK

LIMITS = DatabaseLimits(seconds=2.0, rows=10_000, size=256 << 20, value=64 << 20, patience=0.2)
"""A watcher reads at each look, so a database must not hold it up."""
MOST = 512
MOST_ROWS = 4096
"""Answers that are remembered."""

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
        if (form := parts.database(running.agent)) is None or "/" in conversation:
            return None
        path = form.path(running, conversation, self._heads)
        who = (running.pid, running.start, conversation)
        try:
            if not path or not (state := foreign_database.database_state(path)):
                return None
            before = self._read.pop(who, ((), None))
            if before[0] != state:
                before = self._ask(
                    path, form.tables, lambda database: form.report(database, path, running, conversation)
                )
        except AmbiguousConversationError as error:
            return _unreadable_report(str(error))
        except (OSError, sqlite3.Error) as error:
            return _unreadable_report(f"{path} cannot be read: {error}")
        self._read[who] = before
        if len(self._read) > MOST:
            del self._read[next(iter(self._read))]
        return before[1]

    def since(self, running: RunningAgent) -> list[str]:
        """Ids of the conversations in the agent's directory that its shared database has as written since it started.

        Raises OSError or sqlite3.Error where they cannot be read.
        """
        if (form := parts.database(running.agent)) is None:
            return []
        own = (running.cwd, (running.started - SLACK) * 1000)
        return [str(row["id"]) for row in self._asked(form, running.environment, form.recent, own)]

    def holds(self, agent: str, environment: Environment, conversation: str) -> bool:
        """Whether an agent's shared database has a conversation. Raises as ``since``."""
        form = parts.database(agent)
        return form is not None and bool(self._asked(form, environment, form.held, (conversation,)))

    def _asked(
        self, form: DatabaseFormat, environment: Environment, query: str, values: tuple[object, ...]
    ) -> list[Row]:
        """Rows of a shared database; asked again only when it has changed."""
        path = form.shared_path(environment)
        if not path or not (state := foreign_database.database_state(path)):
            return []
        before = self._rows.pop((path, query, values), ((), []))
        if before[0] != state:
            before = self._ask(path, form.index, lambda database: database.rows(query, *values))
        self._rows[path, query, values] = before
        if len(self._rows) > MOST_ROWS:
            del self._rows[next(iter(self._rows))]
        return before[1]

    def _ask(self, path: str, tables: tuple[str, ...], ask: Callable[[DatabaseReader], T]) -> tuple[State, T]:
        """Read a database, unless it was too much for us and is still the same."""
        state = foreign_database.database_state(path)
        if self._refused.get(path, ((), ""))[0] == state:
            raise LimitError(self._refused[path][1])
        self._refused.pop(path, None)
        try:
            return foreign_database.read_tables(path, tables, LIMITS, ask)
        except LimitError as error:
            self._refused[path] = state, str(error)
            raise


def _unreadable_report(why: str) -> SourceReport:
    return SourceReport("transcript", None, {}, why)
