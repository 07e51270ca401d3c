"""Claude Code's files: ``projects/<key of the directory>/<id>.jsonl``, and ``sessions/<pid>.json``.

They are below CLAUDE_CONFIG_DIR, else ``~/.claude``.
"""

from __future__ import annotations

import os
import unicodedata
from functools import lru_cache

from midwatch.agents import file_locations
from midwatch.agents.agent_files import AgentFiles, ConversationPlaces, conversation_of_name, list_names
from midwatch.agents.claude import state_file
from midwatch.agents.claude.transcript import Claude
from midwatch.agents.file_head_cache import FileHeadCache, cache_value
from midwatch.agents.file_locations import Environment
from midwatch.agents.transcripts.transcript_state import TranscriptState
from midwatch.core.pane_model import RunningAgent, SourceReport

LONGEST_KEY = 200
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


class ClaudeFiles(AgentFiles):
    story = Claude
    named_by_id = True
    places = (ConversationPlaces("projects", 1, "", conversation_of_name),)

    def home(self, environment: Environment) -> str:
        return environment.get("CLAUDE_CONFIG_DIR") or file_locations.path_below(environment, "HOME", ".claude")

    def arrivals(self, environment: Environment, day: str) -> list[str]:  # noqa: ARG002  # all days are in one place
        home = self.home(environment)
        return [f"{home}/projects"] if home else []

    def shelves(self, running: RunningAgent, heads: FileHeadCache) -> list[str]:  # noqa: ARG002  # nothing is read
        home = self.home(running.environment)
        top = f"{home}/projects"
        return [f"{top}/{key}" for key in _spelled(top, keys(running.cwd))] if home else []

    def find(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
        if not (home := self.home(running.environment)):
            return ""
        if wanted := wanted or file_locations.requested_conversation(running.args):
            for directory in self.shelves(running, heads):
                if os.path.exists(path := f"{directory}/{wanted}.jsonl"):
                    return path
            return _elsewhere(f"{home}/projects", wanted, heads)
        return self.only_path(running, heads)

    def subagent_directory(self, path: str, story: TranscriptState) -> str:  # noqa: ARG002  # the path tells it
        return f"{path.removesuffix('.jsonl')}/subagents"

    def state_path(self, running: RunningAgent) -> str:
        home = self.home(running.environment)
        return f"{home}/sessions/{running.pid}.json" if home else ""

    def read_state(self, content: bytes, running: RunningAgent) -> SourceReport | None:
        return state_file.read(content, running)


FILES = ClaudeFiles()


def _spelled(top: str, names: tuple[str, ...]) -> list[str]:
    """The keys; for a long path all that share its beginning too, for versions differ in the hash behind it."""
    begins = tuple(f"{key[:LONGEST_KEY]}-" for key in names if len(key) > LONGEST_KEY)
    return [
        *names,
        *(name for name in (list_names(top) if begins else []) if name.startswith(begins) and name not in names),
    ]


def _elsewhere(top: str, wanted: str, heads: FileHeadCache) -> str:
    """The transcript under another directory's name; looked for again only when there are new directories."""
    try:
        mark = f"{top}/{wanted}@{os.stat(top).st_mtime_ns}"
        if mark not in heads.paths:
            paths = [f"{top}/{name}/{wanted}.jsonl" for name in os.listdir(top)]
            cache_value(heads.paths, mark, next((path for path in paths if os.path.exists(path)), ""))
    except FileNotFoundError:
        return ""
    return heads.paths[mark]


@lru_cache(256)
def keys(directory: str) -> tuple[str, ...]:
    """Names that Claude Code may give to a directory's conversations: of the path as it is, and composed (NFC)."""
    spellings = dict.fromkeys((directory, unicodedata.normalize("NFC", directory)))
    return tuple([file_locations.dashed_path(each)[:LONGEST_KEY] + _tail(each) for each in spellings])


def _tail(path: str) -> str:
    """What a long name ends with instead of its rest: the 32-bit string hash of the path, without sign, in base 36."""
    units = file_locations.utf16_units(path)
    if len(units) <= LONGEST_KEY:
        return ""
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    value = abs(value - (1 << 32) if value >> 31 else value)
    word = ""
    while value:
        value, digit = divmod(value, 36)
        word = DIGITS[digit] + word
    return f"-{word or '0'}"
