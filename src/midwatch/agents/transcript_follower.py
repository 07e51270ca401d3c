"""What agents write of their conversations as lines of JSON, followed without ever being touched.

The words of a report are those of ``midwatch.agents.transcripts``. A look at a conversation in which nothing was
written costs one stat of its file (and of each sub-agent's); of one that has grown only the new bytes are read.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable

from midwatch.agents import parts
from midwatch.agents.agent_files import AgentFiles, AmbiguousConversationError
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.transcripts.line_splitter import LONGEST, LineSplitter
from midwatch.agents.transcripts.transcript_state import TranscriptState
from midwatch.agents.turn_model import SubAgentReading
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system.atomic_files import open_plain

CHUNK = 1 << 20
FIRST, LAST, BEHIND = 1 << 16, 1 << 22, 4 * LONGEST
"""Bytes that are read of both ends of a file that is larger than this when it is first seen."""
WITNESS = 1024
"""Bytes before the end of what was read that must still be there; else the file was written anew."""
MOST = 512
"""Agents that are remembered; one that was not looked at for longest is forgotten."""
MOST_SUB_AGENTS = 50
"""Of one conversation: those that wrote last."""


class TranscriptTail:
    """One transcript and the story that it tells so far."""

    def __init__(self, path: str, make: Callable[[], TranscriptState]) -> None:
        self.path = path
        self.story = make()
        self._make = make
        self._seen: tuple[int, ...] = ()
        self._who = (0, 0)
        self._begin()

    def _begin(self) -> None:
        self.story = self._make()
        self._lines = LineSplitter()
        self._offset = 0
        self._witness = b""

    def observe(self) -> int:
        """Bring the story up to date and give the size of the file. Raises OSError."""
        if _file_state(os.stat(self.path)) != self._seen:
            with open(open_plain(self.path), "rb", buffering=0) as file:
                self._catch_up(file)
        return self._offset

    def _catch_up(self, file: io.FileIO) -> None:
        now = os.fstat(file.fileno())
        self._seen = ()
        if self.path.endswith(".json"):
            self._replace(file)
        else:
            if not self._goes_on(file, now):
                self._begin()
            self._append(file, now.st_size)
        self._who = (now.st_dev, now.st_ino)
        after = os.fstat(file.fileno())
        if after.st_size == self._offset:
            self._seen = _file_state(after)

    def _replace(self, file: io.FileIO) -> None:
        """A file that is always written whole; one that is just being written leaves the story as it was."""
        story, content = self._make(), file.read(LONGEST) or b""
        story.take(content)
        if story.understood or not self.story.understood:
            self.story, self._offset = story, len(content)

    def _goes_on(self, file: io.FileIO, now: os.stat_result) -> bool:
        """Whether it is the same file, and still begins with what was read."""
        before = os.pread(file.fileno(), len(self._witness), self._offset - len(self._witness))
        return (now.st_dev, now.st_ino) == self._who and before == self._witness

    def _append(self, file: io.FileIO, size: int) -> None:
        if size - self._offset > (BEHIND if self._offset else FIRST + LAST):
            for line in LineSplitter().feed(file.read(FIRST) or b"") if not self._offset else ():
                self.story.take(line)
            self.story.whole = False
            self._lines = LineSplitter()
            self._offset = size - LAST  # the rest of a line, which we may come into, is no JSON and passed over
        file.seek(self._offset)
        # No further than it was: a file may grow faster than it is read.
        while (left := size - self._offset) > 0 and (chunk := file.read(min(CHUNK, left))):
            self._offset += len(chunk)
            self._witness = (self._witness + chunk)[-WITNESS:]
            for line in self._lines.feed(chunk):
                self.story.take(line)


def _file_state(now: os.stat_result) -> tuple[int, ...]:
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)


class TranscriptFollower:
    """Kept by a watcher from look to look, for all its agents."""

    def __init__(self) -> None:
        self._heads = FileHeadCache()
        self._followed: dict[tuple[int, int], tuple[TranscriptTail, SourceReport]] = {}
        self._sub_agents: dict[str, TranscriptTail] = {}

    def read(self, running: RunningAgent, conversation: str = "") -> SourceReport | None:
        """What the agent's transcript says; None where there is none (yet), trouble where it cannot be read.

        ``conversation`` is its id, where a better source knows it.
        """
        files = parts.files(running.agent)
        if files.story is None or "/" in conversation:
            return None
        path = ""
        try:
            if not (path := files.find(running, conversation, self._heads)):
                return None
            tail, last = self._followed.pop((running.pid, running.start), (None, None))
            if tail is None or tail.path != path:
                tail, last = TranscriptTail(path, files.story), None
            size = tail.observe()
            beside = _subagent_size(tail, files)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except AmbiguousConversationError as error:
            return _unreadable_report(str(error))
        except OSError as error:
            return _unreadable_report(f"{path or 'its transcript'} cannot be read: {error.strerror or error}")
        report = _build_report(tail, size + beside, last)
        self._followed[running.pid, running.start] = (tail, report)
        if len(self._followed) > MOST:
            del self._followed[next(iter(self._followed))]
        return report

    def sub_agents(self, running: RunningAgent) -> tuple[SubAgentReading, ...]:
        """The sub-agents of the conversation that was read last, oldest first; empty where nothing tells of any."""
        files, (tail, _) = parts.files(running.agent), self._followed.get((running.pid, running.start), (None, None))
        directory = files.subagent_directory(tail.path, tail.story) if tail is not None else ""
        if not directory or files.story is None:
            return ()
        found = []
        for path in _newest_transcripts(directory):
            child = self._sub_agents.pop(path, None) or TranscriptTail(path, _sub_agent_state(files.story))
            try:
                child.observe()
                at = os.stat(path).st_mtime
            except OSError:  # removed meanwhile, or not to be read: there is nothing to tell of it
                continue
            self._sub_agents[path] = child
            name = os.path.basename(path).removesuffix(".jsonl").removeprefix("agent-")
            found.append(SubAgentReading(name, child.story.event, child.story.words()["open"], at))
        while len(self._sub_agents) > MOST:
            del self._sub_agents[next(iter(self._sub_agents))]
        return tuple(sorted(found, key=lambda each: each.at))


def _newest_transcripts(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            found = [(entry.stat().st_mtime, entry.path) for entry in entries if entry.name.endswith(".jsonl")]
    except OSError:
        return []
    return [path for _, path in sorted(found)[-MOST_SUB_AGENTS:]]


def _sub_agent_state(make: type[TranscriptState]) -> Callable[[], TranscriptState]:
    def made() -> TranscriptState:
        story = make()
        story.of_sub_agent = True
        return story

    return made


def _build_report(tail: TranscriptTail, size: int, last: SourceReport | None) -> SourceReport:
    story = tail.story
    if not story.understood and story.passed_over:
        return _unreadable_report(f"{tail.path} holds no line that can be read")
    words = story.words() | {"path": tail.path, "size": str(size)}
    words["conversation"] = words["conversation"] or os.path.basename(tail.path).removesuffix(".jsonl")
    report = SourceReport("transcript", story.at, words)
    return last if last == report else report


def _unreadable_report(why: str) -> SourceReport:
    return SourceReport("transcript", None, {}, why)


def _subagent_size(tail: TranscriptTail, files: AgentFiles) -> int:
    """Bytes that sub-agents have written: they are the conversation's work too."""
    if not (directory := files.subagent_directory(tail.path, tail.story)):
        return 0
    try:
        with os.scandir(directory) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.name.endswith(".jsonl"))
    except (FileNotFoundError, NotADirectoryError):
        return 0
