"""What a pane shows, as plain text with what has scrolled away above it."""

from __future__ import annotations

import re
import time

from midwatch.core.job_model import PaneRef
from midwatch.tmux import client as tmux_client
from midwatch.tmux.socket_gate import UnsafeServerError

LIMIT = 10.0
DEAD = re.compile(r"\n\s*Pane is dead \([^\n]*\)\s*\Z")
"""What tmux itself writes below what a program has left."""


def capture_text(seat: PaneRef, lines: int) -> str | None:
    """The last lines of exactly that pane; None where it is gone, or nobody answers. Rows that were wrapped are one."""
    asked = ["display-message", "-p", "-t", seat.id, "#{pid} #{start_time}"]
    shown = ["capture-pane", "-p", "-J", "-t", seat.id, "-S", str(-lines)]
    try:
        answer = tmux_client.run_client(
            tmux_client.socket_path(seat.server), [*asked, ";", *shown], time.monotonic() + LIMIT
        )
    except (OSError, UnsafeServerError):
        return None
    life, newline, found = answer.out.decode("utf-8", "replace").partition("\n")
    if answer.late or not newline or life != seat.life:
        return None
    return last_lines(DEAD.sub("\n", found.replace("\xa0", " ")), lines)  # as the log has it


def last_lines(text: str, lines: int) -> str:
    """The last lines of a text; empty rows at its end are none."""
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().split("\n")[-lines:]) if text.strip() else ""
