"""The orphans of one directory, or of all: found, selected, and ended exactly, by pid and start time."""

from __future__ import annotations

from midwatch.jobs.orphans import rules
from midwatch.jobs.orphans.model import SPARED, Orphan, Selection
from midwatch.jobs.orphans.observe import OrphanObserver
from midwatch.system import terminate_tree


class OrphanList:
    def __init__(self, directory: str) -> None:
        """Look once. ``directory``: a sentinel directory; empty for all."""
        self._observer = OrphanObserver(directory)
        self.orphans = self._observer.observe()
        self.doubted = self._observer.doubted
        """Directories whose records are not believed, with the reason: what their jobs left is not listed."""

    def select(self, wanted: Selection) -> tuple[Orphan, ...]:
        """What is to be ended: without names, all that nobody needs to name."""
        return rules.select_orphans(self.orphans, wanted)

    def find_unknown(self, wanted: Selection) -> tuple[str, ...]:
        """What was named and is no orphan."""
        return rules.find_unknown(self.orphans, wanted)

    def stop(self, meant: tuple[Orphan, ...]) -> tuple[int, ...]:
        """End those that were meant, and what they start meanwhile: TERM, then KILL. Returns what could not be ended.

        Each round looks again: what has become another process, or part of anything alive, is left.
        """
        known = {each.process.pid: each.process.start for each in meant}

        def find_roots() -> dict[int, int]:
            found = self._observer.observe()
            for each in found:
                process = each.process
                if each.kind not in SPARED and process.parent in known and process.pid not in known:
                    known[process.pid] = process.start
            there = {each.process.pid: each.process.start for each in found}
            return {pid: start for pid, start in there.items() if known.get(pid) == start}

        return tuple(terminate_tree.end_tree(find_roots, alone=True))
