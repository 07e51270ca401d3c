"""The processes of a pane: its tree, and what one of them was started with."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from midwatch.core.pane_model import ProcessInfo, RunningAgent
from midwatch.system import procfs

PARENT, GROUP, TERMINALS_GROUP, THREADS, START = 1, 2, 5, 17, 19
ARGUMENTS = slice(45, 47)
"""Where fields of /proc/PID/stat stand, counted from the third; the last two say where the arguments are in memory."""
DELETED = " (deleted)"

Known = tuple[tuple[str, ...], tuple[str, ...]]
"""By what to tell that a process is still the same program, and its arguments."""


class ProcessTrees:
    """Trees of processes, read again and again: what cannot have changed is read once."""

    def __init__(self) -> None:
        self._known: dict[int, dict[int, Known]] = {}
        own = os.getpid()
        self._children = children if os.path.exists(f"/proc/{own}/task/{own}/children") else children_by_parent

    def below(self, pid: int, *, usage: bool = False) -> tuple[ProcessInfo, ...]:
        """A process and all below it, parents before children; nothing where it cannot be seen.

        Whoever ends meanwhile is left out. CPU and bytes take more reading and are told only on demand.
        """
        before = self._known.pop(pid, {})
        after: dict[int, Known] = {}
        found: dict[int, ProcessInfo] = {}
        todo = [pid]
        while todo:
            one = todo.pop(0)
            try:
                text = procfs.read_text(f"/proc/{one}/stat")
                name, fields = text[text.index("(") + 1 : text.rindex(")")], text[text.rindex(")") + 2 :].split()
                after[one] = known = _arguments(one, before.get(one), name, fields)
            except (OSError, ValueError, IndexError):
                continue
            found[one] = ProcessInfo(
                pid=one,
                parent=int(fields[PARENT]),
                letter=fields[0],
                name=name,
                args=known[1],
                start=int(fields[START]),
                foreground=fields[GROUP] == fields[TERMINALS_GROUP],
                cpu_s=procfs.cpu_seconds(fields, own=True) if usage else 0.0,
                io=procfs.io_bytes(one) if usage else 0.0,
            )
            todo += [child for child in self._children(one, fields[THREADS]) if child not in found]
        if after:
            self._known[pid] = after
        return tuple(found.values())


def _arguments(pid: int, known: Known | None, name: str, fields: list[str]) -> Known:
    """What a process was called with. It may become another program at any time; then its memory is laid out anew."""
    sign = (fields[START], name, *fields[ARGUMENTS])
    if known is not None and known[0] == sign and sign[-1] != "0":
        return known
    # A program that gave itself a title leaves zeros where its arguments were.
    text = procfs.read_text(f"/proc/{pid}/cmdline").rstrip("\0")
    return sign, tuple(text.split("\0")) if text else ()


def children(pid: int, threads: str) -> list[int]:
    """Children of a process; each thread has its own, and most processes have one."""
    if threads != "1":
        return procfs.children(pid)
    try:
        return [int(child) for child in procfs.read_text(f"/proc/{pid}/task/{pid}/children").split()]
    except OSError:
        return []


def children_by_parent(pid: int, _: str = "") -> list[int]:
    """The same where the kernel keeps no list of them: every process that there is is asked for its parent."""
    found = []
    for other in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if int(procfs.stat_fields(int(other))[PARENT]) == pid:
                found.append(int(other))
        except (OSError, ValueError, IndexError):
            continue
    return found


def list_ancestry(pid: int) -> set[int]:
    """A process and all that it comes from, as far as they live."""
    found: set[int] = set()
    while pid > 0 and pid not in found:
        found.add(pid)
        try:
            pid = int(procfs.stat_fields(pid)[PARENT])
        except (OSError, ValueError, IndexError):
            break
    return found


def find_running_agent(task: ProcessInfo, agent: str, variables: Iterable[str]) -> RunningAgent | None:
    """What is needed to find an agent's files. None when the process has ended, or is another by now."""
    given = read_environment(task.pid)
    cwd = _working_directory(task.pid)
    if procfs.start_time(task.pid) != task.start:
        return None
    booted = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
    return RunningAgent(
        agent=agent,
        pid=task.pid,
        start=task.start,
        started=booted + task.start / procfs.TICKS,
        cwd=cwd,
        args=task.args,
        environment={name: given[name] for name in (*variables, "HOME") if name in given},
    )


def read_environment(pid: int) -> dict[str, str]:
    """The variables that a process started with; none where they may not be read."""
    try:
        text = procfs.read_text(f"/proc/{pid}/environ") or procfs.read_text(f"/proc/{pid}/environ")  # just then in exec
    except OSError:
        return {}
    pairs = [entry.partition("=") for entry in text.split("\0")]
    return {name: value for name, equals, value in reversed(pairs) if equals}


def _working_directory(pid: int) -> str:
    try:
        path = os.readlink(f"/proc/{pid}/cwd")
    except OSError:
        return ""
    return path if os.path.exists(path) else path.removesuffix(DELETED)
