"""Writes down what the looks at one pane see, until the pane is gone, time is up or someone stops it."""

from __future__ import annotations

import os
import time
from typing import TextIO

from dogwatch.formats import timeline
from dogwatch.formats.redact import Redactor
from dogwatch.loops.panes import Panes
from dogwatch.model.session import Report, Sighting

GONE_AFTER = 3
"""Looks without the pane after which a recording ends; tmux may fail to answer once."""


class Recorder:
    def __init__(self, panes: Panes, pane: str, out: TextIO, *, redact: bool) -> None:
        self.panes = panes
        self.pane = pane
        self.out = out
        self.redact = redact
        self.looks = 0
        self.began = time.monotonic()
        self.why = "stopped"
        self._writer = timeline.Writer()
        self._redactor: Redactor | None = None

    @property
    def took(self) -> float:
        return time.monotonic() - self.began

    def run(self, every: float, limit: float | None) -> None:
        """Look every so many seconds; a look that comes late is not made up for."""
        missed, due = 0, time.monotonic()
        while limit is None or self.took < limit:
            looked = self.panes.look(self.pane)
            missed = 0 if looked.seen else missed + 1
            for seen in looked.seen:
                self._write(seen.sighting)
            if missed and not self.looks:
                self.why = looked.trouble or f"no agent in pane {self.pane} there"
                return
            if missed >= GONE_AFTER:
                self.why = looked.trouble or f"pane {self.pane} is gone"
                return
            due = max(due + every, time.monotonic())
            time.sleep(max(0.0, due - time.monotonic()))
        self.why = "time is up"

    def _write(self, seen: Sighting) -> None:
        if not self.looks:
            version = next((report.words["version"] for report in seen.reports if "version" in report.words), "")
            self.out.write(self._writer.header(timeline.Header(seen.agent, version, "")) + "\n")
            if self.redact:
                self._redactor = Redactor((os.path.expanduser("~"), *self._homes()))
        self.out.write(self._writer.line(self._clean(seen)) + "\n")
        self.out.flush()
        self.looks += 1

    def _homes(self) -> tuple[str, ...]:
        known = self.panes.known.get(self.pane)
        home = known.running.environment.get("HOME") if known and known.running else None
        return (home,) if home else ()

    def _clean(self, seen: Sighting) -> Sighting:
        if self._redactor is None:
            return seen
        clean = self._redactor.clean
        pane = seen.pane._replace(title=clean(seen.pane.title), path=clean(seen.pane.path), server=(), tty="")
        tasks = tuple(task._replace(args=tuple(clean(arg) for arg in task.args)) for task in seen.tasks)
        reports = tuple(
            Report(
                each.source, each.at, {word: clean(value) for word, value in each.words.items()}, clean(each.trouble)
            )
            for each in seen.reports
        )
        return seen._replace(pane=pane, rows=tuple(clean(row) for row in seen.rows), tasks=tasks, reports=reports)
