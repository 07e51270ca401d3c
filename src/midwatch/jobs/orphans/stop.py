"""Ends orphans: exactly those that were selected, by pid and start time, TERM then KILL."""

from __future__ import annotations

from midwatch.jobs.orphans.model import SPARED, Orphan
from midwatch.jobs.orphans.observe import OrphanObserver
from midwatch.system import terminate_tree


def stop_orphans(observer: OrphanObserver, meant: tuple[Orphan, ...]) -> tuple[int, ...]:
    """End those that were meant, and what they start meanwhile. Returns the pids that could not be ended.

    Each round looks again: what has become another process, or part of anything alive, is left.
    """
    known = {each.process.pid: each.process.start for each in meant}

    def find_roots() -> dict[int, int]:
        found = observer.observe()
        for each in found:
            process = each.process
            started = each.kind not in SPARED and process.parent in known and process.pid not in known
            if started:
                known[process.pid] = process.start
        return {
            each.process.pid: each.process.start for each in found if known.get(each.process.pid) == each.process.start
        }

    return tuple(terminate_tree.end_tree(find_roots, alone=True))
