"""Which file holds the conversation of an agent that runs.

Surest first: the id that someone knows (the agent's state file, a hook), a file that the process itself holds open or
has signed with its pid, the id on its command line, and last what was written for its directory since it started. The
command line is what the agent was started with: where a person has since begun another conversation in it, only the
first two know. Two that were written since the start are never guessed between.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from datetime import datetime

from midwatch.agents import file_locations
from midwatch.agents.agy.transcript import Agy
from midwatch.agents.claude.transcript import Claude
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.file_head_cache import FileHeadCache, remember
from midwatch.agents.gemini.transcript import Gemini
from midwatch.agents.qwen.transcript import Qwen
from midwatch.agents.transcripts.transcript_state import TranscriptState, inner, number, text
from midwatch.core.pane_model import RunningAgent
from midwatch.core.value import Value
from midwatch.system import procfs
from midwatch.system.recent_files import written

DAY = 86400.0
DAEMON = "app-server"
"""On the command line of Codex's daemon, which serves all panes."""


class AmbiguousConversationError(Exception):
    """More than one conversation may be meant."""

    def __init__(self, directory: str) -> None:
        super().__init__(f"two conversations or more were written in {directory} since it started; which is its own?")


def only(paths: Iterable[str], running: RunningAgent, make: type[TranscriptState], heads: FileHeadCache) -> str:
    """The one file that belongs to the agent's directory; empty for none. Raises UnclearError for two."""
    own: dict[str, str] = {}
    for path in paths:
        try:
            head = heads.story(path, make)
        except FileNotFoundError:
            continue
        if not head.side and head.home in (running.cwd, file_locations.digest(running.cwd)):
            own.setdefault(head.conversation or path, path)
    if len(own) > 1:
        raise AmbiguousConversationError(running.cwd)
    return next(iter(own.values()), "")


# One function per agent: the path of the transcript, or empty ---------------------------------------------------


def claude(running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
    if not (home := file_locations.claude_home(running.environment)):
        return ""
    if wanted := wanted or file_locations.asked_for(running.args):
        for directory in _claude_shelves(running, heads):
            if os.path.exists(path := f"{directory}/{wanted}.jsonl"):
                return path
        return _elsewhere(f"{home}/projects", wanted, heads)
    return only(since("claude", running, heads), running, Claude, heads)


def _claude_shelves(running: RunningAgent, _: FileHeadCache) -> list[str]:
    home = file_locations.claude_home(running.environment)
    top = f"{home}/projects"
    return [f"{top}/{key}" for key in _spelled(top, file_locations.claude_keys(running.cwd))] if home else []


def _spelled(top: str, keys: tuple[str, ...]) -> list[str]:
    """The keys; for a long path all that share its beginning too, for versions differ in the hash behind it."""
    begins = tuple(f"{key[: file_locations.LONGEST_KEY]}-" for key in keys if len(key) > file_locations.LONGEST_KEY)
    return [*keys, *(name for name in (_listed(top) if begins else []) if name.startswith(begins) and name not in keys)]


def _elsewhere(top: str, wanted: str, heads: FileHeadCache) -> str:
    """The transcript under another directory's name; looked for again only when there are new directories."""
    try:
        mark = f"{top}/{wanted}@{os.stat(top).st_mtime_ns}"
        if mark not in heads.paths:
            paths = [f"{top}/{name}/{wanted}.jsonl" for name in os.listdir(top)]
            remember(heads.paths, mark, next((path for path in paths if os.path.exists(path)), ""))
    except FileNotFoundError:
        return ""
    return heads.paths[mark]


def codex(running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
    if not (home := file_locations.codex_home(running.environment)):
        return ""
    top = f"{home}/sessions"
    if not wanted and (held := _held(running, heads)):
        return held
    if wanted := wanted or file_locations.asked_for(running.args):
        return _rollout(top, wanted, running, heads)
    return only(since("codex", running, heads), running, Codex, heads)


def _codex_shelves(running: RunningAgent, _: FileHeadCache) -> list[str]:
    home = file_locations.codex_home(running.environment)
    return _days(f"{home}/sessions", running.started) if home else []


def _held(running: RunningAgent, heads: FileHeadCache) -> str:
    """The rollout that the process has open, the last written of several. A daemon's are those of other panes too."""
    if procfs.start_time(running.pid) != running.start:
        return ""
    found = []
    for path in (path for pid in (running.pid, *procfs.children(running.pid)) for path in open_files(pid)):
        if file_locations.rollout_id(os.path.basename(path)):
            try:
                if not heads.story(path, Codex).side:
                    found.append((os.stat(path).st_mtime, path))
            except OSError:
                continue
    return max(found, default=(0.0, ""))[1]


def open_files(pid: int) -> Iterable[str]:
    try:
        names = [] if DAEMON in procfs.read_text(f"/proc/{pid}/cmdline").split("\0") else os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue


def _rollout(top: str, wanted: str, running: RunningAgent, heads: FileHeadCache) -> str:
    """The rollout of an id, whichever day it is from; all days are searched once."""
    if not heads.paths.get(wanted):
        days = _days(top, 0.0 if wanted not in heads.paths else running.started)
        names = ((day, name) for day in days for name in os.listdir(day))
        path = next((f"{day}/{name}" for day, name in names if file_locations.rollout_id(name) == wanted), "")
        remember(heads.paths, wanted, path)
    return heads.paths[wanted]


def _days(top: str, since: float) -> list[str]:
    """Directories of the days since, the last one first. Days are local time, of which nobody knows the zone."""
    first = datetime.fromtimestamp(max(since - DAY, 0.0)).strftime("%Y/%m/%d")  # noqa: DTZ006
    days = [""]
    for depth in range(3):
        days = [f"{day}/{name}".lstrip("/") for day in days for name in _listed(f"{top}/{day}") if name.isdigit()]
        part = first[: (4, 7, 10)[depth]]
        days = [day for day in days if day >= part]
    return [f"{top}/{day}" for day in sorted(days, reverse=True)]


def gemini(running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
    if not (wanted := wanted or file_locations.asked_for(running.args)):
        return only(since("gemini", running, heads), running, Gemini, heads)
    ends = tuple(f"-{wanted[:8]}{suffix}" for suffix in LAYOUTS["gemini"].ends)
    paths = (path for chats in _gemini_shelves(running, heads) for path in written(chats, 0.0, ends, "session-"))
    return next((path for path in paths if heads.story(path, Gemini).conversation == wanted), "")


def _gemini_shelves(running: RunningAgent, heads: FileHeadCache) -> list[str]:
    """By the names that are noted for the directory, and by what projects say of themselves."""
    if not (home := file_locations.gemini_home(running.environment)):
        return []
    top = os.path.join(home, "tmp")
    named = file_locations.gemini_names(running.cwd, heads.data(f"{home}/projects.json"))
    names = dict.fromkeys((*named, *(name for name in _listed(top) if _root(f"{top}/{name}", heads) == running.cwd)))
    return [f"{top}/{name}/chats" for name in names]


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _root(directory: str, heads: FileHeadCache) -> str:
    root = heads.data(f"{directory}/.project_root")
    return root.strip() if isinstance(root, str) else ""


def qwen(running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
    if not (home := file_locations.qwen_home(running.environment)):
        return ""
    chats = f"{home}/projects/{file_locations.qwen_key(running.cwd)}/chats"
    if wanted := wanted or _signed(chats, running, heads) or file_locations.asked_for(running.args):
        return f"{chats}/{wanted}.jsonl"
    return only(since("qwen", running, heads), running, Qwen, heads)


def _qwen_shelves(running: RunningAgent, _: FileHeadCache) -> list[str]:
    home = file_locations.qwen_home(running.environment)
    return [f"{home}/projects/{file_locations.qwen_key(running.cwd)}/chats"] if home else []


def _signed(chats: str, running: RunningAgent, heads: FileHeadCache) -> str:
    """The conversation that newer versions say the process serves, in ``<id>.runtime.json``."""
    signed = [heads.data(path) for path in written(chats, running.started, (".runtime.json",))]
    own = [each for each in signed if number(inner(each, "pid")) in (running.pid, *procfs.children(running.pid))]
    return next((named for each in own if file_locations.ID.match(named := text(each, "session_id"))), "")


def agy(running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
    if not (home := file_locations.agy_home(running.environment)):
        return ""
    asked = wanted or file_locations.asked_for(running.args)
    if not (wanted := asked or agy_last(home, running, heads)):
        return ""
    logs = f"{home}/brain/{wanted}/.system_generated/logs"
    found = written(logs, 0.0 if asked else running.started, ("transcript.jsonl", "transcript_full.jsonl"))
    return max(found, default="")


def agy_last(home: str, running: RunningAgent, heads: FileHeadCache) -> str:
    """The last conversation of a directory, as agy notes it; it may be that of another agy there."""
    last = text(heads.data(f"{home}/cache/last_conversations.json"), running.cwd)
    return last if file_locations.ID.match(last) else ""


# All agents -----------------------------------------------------------------------------------------------------


def _no_shelves(_running: RunningAgent, _: FileHeadCache) -> list[str]:
    return []


class Layout(Value):
    """How one agent's transcripts are found and read."""

    story: type[TranscriptState]
    find: Callable[[RunningAgent, str, FileHeadCache], str]
    shelves: Callable[[RunningAgent, FileHeadCache], list[str]] = _no_shelves
    """Directories in which conversations of the agent's directory may be, among others'."""
    ends: tuple[str, ...] = (".jsonl",)
    begins: str = ""


LAYOUTS = {
    "claude": Layout(Claude, claude, _claude_shelves),
    "codex": Layout(Codex, codex, _codex_shelves, begins="rollout-"),
    "gemini": Layout(Gemini, gemini, _gemini_shelves, (".jsonl", ".json"), "session-"),
    "qwen": Layout(Qwen, qwen, _qwen_shelves),
    "agy": Layout(Agy, agy),
}


def shelves(running: RunningAgent, heads: FileHeadCache) -> list[str]:
    """Directories in which conversations of the agent's directory may be; they need not be there yet."""
    return LAYOUTS[running.agent].shelves(running, heads) if running.agent in LAYOUTS else []


def since(agent: str, running: RunningAgent, heads: FileHeadCache) -> list[str]:
    """Files that were written since the agent started where its own may be; not those of sub-agents."""
    layout = LAYOUTS[agent]
    paths = [
        path
        for shelf in layout.shelves(running, heads)
        for path in heads.recent.written(shelf, running.started, layout.ends, layout.begins)
    ]
    return [path for path in paths if not os.path.basename(path).startswith("agent-")]


def begun(running: RunningAgent, heads: FileHeadCache) -> dict[str, str]:
    """Conversations that began in the agent's directory since it started: id and file of each."""
    found: dict[str, str] = {}
    story = LAYOUTS[running.agent].story
    for path in since(running.agent, running, heads):
        with contextlib.suppress(FileNotFoundError):
            head = heads.story(path, story)
            early = head.began is not None and head.began < running.started
            if not head.side and not early and head.home in (running.cwd, file_locations.digest(running.cwd)):
                found.setdefault(head.conversation or os.path.basename(path).partition(".")[0], path)
    return found


def own(running: RunningAgent, heads: FileHeadCache) -> str:
    """The conversation that is the agent's beyond doubt: in a file that it holds or signed, else on its command line.

    The surest of all, its state file, is read elsewhere.
    """
    if running.agent == "codex" and (held := _held(running, heads)):
        return file_locations.rollout_id(os.path.basename(held))
    signed = (
        [_signed(chats, running, heads) for chats in _qwen_shelves(running, heads)] if running.agent == "qwen" else []
    )
    return next(filter(None, signed), "") or file_locations.asked_for(running.args)
