"""Qwen Code's files: ``projects/<key of the directory>/chats/<id>.jsonl``, newer ones with ``<id>.runtime.json``.

They are below QWEN_RUNTIME_DIR, else QWEN_HOME, else ``~/.qwen``.
"""

from __future__ import annotations

from midwatch.agents import file_locations
from midwatch.agents.agent_files import AgentFiles, ConversationPlaces, conversation_of_name
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.agents.qwen.transcript import Qwen
from midwatch.agents.transcripts.transcript_state import text_at, to_number, value_at
from midwatch.core.pane_model import RunningAgent
from midwatch.system import procfs
from midwatch.system.recent_files import find_recent


class QwenFiles(AgentFiles):
    story = Qwen
    named_by_id = True
    places = (ConversationPlaces("projects", 1, "chats", conversation_of_name),)

    def home(self, environment: Environment) -> str:
        named = environment.get("QWEN_RUNTIME_DIR") or environment.get("QWEN_HOME")
        return named or file_locations.path_below(environment, "HOME", ".qwen")

    def arrivals(self, environment: Environment, day: str) -> list[str]:  # noqa: ARG002  # all days are in one place
        home = self.home(environment)
        return [f"{home}/projects"] if home else []

    def shelves(self, running: RunningAgent, heads: FileHeadCache) -> list[str]:  # noqa: ARG002  # nothing is read
        home = self.home(running.environment)
        return [f"{home}/projects/{file_locations.dashed_path(running.cwd)}/chats"] if home else []

    def find(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
        for chats in self.shelves(running, heads):
            if wanted := wanted or self.own_conversation(running, heads):
                return f"{chats}/{wanted}.jsonl"
        return self.only_path(running, heads)

    def claimed_conversation(self, running: RunningAgent, heads: FileHeadCache) -> str:
        """The conversation that newer versions say the process serves, in ``<id>.runtime.json``."""
        paths = [
            path
            for chats in self.shelves(running, heads)
            for path in find_recent(chats, running.started, (".runtime.json",))
        ]
        signed = [heads.data(path) for path in paths]
        own = [
            each for each in signed if to_number(value_at(each, "pid")) in (running.pid, *procfs.children(running.pid))
        ]
        return next((named for each in own if file_locations.ID.match(named := text_at(each, "session_id"))), "")


FILES = QwenFiles()
