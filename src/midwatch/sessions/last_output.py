"""What a session has shown last, as text: from its pane, else from its log."""

from __future__ import annotations

from midwatch.core.job_model import PaneRef
from midwatch.jobs import log_scan
from midwatch.tmux import capture

LINES = 200
LARGEST = 1 << 20
"""Bytes of a log that are read."""


def last_lines(seat: PaneRef, log: str) -> str:
    """Its last lines. A pane that is gone, or was wiped when its shim was killed, has none."""
    return capture.capture_text(seat, LINES) or last_log_lines(log)


def last_log_lines(path: str) -> str:
    """The same from what was captured of it."""
    return capture.last_lines(log_scan.read_tail(path, LARGEST).decode("utf-8", "replace"), LINES)
