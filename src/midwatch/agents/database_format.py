"""How the databases of one agent are read. A folder's ``database.py`` has a subclass.

Only the tables that are named here can be asked; what limits hold stands in ``system/foreign_database.py``.
"""

from __future__ import annotations

from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system.foreign_database import DatabaseReader


class DatabaseFormat:
    tables: tuple[str, ...] = ()
    """Those that ``report`` asks."""
    index: tuple[str, ...] = ()
    """Those that list all conversations, where one database has them all."""
    recent: str = ""
    """Query of that index: rows of the conversations of a directory (1) that changed since a time in ms (2)."""
    held: str = ""
    """Query of that index: the row of a conversation (1)."""

    def path(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
        """The database of a running agent's conversation; empty for none."""
        raise NotImplementedError

    def shared_path(self, environment: Environment) -> str:  # noqa: ARG002  # a subclass needs it
        """The one database that has all conversations; empty where each has its own."""
        return ""

    def report(self, database: DatabaseReader, path: str, running: RunningAgent, wanted: str) -> SourceReport | None:
        """What an open database says; None where it has nothing of this agent. AmbiguousConversationError."""
        raise NotImplementedError
