"""One line on a terminal that shows what is waited for, and goes when there is something to say."""

from __future__ import annotations

import os

from midwatch.core.foreign_text import escape_text
from midwatch.core.text import format_duration
from midwatch.core.verdict import Verdict
from midwatch.jobs.log_scan import read_last_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 3
LONGEST_LINE = 60


class ProgressLine:
    """Drawn on standard error; whoever writes to the same terminal clears it first."""

    def __init__(
        self, live: Callable[[str], Verdict], report: Callable[[list[Verdict], int], None] | None = None
    ) -> None:
        self.live = live
        self.report = report
        """Is told what was seen, and how many are waited for."""
        self.shown = False

    def draw(self, names: list[str]) -> None:
        try:
            columns = os.get_terminal_size(2).columns
        except OSError:
            return
        seen = [self.live(name) for name in names[:MOST]]
        text = " | ".join(map(format_progress, seen))
        if len(names) > MOST:
            text += f" | and {len(names) - MOST} more"
        text = text if len(text) < columns else text[: columns - 2] + "…"
        os.write(2, f"\r\033[2K{text}".encode("utf-8", "replace"))
        self.shown = True
        if self.report:
            self.report(seen, len(names))

    def clear(self) -> None:
        if self.shown:
            os.write(2, b"\r\033[2K")
            self.shown = False


def format_progress(verdict: Verdict) -> str:
    """Elapsed time, what the work said of itself, its last line, and the next deadline."""
    name = escape_text(verdict.name)
    parts = [f"{name} {verdict.state} {format_duration(float(int(verdict.elapsed_s or 0)))}"]
    if verdict.state == "not_found":
        return f"{name} is not there yet"
    if verdict.beat is not None:
        percent = "" if verdict.beat.progress is None else f"{verdict.beat.progress:.0%} "
        parts.append(f"{percent}{verdict.beat.note.line()}".strip())
    if verdict.log and (line := read_last_line(verdict.log)):
        parts.append(line.line(LONGEST_LINE))
    if verdict.deadline:
        what, seconds = verdict.deadline
        parts.append(f"{what} in {format_duration(float(int(max(0.0, seconds))))}")
    return " · ".join(part for part in parts if part)
