"""Which file holds the conversation of an agent that runs.

Surest first: the id that someone knows (the agent's state file, a hook), a file that the process itself holds open or
has signed with its pid, the id on its command line, and last what was written for its directory since it started. The
command line is what the agent was started with: where a person has since begun another conversation in it, only the
first two know. Two that were written since the start are never guessed between.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime

from dogwatch import proc
from dogwatch.formats.transcripts import places
from dogwatch.formats.transcripts.agy import Agy
from dogwatch.formats.transcripts.claude import Claude
from dogwatch.formats.transcripts.codex import Codex
from dogwatch.formats.transcripts.gemini import Gemini
from dogwatch.formats.transcripts.qwen import Qwen
from dogwatch.formats.transcripts.story import Story, inner, number, text
from dogwatch.model.session import Running
from dogwatch.model.value import Value
from dogwatch.senses.heads import Heads, remember

SLACK = 2.0
"""Seconds by which a start, reckoned from clock ticks since boot, may seem later than it was."""
DAY = 86400.0
DAEMON = "app-server"
"""On the command line of Codex's daemon, which serves all panes."""


class UnclearError(Exception):
    """More than one conversation may be meant."""

    def __init__(self, directory: str) -> None:
        super().__init__(f"two conversations or more were written in {directory} since it started; which is its own?")


def written(directory: str, since: float, ends: tuple[str, ...] = (".jsonl",), begins: str = "") -> list[str]:
    """Files of a directory that were written since, the last one first; none where there is no directory."""
    found = []
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.endswith(ends) and entry.name.startswith(begins):
                    try:
                        now = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    if now.st_mtime >= since - SLACK:
                        found.append((now.st_mtime, entry.path))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [path for _, path in sorted(found, reverse=True)]


def only(paths: Iterable[str], running: Running, make: type[Story], heads: Heads) -> str:
    """The one file that belongs to the agent's directory; empty for none. Raises UnclearError for two."""
    own: dict[str, str] = {}
    for path in paths:
        try:
            head = heads.story(path, make)
        except FileNotFoundError:
            continue
        if not head.side and head.home in (running.cwd, places.digest(running.cwd)):
            own.setdefault(head.conversation or path, path)
    if len(own) > 1:
        raise UnclearError(running.cwd)
    return next(iter(own.values()), "")


# One function per agent: the path of the transcript, or empty ---------------------------------------------------


def claude(running: Running, wanted: str, heads: Heads) -> str:
    if not (home := places.claude_home(running.environment)):
        return ""
    top = f"{home}/projects"
    own = [f"{top}/{key}" for key in _spelled(top, places.claude_keys(running.cwd))]
    if wanted := wanted or places.asked_for(running.args):
        for directory in own:
            if os.path.exists(path := f"{directory}/{wanted}.jsonl"):
                return path
        return _elsewhere(top, wanted, heads)
    paths = [path for directory in own for path in written(directory, running.started)]
    return only((path for path in paths if not os.path.basename(path).startswith("agent-")), running, Claude, heads)


def _spelled(top: str, keys: tuple[str, ...]) -> list[str]:
    """The keys; for a long path all that share its beginning too, for versions differ in the hash behind it."""
    begins = tuple(f"{key[: places.LONGEST_KEY]}-" for key in keys if len(key) > places.LONGEST_KEY)
    return [*keys, *(name for name in (_listed(top) if begins else []) if name.startswith(begins) and name not in keys)]


def _elsewhere(top: str, wanted: str, heads: Heads) -> str:
    """The transcript under another directory's name; looked for again only when there are new directories."""
    try:
        mark = f"{top}/{wanted}@{os.stat(top).st_mtime_ns}"
        if mark not in heads.paths:
            paths = [f"{top}/{name}/{wanted}.jsonl" for name in os.listdir(top)]
            remember(heads.paths, mark, next((path for path in paths if os.path.exists(path)), ""))
    except FileNotFoundError:
        return ""
    return heads.paths[mark]


def codex(running: Running, wanted: str, heads: Heads) -> str:
    if not (home := places.codex_home(running.environment)):
        return ""
    top = f"{home}/sessions"
    if not wanted and (held := _held(running, heads)):
        return held
    if wanted := wanted or places.asked_for(running.args):
        return _rollout(top, wanted, running, heads)
    paths = [path for day in _days(top, running.started) for path in written(day, running.started, begins="rollout-")]
    return only(paths, running, Codex, heads)


def _held(running: Running, heads: Heads) -> str:
    """The rollout that the process has open, the last written of several. A daemon's are those of other panes too."""
    if proc.start_time(running.pid) != running.start:
        return ""
    found = []
    for path in (path for pid in (running.pid, *proc.children(running.pid)) for path in _open_files(pid)):
        if places.rollout_id(os.path.basename(path)):
            try:
                if not heads.story(path, Codex).side:
                    found.append((os.stat(path).st_mtime, path))
            except OSError:
                continue
    return max(found, default=(0.0, ""))[1]


def _open_files(pid: int) -> Iterable[str]:
    try:
        names = [] if DAEMON in proc.read_text(f"/proc/{pid}/cmdline").split("\0") else os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for name in names:
        try:
            yield os.readlink(f"/proc/{pid}/fd/{name}")
        except OSError:
            continue


def _rollout(top: str, wanted: str, running: Running, heads: Heads) -> str:
    """The rollout of an id, whichever day it is from; all days are searched once."""
    if not heads.paths.get(wanted):
        days = _days(top, 0.0 if wanted not in heads.paths else running.started)
        names = ((day, name) for day in days for name in os.listdir(day))
        path = next((f"{day}/{name}" for day, name in names if places.rollout_id(name) == wanted), "")
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


def gemini(running: Running, wanted: str, heads: Heads) -> str:
    if not (home := places.gemini_home(running.environment)):
        return ""
    names = places.gemini_names(running.cwd, heads.data(f"{home}/projects.json"))
    wanted = wanted or places.asked_for(running.args)
    top = os.path.join(home, "tmp")
    found = _chats([f"{top}/{name}" for name in names], running, wanted)
    if not found:
        projects = [f"{top}/{name}" for name in _listed(top)]
        found = _chats([each for each in projects if _root(each, heads) == running.cwd], running, wanted)
    if wanted:
        return next((path for path in found if heads.story(path, Gemini).conversation == wanted), "")
    return only(found, running, Gemini, heads)


def _chats(projects: list[str], running: Running, wanted: str) -> list[str]:
    ends = tuple(f"{wanted and '-' + wanted[:8]}{suffix}" for suffix in (".jsonl", ".json"))
    since = 0.0 if wanted else running.started
    return [path for project in projects for path in written(f"{project}/chats", since, ends, "session-")]


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _root(directory: str, heads: Heads) -> str:
    root = heads.data(f"{directory}/.project_root")
    return root.strip() if isinstance(root, str) else ""


def qwen(running: Running, wanted: str, heads: Heads) -> str:
    if not (home := places.qwen_home(running.environment)):
        return ""
    chats = f"{home}/projects/{places.qwen_key(running.cwd)}/chats"
    if wanted := wanted or _signed(chats, running, heads) or places.asked_for(running.args):
        return f"{chats}/{wanted}.jsonl"
    return only(written(chats, running.started), running, Qwen, heads)


def _signed(chats: str, running: Running, heads: Heads) -> str:
    """The conversation that newer versions say the process serves, in ``<id>.runtime.json``."""
    signed = [heads.data(path) for path in written(chats, running.started, (".runtime.json",))]
    own = [each for each in signed if number(inner(each, "pid")) in (running.pid, *proc.children(running.pid))]
    return next((named for each in own if places.ID.match(named := text(each, "session_id"))), "")


def agy(running: Running, wanted: str, heads: Heads) -> str:
    if not (home := places.agy_home(running.environment)):
        return ""
    asked = wanted or places.asked_for(running.args)
    if not (wanted := asked or agy_last(home, running, heads)):
        return ""
    logs = f"{home}/brain/{wanted}/.system_generated/logs"
    found = written(logs, 0.0 if asked else running.started, ("transcript.jsonl", "transcript_full.jsonl"))
    return max(found, default="")


def agy_last(home: str, running: Running, heads: Heads) -> str:
    """The last conversation of a directory, as agy notes it; it may be that of another agy there."""
    last = text(heads.data(f"{home}/cache/last_conversations.json"), running.cwd)
    return last if places.ID.match(last) else ""


class Layout(Value):
    """How one agent's transcripts are found and read."""

    story: type[Story]
    find: Callable[[Running, str, Heads], str]


LAYOUTS = {
    "claude": Layout(Claude, claude),
    "codex": Layout(Codex, codex),
    "gemini": Layout(Gemini, gemini),
    "qwen": Layout(Qwen, qwen),
    "agy": Layout(Agy, agy),
}
