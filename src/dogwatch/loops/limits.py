"""Until when to wait for the end of a limit."""

from __future__ import annotations

import time
from datetime import datetime, tzinfo

from dogwatch.formats import until
from dogwatch.model.turns import SessionMemory
from dogwatch.model.verdict import Verdict

MARGIN = 30.0
"""Seconds beyond the moment that was printed: clocks differ, and whoever comes first is turned away again."""
NEVER = float("inf")


class Limit:
    """One limit, reckoned once from the words in which it was said: read again later, they would mean the next day."""

    def __init__(self) -> None:
        self._words = ""
        self._end: float | None = None

    def reckon(self, verdict: Verdict, memory: SessionMemory | None) -> float | None:
        """When it ends, on the wall clock; None where the words do not tell."""
        if not verdict.until:
            return None
        if verdict.until != self._words:
            # What is said anew is said now: a countdown.
            ago = time.monotonic() - memory.since if memory and not self._words else 0.0
            said = time.time() - ago
            end = until.moment(verdict.until, said, _local(), _named)
            self._words, self._end = verdict.until, None if end is None else end + MARGIN
        return self._end

    def at(self, now: float) -> float:
        """The same on the monotonic clock, for whoever sleeps."""
        return NEVER if self._end is None else now + max(0.0, self._end - time.time())


def _local() -> tzinfo:
    found = datetime.now().astimezone().tzinfo
    assert found is not None
    return found


def _named(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo  # noqa: PLC0415  # few limits name a zone

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return None
