"""Keeping a kanban card: drifts become comments, heartbeats say that somebody is there, and a person can stop the loop.

A call to the board takes a second, and the loop that keeps the card has other things to do: ``tend`` makes one errand
at a time, and ``due`` says when the next is to be made. The card is a courtesy. Whatever is wrong with it is said once
on standard error and tried again, later and later; it never ends the loop, and what it could not be told is kept.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from midwatch.core.plain_text import make_plain
from midwatch.core.redaction import Redactor
from midwatch.integrations.hermes_kanban import KanbanCard, KanbanError
from midwatch.registry.model import Drift

HEARTBEAT = 300.0
LOOK = 15.0
"""Seconds between two looks for somebody's `stop`."""
FIRST_RETRY, LAST_RETRY = 15.0, 300.0
NEVER = float("inf")
FEW = 3
"""Drifts that get a comment each. More of them share one: a call takes a second."""
LONGEST, LONGEST_COMMENT = 1_000, 20_000
"""Characters of a drift, and of a comment: no argument of a program may be longer than 128 kB."""
KEPT = 500
"""Drifts that are kept for a card which cannot be reached. They are in the journal too."""


class RepeatedTask:
    """Something to be done again and again: doing it gives the seconds until the next time."""

    def __init__(self, do: Callable[[], float], at: float) -> None:
        self.do = do
        self.at = at
        self.trouble = ""
        """Why it could not be done the last time."""
        self._wait = FIRST_RETRY

    def done(self, again: float) -> None:
        self.at, self.trouble, self._wait = again, "", FIRST_RETRY

    def failed(self, why: str, now: float) -> None:
        self.at, self.trouble, self._wait = now + self._wait, why, min(self._wait * 2, LAST_RETRY)


class CardUpdater:
    """Keeps one card for as long as a loop runs. Times are monotonic."""

    def __init__(self, card: KanbanCard, *, now: float) -> None:
        self._card = card
        self._began = time.time()
        self._waiting: list[str] = []
        """Drifts that no comment was made of yet."""
        self._comment = ""
        """The comment that is on its way."""
        self._sent = 0.0
        """When it was first sent: where that was not confirmed, it may stand there already."""
        self._lost = 0
        self._drifts = 0
        self._last = ""
        self._stopped = ""
        self._looks = RepeatedTask(self._look, now)
        self._tells = RepeatedTask(self._tell, NEVER)
        self._beats = RepeatedTask(self._beat, now)
        self._errands = (self._looks, self._tells, self._beats)

    def add_drifts(self, drifts: Sequence[Drift], now: float) -> None:
        """Remember new drifts for the card, in the words of their messages; ``tend`` tells it."""
        if not drifts:
            return
        self._waiting += [make_plain(Redactor(()).clean(drift.message), LONGEST) for drift in drifts]
        self._lost += len(self._waiting[:-KEPT])
        del self._waiting[:-KEPT]
        self._drifts += len(drifts)
        self._last = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if not self._tells.trouble:
            self._tells.at = now

    def tend(self, now: float) -> str:
        """Make the errand that is due, if one is; why the loop is to end, when somebody asked for that."""
        errand = min(self._errands, key=lambda errand: errand.at)
        if errand.at <= now:
            self._make(errand, now)
        return self._stopped

    def due(self) -> float:
        return min(errand.at for errand in self._errands)

    def close(self, now: float) -> None:
        """The loop ends: tell the card what it was not told yet, if it can be reached."""
        while (self._waiting or self._comment) and not self._tells.trouble:
            self._make(self._tells, now)

    def _make(self, errand: RepeatedTask, now: float) -> None:
        began = time.monotonic()
        try:
            again = errand.do()
        except KanbanError as error:
            known = [other.trouble for other in self._errands]
            errand.failed(str(error), now + time.monotonic() - began)
            if errand.trouble not in known:
                sys.stderr.write(f"midwatch: the kanban card: {error}\n")
        else:
            errand.done(now + again)

    # Errands

    def _look(self) -> float:
        if who := self._card.stop_asked(self._began):
            self._stopped = f"stop-requested by {who}"
            self._card.block(self._stopped)
        return LOOK

    def _beat(self) -> float:
        last = f", last at {self._last}" if self._last else ""
        self._card.heartbeat(f"alive, {self._drifts} drift{'' if self._drifts == 1 else 's'}{last}")
        return HEARTBEAT

    def _tell(self) -> float:
        """One comment, which is kept until the card has it."""
        if not self._comment:
            self._comment, self._sent = self._next(), time.time()
            self._card.comment(self._comment)
        elif not self._card.has_comment(self._comment, self._sent):
            self._card.comment(self._comment)
        self._comment = ""
        return 0.0 if self._waiting else NEVER

    def _next(self) -> str:
        if len(self._waiting) <= FEW and not self._lost:
            return self._waiting.pop(0)
        lines, size = [], 0
        while self._waiting and size + len(self._waiting[0]) <= LONGEST_COMMENT:
            lines.append(f"- {self._waiting.pop(0)}")
            size += len(lines[-1])
        if self._lost:
            lines.insert(0, f"- {self._lost} earlier ones, which are in the journal only")
            self._lost = 0
        return "\n".join(["What drifted:", *lines])
