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

from midwatch.agents import file_locations
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.gemini.transcript import Gemini
from midwatch.core.presence import GONE, THERE, UNKNOWN
from midwatch.core.value import Value
from midwatch.system.recent_files import RACY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.agents.sqlite_conversations import SqliteConversations

SHORT = 8
"""Characters of an id that Gemini CLI's file names end with."""

Environment = dict[str, str]


def _stem(name: str) -> str:
    return name.removesuffix(".jsonl") if name.endswith(".jsonl") else ""


def _short(name: str) -> str:
    stem, _, kind = name.rpartition(".")
    return stem[-SHORT:] if name.startswith("session-") and kind in ("json", "jsonl") else ""


class ConversationPlaces(Value):
    """Directories of an agent: at some depth below one of its home, each with a directory of this name in it or not."""

    top: str
    depth: int
    inner: str
    conversation: Callable[[str], str]
    """The id that the name of a file tells; empty for other files."""


class AgentHome(Value):
    place: Callable[[Environment], str]
    shelves: tuple[ConversationPlaces, ...]
    direct: tuple[str, ...] = ()
    """Where a conversation of an id is, if it is not on a shelf."""


HOMES = {
    "claude": AgentHome(file_locations.claude_home, (ConversationPlaces("projects", 1, "", _stem),)),
    "codex": AgentHome(
        file_locations.codex_home,
        (
            ConversationPlaces("sessions", 3, "", file_locations.rollout_id),
            ConversationPlaces("archived_sessions", 0, "", file_locations.rollout_id),
        ),
    ),
    "gemini": AgentHome(file_locations.gemini_home, (ConversationPlaces("tmp", 1, "chats", _short),)),
    "qwen": AgentHome(file_locations.qwen_home, (ConversationPlaces("projects", 1, "chats", _stem),)),
    "agy": AgentHome(file_locations.agy_home, (), ("conversations/{}.db", "conversations/{}.pb", "brain/{}")),
}


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
            if agent == "opencode":
                return self._in_database(conversation, environment)
            if agent not in HOMES or not (home := HOMES[agent].place(environment)):
                return UNKNOWN
            return self._on_shelf(agent, home.rstrip("/"), conversation)
        except (OSError, ValueError):  # may not be looked at, or is no name of a file
            return UNKNOWN

    def _is_mounted(self, home: str) -> bool:
        """Whether there is a home at all: a disk that is not mounted has not lost anything."""
        if home not in self._mounted:
            self._mounted[home] = os.path.isdir(home)
        return self._mounted[home]

    def _on_shelf(self, agent: str, home: str, conversation: str) -> str:
        known = self._found.get((agent, home, conversation), "")
        if known and _exists(known):
            return THERE
        for form in HOMES[agent].direct:
            if _exists(path := f"{home}/{form.format(conversation)}"):
                self._found[agent, home, conversation] = path
                return THERE
        library = self._libraries.setdefault((agent, home), _AgentConversations(agent, home))
        path = library.find(conversation)
        if not path:
            return GONE
        if agent == "gemini" and self._heads.story(path, Gemini).conversation != conversation:
            return UNKNOWN  # the name holds but a part of the id
        self._found[agent, home, conversation] = path
        return THERE

    @cached_property
    def databases(self) -> SqliteConversations:
        from midwatch.agents.sqlite_conversations import SqliteConversations  # noqa: PLC0415  # few have OpenCode

        return SqliteConversations()

    def _in_database(self, conversation: str, environment: Environment) -> str:
        from sqlite3 import Error  # noqa: PLC0415  # few have OpenCode

        try:
            if self.databases.holds(environment, conversation):
                return THERE
        except Error:
            return UNKNOWN
        older = f"{os.path.dirname(file_locations.opencode_database(environment))}/storage/session"
        found = any(_exists(f"{older}/{name}/{conversation}.json") for name in _names(older))
        return THERE if found else GONE


class _AgentConversations:
    """All shelves of one agent's home."""

    def __init__(self, agent: str, home: str) -> None:
        self._kinds = HOMES[agent].shelves
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
        return conversation[:SHORT] if self._kinds[0].conversation is _short else conversation

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
        shelf.look()
        return shelf


class _ConversationFolder:
    """One directory: what its files' names tell."""

    def __init__(self, path: str, key: Callable[[str], str]) -> None:
        self.path = path
        self.names: dict[str, str] = {}
        self.changed = False
        self._key = key
        self._mark: tuple[int, ...] = (0,)

    def look(self) -> None:
        try:
            now = os.stat(self.path)
            mark: tuple[int, ...] = (now.st_dev, now.st_ino, now.st_mtime_ns)
        except (FileNotFoundError, NotADirectoryError):
            mark = ()
        self.changed = mark != self._mark
        if self.changed:
            racy = bool(mark) and time.time() - mark[-1] / 1e9 < RACY
            self.names = {key: name for name in (_names(self.path) if mark else ()) if (key := self._key(name))}
            self._mark = (0,) if racy else mark


def _names(path: str) -> list[str]:
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
