"""Gemini CLI's files: ``tmp/<project>/chats/session-<time>-<beginning of the id>.jsonl`` (older: ``.json``).

They are below ``.gemini`` in GEMINI_CLI_HOME, else in the home directory; ``projects.json`` names the projects.
"""

from __future__ import annotations

import os

from midwatch.agents import file_locations
from midwatch.agents.agent_files import AgentFiles, ConversationPlaces, list_names
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.agents.gemini.transcript import Gemini
from midwatch.agents.transcripts.transcript_state import TranscriptState
from midwatch.core.pane_model import RunningAgent
from midwatch.system.recent_files import find_recent

SHORT = 8
"""Characters of an id that the names of its files end with."""


def _short(name: str) -> str:
    stem, _, kind = name.rpartition(".")
    return stem[-SHORT:] if name.startswith("session-") and kind in ("json", "jsonl") else ""


class GeminiFiles(AgentFiles):
    story = Gemini
    ends = (".jsonl", ".json")
    begins = "session-"
    id_length = SHORT
    places = (ConversationPlaces("tmp", 1, "chats", _short),)

    def home(self, environment: Environment) -> str:
        below = file_locations.path_below
        return below(environment, "GEMINI_CLI_HOME", ".gemini") or below(environment, "HOME", ".gemini")

    def arrivals(self, environment: Environment, day: str) -> list[str]:  # noqa: ARG002  # all days are in one place
        """The first names the directories in the second."""
        home = self.home(environment)
        return [home, f"{home}/tmp"] if home else []  # noqa: S108  # no directory of the system

    def shelves(self, running: RunningAgent, heads: FileHeadCache) -> list[str]:
        """By the names that are noted for the directory, and by what projects say of themselves."""
        if not (home := self.home(running.environment)):
            return []
        top = os.path.join(home, "tmp")
        noted = names(running.cwd, heads.data(f"{home}/projects.json"))
        found = dict.fromkeys(
            (*noted, *(name for name in list_names(top) if _root(f"{top}/{name}", heads) == running.cwd))
        )
        return [f"{top}/{name}/chats" for name in found]

    def find(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
        if not (wanted := wanted or file_locations.requested_conversation(running.args)):
            return self.only_path(running, heads)
        ends = tuple(f"-{wanted[:SHORT]}{suffix}" for suffix in self.ends)
        paths = (path for chats in self.shelves(running, heads) for path in find_recent(chats, 0.0, ends, self.begins))
        return next((path for path in paths if heads.story(path, Gemini).conversation == wanted), "")

    def subagent_directory(self, path: str, story: TranscriptState) -> str:
        named = file_locations.ID.match(story.conversation)
        return f"{os.path.dirname(path)}/{story.conversation}" if named else ""


FILES = GeminiFiles()


def _root(directory: str, heads: FileHeadCache) -> str:
    root = heads.data(f"{directory}/.project_root")
    return root.strip() if isinstance(root, str) else ""


def names(directory: str, registry: object) -> list[str]:
    """Names of a project's directory: as ``projects.json`` has it, and the digest that was used before that."""
    projects = registry.get("projects") if isinstance(registry, dict) else None
    named = projects.get(directory) if isinstance(projects, dict) else None
    own = [named] if isinstance(named, str) and named and "/" not in named else []
    return [*own, file_locations.directory_digest(directory)]
