"""When each of many names is to be looked at though nothing may happen before."""

from __future__ import annotations

import heapq

NEVER = float("inf")
SLICE = 100


class ObservationSchedule:
    """There may be ten thousand names: what is asked for often is the earliest."""

    def __init__(self) -> None:
        self.of: dict[str, float] = {}
        """Monotonic moments."""
        self._heap: list[tuple[float, str]] = []

    def set(self, name: str, due: float) -> None:
        self.of[name] = due
        if due < NEVER:
            heapq.heappush(self._heap, (due, name))

    def forget(self, name: str) -> None:
        self.of.pop(name, None)

    def earliest(self) -> float:
        while self._heap:
            due, name = self._heap[0]
            if self.of.get(name) == due:
                return due
            heapq.heappop(self._heap)
        return NEVER

    def overdue(self, now: float) -> list[str]:
        """Whose time has come: a few at once, so that thousands do not keep an event waiting."""
        found: list[str] = []
        while self.earliest() <= now and len(found) < SLICE:
            found.append(heapq.heappop(self._heap)[1])
        return found
