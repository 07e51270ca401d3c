"""What a session has shown last, as text: from its pane, else from its log."""

from __future__ import annotations

import os

from dogwatch.lean import open_plain
from dogwatch.model.facts import Seat
from dogwatch.senses import captures

LINES = 200
LARGEST = 1 << 20
"""Bytes of a log that are read; what is before them was drawn over long ago."""


def tail(seat: Seat, log: str) -> str:
    """Its last lines. A pane that is gone, or was wiped when its shim was killed, has none."""
    return captures.text(seat, LINES) or of_log(log)


def of_log(path: str) -> str:
    """The same from what was captured of it; what it drew again and again stands there as often."""
    try:
        with open(open_plain(path), "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - LARGEST))
            text = log.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
    return captures.last(text, LINES)
