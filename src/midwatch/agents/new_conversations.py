"""Conversations of a directory that were written since a moment: any of them may be the one that somebody began there.

Claude Code and Qwen Code name a directory by a key that other directories may share, so only what stands in the file
tells where it belongs. Files of sub-agents, and such as do not say yet whose they are, are none.
"""

from __future__ import annotations

import os
from functools import cached_property

from midwatch.agents import conversation_files, file_locations
from midwatch.agents.conversation_files import LAYOUTS
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.core.pane_model import RunningAgent
from midwatch.system.recent_files import SLACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.agents.sqlite_conversations import SqliteConversations

BY_NAME = ("claude", "qwen")
"""Agents whose files are called like the conversation; their lines may tell the id of one that it came from."""


class UnreadableError(Exception):
    """What has arrived cannot be told."""


class NewConversations:
    """Kept from pass to pass: while no directory changes, only the few files that were found are looked at."""

    def __init__(self) -> None:
        self._heads = FileHeadCache(few=0)

    def since(self, running: RunningAgent) -> set[str]:
        """Ids of the conversations in its directory that were written since it started."""
        try:
            if running.agent == "opencode":
                return set(self._in_database(running))
            if running.agent == "agy":
                return self._agy(running)
            return self._in_files(running) if running.agent in LAYOUTS else set()
        except OSError as error:
            raise UnreadableError from error

    @cached_property
    def databases(self) -> SqliteConversations:
        from midwatch.agents.sqlite_conversations import SqliteConversations  # noqa: PLC0415  # few have OpenCode

        return SqliteConversations()

    def _in_database(self, running: RunningAgent) -> list[str]:
        from sqlite3 import Error  # noqa: PLC0415  # few have OpenCode

        try:
            return self.databases.since(running)
        except Error as error:
            raise UnreadableError from error

    def _in_files(self, running: RunningAgent) -> set[str]:
        found = set()
        layout = LAYOUTS[running.agent]
        for path in conversation_files.since(running.agent, running, self._heads):
            try:
                head = self._heads.story(path, layout.story)
            except FileNotFoundError:
                continue
            if not head.side and head.home in (running.cwd, file_locations.digest(running.cwd)):
                name = os.path.basename(path).removesuffix(".jsonl") if running.agent in BY_NAME else head.conversation
                found.add(name if file_locations.ID.match(name) else "")
        return found - {""}

    def _agy(self, running: RunningAgent) -> set[str]:
        """What agy noted last for the directory may be another's of long ago; its database must have been written."""
        home = file_locations.agy_home(running.environment)
        last = conversation_files.agy_last(home, running, self._heads) if home else ""
        if not last:
            return set()
        base = f"{home}/conversations/{last}.db"
        written = max(_changed(base), _changed(f"{base}-wal"))
        return {last} if written / 1e9 >= running.started - SLACK else set()


def _changed(path: str) -> int:
    """When it was last written, in nanoseconds; 0 where it is not there."""
    try:
        return os.stat(path).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
