"""Conversations of a directory that were written since a moment: any of them may be the one that somebody began there.

Some agents name a directory by a key that other directories may share, so only what stands in the file tells where it
belongs. Files of sub-agents, and such as do not say yet whose they are, are none.
"""

from __future__ import annotations

from functools import cached_property

from midwatch.agents import parts
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.core.pane_model import RunningAgent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.agents.sqlite_conversations import SqliteConversations


class UnreadableConversationError(Exception):
    """What has arrived cannot be told."""


class NewConversations:
    """Kept from pass to pass: while no directory changes, only the few files that were found are looked at."""

    def __init__(self) -> None:
        self._heads = FileHeadCache(few=0)

    def since(self, running: RunningAgent) -> set[str]:
        """Ids of the conversations in its directory that were written since it started."""
        files = parts.files(running.agent)
        try:
            return (
                set(self._in_database(running))
                if files.shared_database
                else files.written_conversations(running, self._heads)
            )
        except OSError as error:
            raise UnreadableConversationError from error

    @cached_property
    def databases(self) -> SqliteConversations:
        from midwatch.agents.sqlite_conversations import SqliteConversations  # noqa: PLC0415  # few agents have one

        return SqliteConversations()

    def _in_database(self, running: RunningAgent) -> list[str]:
        from sqlite3 import Error  # noqa: PLC0415  # few agents have one

        try:
            return self.databases.since(running)
        except Error as error:
            raise UnreadableConversationError from error
