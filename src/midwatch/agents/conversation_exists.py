"""Whether an agent still has what it wrote of a conversation.

A conversation may stand under the name of any directory, so all of an agent's shelves are searched. Each is listed once
and again when its time of change is another; a conversation that was found costs one stat from then on, and one that
was not costs nothing as long as no shelf has changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cached_property

from midwatch.agents import parts
from midwatch.agents.agent_files import AgentFiles
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.core.presence import GONE, THERE, UNKNOWN
from midwatch.system.recent_files import RACY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.agents.sqlite_conversations import SqliteConversations


class ConversationIndex:
    """Kept from pass to pass; nothing is read anew within one pass."""

    def __init__(self) -> None:
        self._heads = FileHeadCache()
        self._found: dict[tuple[str, str, str], str] = {}
        self._libraries: dict[tuple[str, str], _AgentConversations] = {}
        self._mounted: dict[str, bool] = {}

    def begin(self) -> None:
        """Another pass: shelves may have changed."""
        self._mounted = {}
        for library in self._libraries.values():
            library.fresh = False

    def there(self, agent: str, conversation: str, environment: Environment) -> str:
        """THERE, GONE, or UNKNOWN where that cannot be seen from here."""
        if not conversation or "/" in conversation or "\0" in conversation or conversation.startswith("."):
            return UNKNOWN
        try:
            if not self._is_mounted(environment.get("HOME", "")):
                return UNKNOWN
            files = parts.files(agent)
            if not (home := files.home(environment)):
                return UNKNOWN
            if files.shared_database and (found := self._in_database(agent, conversation, environment)) != GONE:
                return found
            return self._on_shelf(agent, files, home.rstrip("/"), conversation)
        except (OSError, ValueError):  # may not be looked at, or is no name of a file
            return UNKNOWN

    def _is_mounted(self, home: str) -> bool:
        """Whether there is a home at all: a disk that is not mounted has not lost anything."""
        if home not in self._mounted:
            self._mounted[home] = os.path.isdir(home)
        return self._mounted[home]

    def _on_shelf(self, agent: str, files: AgentFiles, home: str, conversation: str) -> str:
        known = self._found.get((agent, home, conversation), "")
        if known and _exists(known):
            return THERE
        for form in files.direct:
            if _exists(path := f"{home}/{form.format(conversation)}"):
                self._found[agent, home, conversation] = path
                return THERE
        library = self._libraries.setdefault((agent, home), _AgentConversations(files, home))
        path = library.find(conversation)
        if not path:
            return GONE
        if files.id_length and files.story and self._heads.story(path, files.story).conversation != conversation:
            return UNKNOWN  # the name holds but a part of the id
        self._found[agent, home, conversation] = path
        return THERE

    @cached_property
    def databases(self) -> SqliteConversations:
        from midwatch.agents.sqlite_conversations import SqliteConversations  # noqa: PLC0415  # few agents have one

        return SqliteConversations()

    def _in_database(self, agent: str, conversation: str, environment: Environment) -> str:
        from sqlite3 import Error  # noqa: PLC0415  # few agents have one

        try:
            return THERE if self.databases.holds(agent, environment, conversation) else GONE
        except Error:
            return UNKNOWN


class _AgentConversations:
    """All shelves of one agent's home."""

    def __init__(self, files: AgentFiles, home: str) -> None:
        self._kinds = files.places
        self._length = files.id_length
        self._home = home
        self._shelves: dict[str, _ConversationFolder] = {}
        self._full: list[_ConversationFolder] = []
        self._missing: set[str] = set()
        self.fresh = False

    def find(self, conversation: str) -> str:
        if not self.fresh:
            self._refresh()
        if conversation in self._missing:
            return ""
        for shelf in self._full:
            if name := shelf.names.get(self._key(conversation)):
                return f"{shelf.path}/{name}"
        self._missing.add(conversation)
        return ""

    def _key(self, conversation: str) -> str:
        return conversation[: self._length] if self._length else conversation

    def _refresh(self) -> None:
        changed, full = False, []
        for kind in self._kinds:
            paths = [f"{self._home}/{kind.top}"]
            for _ in range(kind.depth):
                tops = [self._looked(path, str) for path in paths]
                changed |= any(top.changed for top in tops)
                paths = [f"{top.path}/{name}" for top in tops for name in top.names]
            paths = [f"{path}/{kind.inner}" for path in paths] if kind.inner else paths
            full += [self._looked(path, kind.conversation) for path in paths]
        if changed or any(shelf.changed for shelf in full):
            self._missing.clear()
        self._full, self.fresh = full, True

    def _looked(self, path: str, key: Callable[[str], str]) -> _ConversationFolder:
        shelf = self._shelves.setdefault(path, _ConversationFolder(path, key))
        shelf.observe()
        return shelf


class _ConversationFolder:
    """One directory: what its files' names tell."""

    def __init__(self, path: str, key: Callable[[str], str]) -> None:
        self.path = path
        self.names: dict[str, str] = {}
        self.changed = False
        self._key = key
        self._mark: tuple[int, ...] = (0,)

    def observe(self) -> None:
        try:
            now = os.stat(self.path)
            mark: tuple[int, ...] = (now.st_dev, now.st_ino, now.st_mtime_ns)
        except (FileNotFoundError, NotADirectoryError):
            mark = ()
        self.changed = mark != self._mark
        if self.changed:
            racy = bool(mark) and time.time() - mark[-1] / 1e9 < RACY
            self.names = {key: name for name in (_file_names(self.path) if mark else ()) if (key := self._key(name))}
            self._mark = (0,) if racy else mark


def _file_names(path: str) -> list[str]:
    try:
        return os.listdir(path)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _exists(path: str) -> bool:
    """As ``os.path.exists``, but who may not look is told so."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
