"""Which processes are orphans, of which kind, and which of them are ended when somebody asks for it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from midwatch.jobs.orphans.model import (
    DAEMON,
    LEFTOVER,
    OWN,
    SERVER,
    SPARED,
    Mark,
    Origin,
    Orphan,
    OwnProcess,
    Selection,
)

YOUNG = 5.0
"""Seconds of age below which a process without a record is not judged: its job may be starting."""
GONE = "gone"

Processes = Mapping[int, OwnProcess]


def find_orphans(
    processes: Processes, origins: Mapping[Mark, Origin], apart: frozenset[int], daemons: tuple[str, ...],
    listens: Callable[[int], tuple[str, ...]],
) -> tuple[Orphan, ...]:  # fmt: skip
    """Every process whose job has ended, and what is below it without a mark of its own.

    ``apart`` are the caller and all that it comes from. ``daemons`` are signs in command lines of agents' daemons.
    """
    found: dict[int, Orphan] = {}
    for process in _parents_first(processes):
        mark = process.mark or _inherited(process, found)
        if mark is None or process.pid in apart or _is_kept(process, processes):
            continue
        origin = origins.get(mark)
        if origin is None or origin.alive or (origin.state == GONE and process.age_s < YOUNG):
            continue
        heard = listens(process.pid)
        above = found.get(process.parent)
        kind = OWN if process.own else DAEMON if _is_daemon(process, daemons) else SERVER if heard else LEFTOVER
        if kind == LEFTOVER and above is not None and above.kind in SPARED:
            kind = above.kind  # what a server has started serves with it
        found[process.pid] = Orphan(process, mark, origin.state, kind, heard)
    return tuple(sorted(found.values(), key=lambda each: (each.mark.name, each.process.start, each.process.pid)))


def select_orphans(orphans: tuple[Orphan, ...], wanted: Selection) -> tuple[Orphan, ...]:
    """Those to be ended: of all the ones that nobody needs to name, or all that were named."""
    if wanted.everything:
        return tuple(each for each in orphans if each.kind not in SPARED)
    return tuple(each for each in orphans if each.process.pid in wanted.pids or each.mark.name in wanted.names)


def find_unknown(orphans: tuple[Orphan, ...], wanted: Selection) -> tuple[str, ...]:
    """What was named and is no orphan."""
    pids = {each.process.pid for each in orphans}
    names = {each.mark.name for each in orphans}
    return (*map(str, sorted(wanted.pids - pids)), *sorted(wanted.names - names))


def _parents_first(processes: Processes) -> list[OwnProcess]:
    def depth(process: OwnProcess) -> int:
        above, seen = process.parent, {process.pid}
        while above in processes and above not in seen:
            seen.add(above)
            above = processes[above].parent
        return len(seen)

    return sorted(processes.values(), key=lambda each: (depth(each), each.pid))


def _inherited(process: OwnProcess, found: Mapping[int, Orphan]) -> Mark | None:
    above = found.get(process.parent)
    return above.mark if above else None


def _is_kept(process: OwnProcess, processes: Processes) -> bool:
    """Whether it is, or is below, what keeps a job of its own: that job's record tells of it."""
    seen: set[int] = set()
    each: OwnProcess | None = process
    while each is not None and each.pid not in seen:
        if each.keeps_job:
            return True
        seen.add(each.pid)
        each = processes.get(each.parent)
    return False


def _is_daemon(process: OwnProcess, daemons: tuple[str, ...]) -> bool:
    return any(sign in process.command.raw for sign in daemons)
