"""What becomes of one session, from look to look. `monitor` and `wait` both learn it here, so they say the same.

This part only looks. What is done about a session is the monitor's (`sessions.monitor`).
"""

from __future__ import annotations

import time

from midwatch.core.verdict import Verdict
from midwatch.notifications import report_change
from midwatch.sessions.model import MonitorOptions
from midwatch.sessions.rules import monitor
from midwatch.sessions.targets import ForeignPane, ManagedSession, TargetView

BUSY, CALM = 1.0, 2.0
"""Seconds between looks at an agent that works, and at one that does not."""
SOONEST = 0.25
"""Seconds between two looks, however much is written."""


class SessionOutcomeTracker:
    """Remembers of the looks before what the outcome depends on."""

    def __init__(self, subject: ManagedSession | ForeignPane, wanted: MonitorOptions) -> None:
        self.subject = subject
        self.wanted = wanted
        self.worked = False
        self.continued_at = _find_restart(subject)
        """When it was told to go on, until it is seen at work."""
        self.idle_since: float | None = None
        self.vague_since: float | None = None
        self.view: TargetView | None = None
        """The last look."""

    def observe(self) -> tuple[TargetView, Verdict | None]:
        """One look, and the outcome if there is one; None: it goes on."""
        view = self.view = self.subject.observe()
        now, verdict = time.monotonic(), view.verdict
        self.worked |= verdict.turn == "working"
        self.continued_at = None if verdict.turn == "working" else self.continued_at
        if monitor.is_old_interruption(verdict, None if self.continued_at is None else now - self.continued_at):
            view = self.view = view._replace(verdict=verdict._replace(settled=False))
            return view, None
        self.idle_since = (self.idle_since or now) if verdict.turn == "idle" and not verdict.final else None
        self.vague_since = (self.vague_since or now) if monitor.is_vague(verdict) else None
        idle_s = now - self.idle_since if self.idle_since else 0.0
        vague_s = now - self.vague_since if self.vague_since else None
        return view, monitor.find_outcome(verdict, monitor.MonitorContext(self.worked, idle_s, vague_s), self.wanted)

    def mark_continued(self, *, submitted: bool) -> None:
        """It was told to go on; ``submitted``: and it has taken that."""
        self.worked = submitted
        self.continued_at = time.monotonic() if submitted else None

    def next_look(self, verdict: Verdict, now: float) -> float:
        """When to look again though nothing may happen until then."""
        until = now + (BUSY if verdict.state in ("working", "starting") else CALM)
        if not verdict.settled or self.vague_since is not None:
            until = min(until, now + SOONEST)
        if self.idle_since is not None:
            marks = (self.idle_since + monitor.LASTS, self.idle_since + monitor.UNSAID)
            until = min([until, *(mark for mark in marks if mark > now)])
        if verdict.look_at is not None and verdict.look_at > now:
            until = min(until, verdict.look_at)
        return until

    def is_brought_back(self, view: TargetView, said: Verdict) -> bool:
        """Whether another monitor resumes it: then this is no end."""
        if view.record is None or not (said.state == "stuck" or view.verdict.final):
            return False
        return report_change.is_resumed(self.subject.directory, view.record, said)

    def add_lost_time(self, seconds: float) -> None:
        """Time in which nobody watched does not count."""
        if self.idle_since is not None:
            self.idle_since += seconds
        if self.continued_at is not None:
            self.continued_at += seconds


def _find_restart(subject: ManagedSession | ForeignPane) -> float | None:
    """When it was started again with its conversation (monotonic), if that was just now.

    Who starts it again tells it to go on as well.
    """
    record = subject.looker.facts(subject.name).record if isinstance(subject, ManagedSession) else None
    if record is None or record.since is None:
        return None
    age = time.time() - record.started
    return time.monotonic() - age if 0 <= age < monitor.BEGINS else None
