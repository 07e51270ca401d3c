"""The tmux session of a task: whether it is there, which of its panes is the wrapper's, whether a shell waits in it.

A session is meant by its exact name. Up to tmux 3.6 a name with dots or colons is written with underscores; whoever
asks for the one means the other. A session that was renamed is known by its pane.
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Sequence

from midwatch.core.foreign_text import ForeignText
from midwatch.core.pane_model import Pane
from midwatch.core.shells import POSIX_SHELLS
from midwatch.system import procfs
from midwatch.taskdir.model import TaskNotes, TaskSession, WrapperPane
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.server import TmuxObserver

SECOND_LOOK = 1.0
"""Seconds between the two looks that must both miss a session before it is gone."""
NEVER = float("inf")
TAKING_A_FILE = ("--rcfile", "--init-file")
PARENT, GROUP, SESSION, TERMINALS_GROUP = 1, 2, 3, 5
"""Places in /proc/PID/stat, counted from the third field on."""
DEEPEST = 64
VARIABLE = "TASK_TMPDIR"


class TaskSessionObserver:
    """The panes of one session, looked at again and again."""

    def __init__(self, session: str, server: tuple[str, ...]) -> None:
        self.wanted = session
        self.written = session.replace(".", "_").replace(":", "_")
        self.tmux = TmuxObserver(server)
        self.again_at = NEVER
        """When to look again at what was missed once."""
        self._missed: float | None = None

    def observe(self, notes: TaskNotes, chain: list[int]) -> tuple[TaskSession, list[int]]:
        """The session, and the pids of its panes. ``chain``: the agent and its ancestors, if it lives."""
        found = self.tmux.observe(lambda _: False)
        if found.cause not in ("", codec.ABSENT):
            return TaskSession(None, found.trouble), []
        ours = [pane for pane in found.panes if codec.is_in_session(pane, self.wanted)]
        ours = ours or [pane for pane in found.panes if codec.is_in_session(pane, self.written)]
        ours = ours or [pane for pane in found.panes if (pane.id, pane.pid) == notes.pane]
        if not ours:
            return self._absent(), []
        self._missed, self.again_at = None, NEVER
        which = (
            [pane for pane in ours if pane.pid in chain]
            or [pane for pane in ours if (pane.id, pane.pid) == notes.pane]
            or (ours if len(ours) == 1 else [])
        )
        names = [name for name in (self.wanted, self.written) if codec.is_in_session(ours[0], name)]
        place = WrapperPane(which[0].id, which[0].pid, ForeignText(find_foreground(which[0]))) if which else None
        return TaskSession(True, "", [*names, ours[0].session][0], place, len(ours)), [pane.pid for pane in ours]

    def _absent(self) -> TaskSession:
        """Absence from a list counts when two looks agree."""
        now = time.monotonic()
        if self._missed is None:
            self._missed, self.again_at = now, now + SECOND_LOOK
        if now < self._missed + SECOND_LOOK:
            return TaskSession(None, f"tmux lists no session {self.written}; looking again")
        self.again_at = NEVER
        return TaskSession(there=False, why=f"there is no session {self.written}")


def find_foreground(pane: Pane) -> str:
    """What runs in the foreground of a pane; empty when a shell waits there for a command."""
    if pane.dead:
        return "a dead process"
    try:
        fields = procfs.stat_fields(pane.pid)
        own, front = fields[GROUP], fields[TERMINALS_GROUP]
        if own != front:
            return procfs.command_name(int(front))
        beside = [child for child in procfs.children(pane.pid) if procfs.stat_fields(child)[GROUP] == own]
    except (OSError, ValueError, IndexError):
        return "a process that cannot be looked at"
    if beside:  # a script's children, or those of a shell without job control
        return procfs.command_name(beside[0])
    return "" if is_interactive_shell(pane.pid) else procfs.command_name(pane.pid)


def is_interactive_shell(pid: int) -> bool:
    """Whether a process is a shell that reads commands from its terminal, and not from a script or an argument."""
    words = read_arguments(pid)
    shell = bool(words) and os.path.basename(words[0].lstrip("-")) in POSIX_SHELLS
    return shell and find_script(words) == 0 and "-c" not in words


def find_script(words: list[str]) -> int:
    """Place of the script among the words that a shell was called with; 0 where there is none."""
    for at, word in enumerate(words[1:], 1):
        if not word.startswith("-") and words[at - 1] not in TAKING_A_FILE:
            return at
    return 0


def read_arguments(pid: int) -> list[str]:
    try:
        text = procfs.read_text(f"/proc/{pid}/cmdline").rstrip("\0")
    except OSError:
        return []
    return text.split("\0") if text else []


def list_ancestors(pid: int) -> list[int]:
    """A process and those above it, up to the first of all."""
    chain = [pid]
    while chain[-1] > 1 and len(chain) < DEEPEST:
        try:
            chain.append(int(procfs.stat_fields(chain[-1])[PARENT]))
        except (OSError, ValueError, IndexError):
            break
    return chain


def read_group(pid: int) -> tuple[int, int]:
    """Process group of a process, and the session that it is in."""
    try:
        fields = procfs.stat_fields(pid)
        return int(fields[GROUP]), int(fields[SESSION])
    except (OSError, ValueError, IndexError):
        return 0, 0


def list_members(group: tuple[int, int]) -> dict[int, int]:
    """Every process of a group in its session, with its start time: also those whose parent is gone."""
    if 0 in group:
        return {}
    found = [pid for pid in map(int, filter(str.isdecimal, os.listdir("/proc"))) if read_group(pid) == group]
    return {pid: start for pid in found if (start := procfs.start_time(pid))}


def find_wrapper(chain: list[int], panes: list[int]) -> int:
    """The process between a pane and the agent: what was run there. 0 where there is none.

    A pane whose own process is the wrapper is that process; one with a shell that started the agent has none.
    """
    pane = next((at for at, pid in enumerate(chain) if at and pid in panes), 0)
    if pane > 1:
        return chain[pane - 1]
    return 0 if not pane or is_interactive_shell(chain[pane]) else chain[pane]


def wrapper_command(wrapper: int, pane: int, directory: str) -> str:
    """What to type into a pane's shell to run a wrapper again; empty where that cannot be told.

    A relative path is made absolute, since the shell may be elsewhere by now. The variable that names the directory is
    given again if the shell was not started with it.
    """
    words = read_arguments(wrapper)
    at = find_script(words)
    if not at or os.path.basename(words[0]) not in POSIX_SHELLS:
        return ""
    try:
        words[at] = os.path.join(os.readlink(f"/proc/{wrapper}/cwd"), words[at])
    except OSError:
        if not os.path.isabs(words[at]):
            return ""
    missing = VARIABLE in read_environment(wrapper) and VARIABLE not in read_environment(pane)
    return format_command(words, {VARIABLE: directory} if missing else {})


def format_command(words: Sequence[str], variables: dict[str, str]) -> str:
    """Words and variables as a shell is told of them; empty where a terminal would take some of it for a key."""
    parts = [f"{name}={shlex.quote(value)}" for name, value in variables.items()]
    text = " ".join([*parts, *map(shlex.quote, words)])
    return text if text.isprintable() else ""


def read_environment(pid: int) -> dict[str, str]:
    """The variables that a process was started with; none where they may not be read."""
    try:
        text = procfs.read_text(f"/proc/{pid}/environ")
    except OSError:
        return {}
    return {name: value for name, equals, value in (entry.partition("=") for entry in text.split("\0")) if equals}
