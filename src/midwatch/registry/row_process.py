"""Whether the process that a row names is still there, and is the same one."""

from __future__ import annotations

import os

from midwatch.core.job_model import Gone, Identity, Unseen
from midwatch.core.presence import GONE, LIVES, UNKNOWN
from midwatch.registry.model import RowPane
from midwatch.registry.rules.row import is_shell
from midwatch.system import process_tree, processes, procfs
from midwatch.system.processes import ProcessPlace

LARGEST = 1 << 22
"""No pid of Linux is larger."""


def find_process_state(pane: RowPane, agent: str, place: ProcessPlace, written: float = float("inf")) -> str:
    """LIVES, GONE, or UNKNOWN where a process has that pid and nothing tells whose it is.

    A row without a start may be known by directory or command. A shell may have gone elsewhere, and what was run in it
    may have ended: that can be the row's own as long as it is a pane's at all. What is younger than the list itself
    (``written``, by the wall clock) is in none of its rows.
    """
    if pane.pid <= 0:
        return UNKNOWN
    if pane.pid > LARGEST:
        return GONE
    meant = Identity(place.host, pane.boot or place.boot, place.pidns, pane.pid, pane.start)
    found = processes.find_process(meant, place)
    if isinstance(found, Gone | Unseen):
        return GONE if isinstance(found, Gone) else UNKNOWN
    if pane.start:
        return LIVES
    if isinstance(processes.find_by_pid(pane.pid, written, None), Gone):
        return GONE
    if _is_in(pane.pid, pane.cwd):
        return LIVES
    names = {os.path.basename(name) for name in (pane.cmd, agent) if name}
    if any(names & _process_names(pid) for pid in (pane.pid, *procfs.descendants(pane.pid))):
        return LIVES
    told = bool(names or pane.cwd) and not is_shell(procfs.command_name(pane.pid))
    return GONE if told or not _may_be_in(pane.pid, pane.id) else UNKNOWN


def _is_in(pid: int, directory: str) -> bool:
    try:
        return bool(directory) and os.path.samefile(f"/proc/{pid}/cwd", directory)
    except (OSError, ValueError):
        return False


def _may_be_in(pid: int, pane: str) -> bool:
    """Whether a process may have been started in a pane: tmux tells each which it is in."""
    variables = process_tree.read_environment(pid)
    told = variables.get("TMUX_PANE", "")
    return not variables or (told == pane if pane else bool(told))


def _process_names(pid: int) -> set[str]:
    """Names that a process goes by: its own, and the words that it was called with, without their directories."""
    try:
        words = procfs.read_text(f"/proc/{pid}/cmdline").split("\0")
    except OSError:
        words = []
    return {procfs.command_name(pid), *(os.path.basename(word).lstrip("-") for word in words if word)}
