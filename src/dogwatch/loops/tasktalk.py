"""What the agent of a task shows of itself: that it waits for a person or a limit, and when it last wrote something.

Whoever waits is not stuck, and an agent that prints nothing until its end still writes its transcript. Agents that no
file describes say nothing here; then output and use are all there is.
"""

from __future__ import annotations

import time

from dogwatch.loops.panes import Panes
from dogwatch.model.causes import Cause
from dogwatch.model.errors import DogwatchError
from dogwatch.store import detectors, places

SECOND_LOOK = 1.0
"""Seconds between the two looks that must agree before the task is said to wait."""
TELLING = ("waiting", "limited")
MOMENTS = ("hook", "transcript")

Said = tuple[tuple[str, Cause, str], float | None]
NOTHING: Said = (("", "", ""), None)


class TaskTalk:
    def __init__(self, server: tuple[str, ...]) -> None:
        self.server = server
        self.due = 0.0
        self._panes: Panes | None = None
        self.agent = 0
        self._said = NOTHING
        self._first: tuple[str, float] = ("", 0.0)

    def listen(self, pane: str, agent: int, interval: float, *, quiet: bool) -> Said:
        """``quiet``: the agent has printed nothing for so long that it is worth a closer look."""
        now = time.monotonic()
        if agent != self.agent:
            self.agent, self._said, self._first, self.due = agent, NOTHING, ("", 0.0), 0.0
        if pane and (now >= self.due or (quiet and self._said[1] is not None)):
            self.due = now + interval
            self._said = self._look(pane, now)
        return self._said

    def _look(self, pane: str, now: float) -> Said:
        try:
            if self._panes is None:
                self._panes = Panes(detectors.load_all(), places.hook_spool(), self.server)
            looked = self._panes.look(pane)
        except DogwatchError:  # a file that describes an agent is wrong: `agents list` says where
            return NOTHING
        seen = next((each for each in looked.seen if each.sighting.pane.id == pane), None)
        if seen is None:
            return NOTHING
        told = [report.at for report in seen.sighting.reports if report.source in MOMENTS and report.at is not None]
        state = seen.verdict.state if seen.verdict.state in TELLING else ""
        if state != self._first[0]:
            self._first = (state, now)
            if state:
                self.due = min(self.due, now + SECOND_LOOK)
        lasting = state and now - self._first[1] >= SECOND_LOOK
        verdict = seen.verdict
        return (state, verdict.cause, verdict.reason) if lasting else NOTHING[0], max(told, default=0.0)

    def close(self) -> None:
        if self._panes is not None:
            self._panes.close()
