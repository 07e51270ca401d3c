"""Codex's files: ``sessions/<year>/<month>/<day>/rollout-<time>-<id>.jsonl`` below CODEX_HOME, else ``~/.codex``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from datetime import datetime

from midwatch.agents import file_locations
from midwatch.agents.agent_files import AgentFiles, ConversationPlaces, list_names
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.file_head_cache import FileHeadCache, cache_value
from midwatch.agents.file_locations import Environment
from midwatch.core.pane_model import RunningAgent
from midwatch.system import procfs

ROLLOUT = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(?P<id>[0-9A-Za-z-]+)(?:_[0-9A-Za-z-]+)?\.jsonl\Z")
DAY = 86400.0
DAEMON = "app-server"
"""On the command line of Codex's daemon, which serves all panes."""


def rollout_id(name: str) -> str:
    """The conversation that a rollout's name belongs to; empty for other files."""
    found = ROLLOUT.match(name)
    return found["id"] if found else ""


class CodexFiles(AgentFiles):
    story = Codex
    begins = "rollout-"
    places = (
        ConversationPlaces("sessions", 3, "", rollout_id),
        ConversationPlaces("archived_sessions", 0, "", rollout_id),
    )
    hooks_by_daemon = True

    def home(self, environment: Environment) -> str:
        return environment.get("CODEX_HOME") or file_locations.path_below(environment, "HOME", ".codex")

    def arrivals(self, environment: Environment, day: str) -> list[str]:
        """By the local day; the directories above it get the next one."""
        home = self.home(environment)
        return [f"{home}/sessions", *(f"{home}/sessions/{day[:length]}" for length in (4, 7, 10))] if home else []

    def shelves(self, running: RunningAgent, heads: FileHeadCache) -> list[str]:  # noqa: ARG002  # nothing is read
        home = self.home(running.environment)
        return _days(f"{home}/sessions", running.started) if home else []

    def find(self, running: RunningAgent, wanted: str, heads: FileHeadCache) -> str:
        if not (home := self.home(running.environment)):
            return ""
        if not wanted and (held := _held(running, heads)):
            return held
        if wanted := wanted or file_locations.requested_conversation(running.args):
            return _rollout(f"{home}/sessions", wanted, running, heads)
        return self.only_path(running, heads)

    def claimed_conversation(self, running: RunningAgent, heads: FileHeadCache) -> str:
        return rollout_id(os.path.basename(_held(running, heads)))


FILES = CodexFiles()


def _held(running: RunningAgent, heads: FileHeadCache) -> str:
    """The rollout that the process has open, the last written of several. A daemon's are those of other panes too."""
    if procfs.start_time(running.pid) != running.start:
        return ""
    found = []
    for path in (path for pid in (running.pid, *procfs.children(running.pid)) for path in open_files(pid)):
        if rollout_id(os.path.basename(path)):
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
        path = next((f"{day}/{name}" for day, name in names if rollout_id(name) == wanted), "")
        cache_value(heads.paths, wanted, path)
    return heads.paths[wanted]


def _days(top: str, since: float) -> list[str]:
    """Directories of the days since, the last one first. Days are local time, of which nobody knows the zone."""
    first = datetime.fromtimestamp(max(since - DAY, 0.0)).strftime("%Y/%m/%d")  # noqa: DTZ006
    days = [""]
    for depth in range(3):
        days = [f"{day}/{name}".lstrip("/") for day in days for name in list_names(f"{top}/{day}") if name.isdigit()]
        part = first[: (4, 7, 10)[depth]]
        days = [day for day in days if day >= part]
    return [f"{top}/{day}" for day in sorted(days, reverse=True)]
