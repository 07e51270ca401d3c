"""The files of Antigravity's agy: ``brain/<id>/.system_generated/logs/transcript.jsonl``, ``conversations/<id>.db``.

They are below ANTIGRAVITY_CLI_HOME, else ``~/.gemini/antigravity-cli``. Which conversation was the last one of a
directory stands in ``cache/last_conversations.json``. The program itself has not been tried.
"""

from __future__ import annotations

import os

from midwatch.agents import file_locations
from midwatch.agents.agent_files import AgentFiles
from midwatch.agents.agy.transcript import Agy
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.agents.transcripts.transcript_state import text_at
from midwatch.core.pane_model import RunningAgent
from midwatch.system.recent_files import SLACK, find_recent


class AgyFiles(AgentFiles):
    story = Agy
    direct = ("conversations/{}.db", "conversations/{}.pb", "brain/{}")
    in_database = True

    def home(self, environment: Environment) -> str:
        own = environment.get("ANTIGRAVITY_CLI_HOME")
        return own or file_locations.path_below(environment, "HOME", ".gemini/antigravity-cli")

    def arrivals(self, environment: Environment, day: str) -> list[str]:  # noqa: ARG002  # all days are in one place
        home = self.home(environment)
        return [f"{home}/cache"] if home else []

    def find(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
        if not (home := self.home(running.environment)):
            return ""
        asked = wanted or file_locations.requested_conversation(running.args)
        if not (wanted := asked or last_conversation(home, running, heads)):
            return ""
        logs = f"{home}/brain/{wanted}/.system_generated/logs"
        found = find_recent(logs, 0.0 if asked else running.started, ("transcript.jsonl", "transcript_full.jsonl"))
        return max(found, default="")

    def written_conversations(self, running: RunningAgent, heads: FileHeadCache) -> set[str]:
        """What was noted last for the directory may be another's of long ago; its database must have been written."""
        home = self.home(running.environment)
        last = last_conversation(home, running, heads) if home else ""
        if not last:
            return set()
        base = f"{home}/conversations/{last}.db"
        changed = max(_changed(base), _changed(f"{base}-wal"))
        return {last} if changed / 1e9 >= running.started - SLACK else set()


FILES = AgyFiles()


def last_conversation(home: str, running: RunningAgent, heads: FileHeadCache) -> str:
    """The last conversation of a directory, as agy notes it; it may be that of another agy there."""
    last = text_at(heads.data(f"{home}/cache/last_conversations.json"), running.cwd)
    return last if file_locations.ID.match(last) else ""


def _changed(path: str) -> int:
    """When it was last written, in nanoseconds; 0 where it is not there."""
    try:
        return os.stat(path).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
