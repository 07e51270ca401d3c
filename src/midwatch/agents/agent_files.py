"""What one agent writes of its conversations, and where. Each agent's folder has a subclass in ``files.py``.

Every default means that the agent has no such thing, so a folder says only what its agent has.

The file of a running agent's conversation is found by the surest sign. That is the id that another source knows (the
agent's state file, a hook), then a file that the process itself holds open or has signed with its pid, then the id on
its command line, and last what was written for its directory since it started. The command line is what the agent was
started with: where a person has since begun another conversation in it, only the first two know. Two that were written
since the start are never guessed between.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from midwatch.agents import file_locations
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_locations import Environment
from midwatch.agents.transcripts.transcript_state import TranscriptState
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.core.value import Value


class AmbiguousConversationError(Exception):
    """More than one conversation may be meant."""

    def __init__(self, directory: str) -> None:
        super().__init__(f"two conversations or more were written in {directory} since it started; which is its own?")


class ConversationPlaces(Value):
    """Directories of an agent: at some depth below one of its home, each with a directory of this name in it or not."""

    top: str
    depth: int
    inner: str
    conversation: Callable[[str], str]
    """The id that the name of a file tells; empty for other files."""


class AgentFiles:
    """The files of one agent; as it stands here, of an agent of whose files nothing is known."""

    story: type[TranscriptState] | None = None
    """What reads its transcripts, where they are files of JSON lines."""
    ends: tuple[str, ...] = (".jsonl",)
    begins: str = ""
    """How the names of its transcripts end and begin."""
    named_by_id: bool = False
    """Its transcripts are called like the conversation; their lines may tell the id of one that it came from."""
    id_length: int = 0
    """Characters of an id that the names of its files hold; 0 for all."""
    places: tuple[ConversationPlaces, ...] = ()
    """Where a conversation of any directory may be."""
    direct: tuple[str, ...] = ()
    """Where a conversation of an id is below the agent's home, if it is in none of its places."""
    in_database: bool = False
    """It has conversations in databases (``database.py``)."""
    shared_database: bool = False
    """One database lists all of them."""
    hooks_by_daemon: bool = False
    """A daemon that serves several panes runs its hooks."""

    # Where they are ---------------------------------------------------------------------------------------------

    def home(self, environment: Environment) -> str:  # noqa: ARG002  # a subclass needs it
        """The directory of its files; empty where it is not known."""
        return ""

    def settings_home(self, environment: Environment) -> str:
        """The directory of its settings; empty where it is not known."""
        return self.home(environment)

    def arrivals(self, environment: Environment, day: str) -> list[str]:  # noqa: ARG002  # a subclass needs them
        """Directories in which its first conversation shows, wherever it works. ``day``: the local one, as 2026/01/31.

        Those that hold conversations already are found by looking (``shelves``).
        """
        return []

    def shelves(self, running: RunningAgent, heads: FileHeadCache) -> list[str]:  # noqa: ARG002  # the same
        """Directories in which conversations of the agent's directory may be, among others'.

        They need not be there yet.
        """
        return []

    def find(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:  # noqa: ARG002  # the same
        """Path of the transcript of a conversation, or of the one that only can be the agent's own; empty for none.

        Raises AmbiguousConversationError, OSError.
        """
        return ""

    def claimed_conversation(self, running: RunningAgent, heads: FileHeadCache) -> str:  # noqa: ARG002  # the same
        """The conversation whose file the process holds open or has signed; empty for none."""
        return ""

    def subagent_directory(self, path: str, story: TranscriptState) -> str:  # noqa: ARG002  # the same
        """Directory of what sub-agents of a conversation have written; empty for none."""
        return ""

    # The state that it writes of itself ----------------------------------------------------------------------------

    def state_path(self, running: RunningAgent) -> str:  # noqa: ARG002  # the same
        """Where that is, or would be; empty for an agent that writes none."""
        return ""

    def read_state(self, content: bytes, running: RunningAgent) -> SourceReport | None:  # noqa: ARG002  # the same
        """What its content says of this process; None where it says nothing. FormatError for what is cut off."""
        return None

    # What follows from these ----------------------------------------------------------------------------------------

    def own_conversation(self, running: RunningAgent, heads: FileHeadCache) -> str:
        """The conversation that is the agent's beyond doubt: in a file that it holds or signed, else as it was asked.

        The surest of all, its state file, is read elsewhere.
        """
        return self.claimed_conversation(running, heads) or file_locations.requested_conversation(running.args)

    def recent_paths(self, running: RunningAgent, heads: FileHeadCache) -> list[str]:
        """Files that were written since the agent started where its own may be; not those of sub-agents."""
        paths = [
            path
            for shelf in self.shelves(running, heads)
            for path in heads.recent.written(shelf, running.started, self.ends, self.begins)
        ]
        return [path for path in paths if not os.path.basename(path).startswith("agent-")]

    def only_path(self, running: RunningAgent, heads: FileHeadCache) -> str:
        """The one recent file that belongs to the agent's directory; empty for none.

        Raises AmbiguousConversationError for two.
        """
        own: dict[str, str] = {}
        for path, head in self._of_directory(running, heads):
            own.setdefault(head.conversation or path, path)
        if len(own) > 1:
            raise AmbiguousConversationError(running.cwd)
        return next(iter(own.values()), "")

    def new_conversations(self, running: RunningAgent, heads: FileHeadCache) -> dict[str, str]:
        """Conversations that began in the agent's directory since it started: id and file of each."""
        found: dict[str, str] = {}
        for path, head in self._of_directory(running, heads):
            if head.began is None or head.began >= running.started:
                found.setdefault(head.conversation or os.path.basename(path).partition(".")[0], path)
        return found

    def written_conversations(self, running: RunningAgent, heads: FileHeadCache) -> set[str]:
        """Ids of the conversations in the agent's directory that were written since it started. Raises OSError."""
        found = set()
        for path, head in self._of_directory(running, heads):
            name = os.path.basename(path).removesuffix(".jsonl") if self.named_by_id else head.conversation
            found.add(name if file_locations.ID.match(name) else "")
        return found - {""}

    def _of_directory(self, running: RunningAgent, heads: FileHeadCache) -> Iterator[tuple[str, TranscriptState]]:
        """Recent files that say that they belong to the agent's directory, with their beginnings."""
        if self.story is None:
            return
        for path in self.recent_paths(running, heads):
            try:
                head = heads.story(path, self.story)
            except FileNotFoundError:
                continue
            if not head.side and head.home in (running.cwd, file_locations.directory_digest(running.cwd)):
                yield path, head


def list_names(directory: str) -> list[str]:
    """Names in a directory; none where it is not there."""
    try:
        return os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []


def conversation_of_name(name: str) -> str:
    """The id in the name of a transcript that is called like its conversation; empty for other files."""
    return name.removesuffix(".jsonl") if name.endswith(".jsonl") else ""
