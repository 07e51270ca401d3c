"""Which rows somebody else has just changed: for a few seconds nothing is done to them, however often we look.

A row counts from when the file was written in which it was first seen so. What we write ourselves is nobody's change,
and neither ends nor prolongs another's.
"""

from __future__ import annotations

FRESH = 5.0
"""Seconds for which nothing is done to a row that somebody has changed."""


class RecentEdits:
    """Rows by the name of their session, each as a digest."""

    def __init__(self, known: dict[str, str] | None) -> None:
        self.known = dict(known or {})
        """As they stood when nobody had just changed them."""
        self._since: dict[str, tuple[str | None, float]] = {}
        """Those that differ: how they are now, and when they became so."""

    def observe(self, rows: dict[str, str], changed: float, wall: float) -> dict[str, float]:
        """Sessions whose rows somebody has changed, and for how many seconds they are left alone.

        ``changed``: when the file was last written. One that lies in the future by far tells nothing.
        """
        before, self._since = self._since, {}
        found: dict[str, float] = {}
        for name in () if rows == self.known else {*rows, *self.known}:
            now = rows.get(name)
            if now == self.known.get(name):
                continue
            was, at = before.get(name, (None, changed))
            at = at if name in before and was == now else changed
            left = FRESH - (wall - at)
            if 0 < left <= 2 * FRESH:
                found[name], self._since[name] = min(left, FRESH), (now, at)
            else:
                self._settle(name, now)
        return found

    def record_own_edits(self, rows: dict[str, str], names: set[str]) -> None:
        """We have written these rows ourselves."""
        for name in names:
            if name in self._since:
                self._since[name] = (rows.get(name), self._since[name][1])
            else:
                self._settle(name, rows.get(name))

    def _settle(self, name: str, row: str | None) -> None:
        if row is None:
            self.known.pop(name, None)
        else:
            self.known[name] = row
