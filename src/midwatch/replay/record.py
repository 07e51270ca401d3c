"""Writes down what the looks at one pane see, until the pane is gone, time is up or someone stops it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TextIO

from midwatch.agents.catalog import Detectors
from midwatch.core.pane_model import Observation
from midwatch.core.redaction import Redactor
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.sessions.codec import recording
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.replayer import SessionReplayer
from midwatch.tmux.codec.commands import ABSENT

GONE_AFTER = 2
"""Looks without the pane after which it counts as gone."""


class SessionRecorder:
    def __init__(
        self, panes: PaneObserver, pane: str, out: TextIO, *, redact: bool, say: Callable[[str], None] = lambda _: None
    ) -> None:
        """``say`` is told what keeps the recorder from seeing, once each time."""
        self.panes = panes
        self.pane = pane
        self.out = out
        self.redact = redact
        self.say = say
        self._told = ""
        self.looks = 0
        self.began = time.monotonic()
        self.why = "stopped"
        self.unknown = False
        """There is no recording because the pane could not be seen, which says nothing of it."""
        self._writer = recording.RecordingWriter()
        self._again = SessionReplayer(panes.policy, Detectors())
        self._redactor: Redactor | None = None

    @property
    def took(self) -> float:
        return time.monotonic() - self.began

    def run(self, every: float, limit: float | None) -> None:
        """Look every so many seconds; a look that comes late is not made up for."""
        missed, due, beat = 0, time.monotonic(), LoopBeat()
        while limit is None or self.took < limit:
            looked = self.panes.observe(self.pane)
            for seen in looked.seen:
                self._write(seen.sighting)
            if not looked.seen and not self.looks:
                self.why = looked.trouble or f"no agent in pane {self.pane} there"
                self.unknown = looked.cause not in ("", ABSENT)
                return
            self._tell(looked.trouble)
            # What tmux does not answer is unknown; only a list without the pane says that it is gone.
            missed = 0 if looked.seen or (looked.trouble and looked.cause != ABSENT) else missed + 1
            if missed >= GONE_AFTER:
                self.why = f"pane {self.pane} is gone"
                return
            due = max(due + every, time.monotonic())
            while (until := beat.after_pass(due)) > time.monotonic():
                time.sleep(max(0.0, until - time.monotonic()))
        self.why = "time is up"

    def _tell(self, trouble: str) -> None:
        """Say once that nothing can be seen, and forget it when something can."""
        if trouble and trouble != self._told:
            self.say(trouble)
        self._told = trouble

    def _write(self, seen: Observation) -> None:
        if not self.looks:
            version = next((report.words["version"] for report in seen.reports if "version" in report.words), "")
            header = recording.RecordingHeader(seen.agent, version, "", self.panes.policy)
            self.out.write(self._writer.header(header) + "\n")
            if self.redact:
                self._redactor = Redactor((os.path.expanduser("~"), *self._homes()))
        # What is given is judged from what is written, so that whoever reads it can come to the same.
        clean = self._redactor.clean_sighting(seen) if self._redactor else seen
        self.out.write(self._writer.line(clean, self._again.given) + "\n")
        self.out.flush()
        self.looks += 1

    def _homes(self) -> tuple[str, ...]:
        known = self.panes.known.get(self.pane)
        home = known.running.environment.get("HOME") if known and known.running else None
        return (home,) if home else ()
