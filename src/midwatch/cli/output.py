"""How verdicts are said: JSON lines for machines, a line or a table for people, colours only where wanted."""

import os
import sys
import time

from midwatch.core import verdict_json
from midwatch.core.exit_codes import NEXT
from midwatch.core.foreign_text import escape_text, shorten
from midwatch.core.redaction import redact
from midwatch.core.text import format_age, format_duration
from midwatch.core.verdict import Verdict

COLOURS = {
    "completed": "32", "working": "36", "starting": "36", "idle": "36", "failed": "31", "crashed": "31",
    "timeout": "31", "stuck": "33", "waiting": "33", "limited": "33", "incomplete": "33", "unknown": "35",
    "not_found": "35", "stopped": "2", "abandoned": "2",
}  # fmt: skip

MARKS = {"untested-release": "untested release", "sources-disagree": "sources disagree"}
"""What a table shows of a session that may be read wrong."""
SHORTEST_NAME, FIXED, ENDS, ROOM = 12, 23, 10, 15
"""Columns of a table: of names at least, of state and time, of when it ended, and of the reason if there is room."""


def as_json(verdict: Verdict, more: dict[str, object] | None = None) -> str:
    return verdict_json.encode_verdict(verdict, NEXT[verdict.state], more)


def format_line(verdict: Verdict) -> str:
    return f"{escape_text(verdict.name)}: {colour_state(verdict.state)}: {verdict_json.format_reason(verdict)}"


def colour_state(state: str, width: int = 0) -> str:
    shown = f"{state:<{width}}"
    return f"\033[{COLOURS[state]}m{shown}\033[0m" if uses_colour(1) else shown


def uses_colour(fd: int) -> bool:
    return os.isatty(fd) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def format_table(verdicts: list[Verdict]) -> str:
    """One row per job in the order given, cut to the terminal's width; with when they ended if any did."""
    columns = os.get_terminal_size(1).columns if os.isatty(1) else 1 << 16
    longest = max(SHORTEST_NAME, min(columns // 3, columns - FIXED - ENDS - ROOM))
    names = [shorten(escape_text(verdict.name), longest) for verdict in verdicts]
    width = max([*map(len, names), 4])
    wide = columns >= SHORTEST_NAME + FIXED + ENDS + ROOM
    with_ends = wide and any(verdict.ended is not None for verdict in verdicts)
    now = time.time() if with_ends else 0.0
    rows = [f"{'NAME':<{width}}  {'STATE':<10} {'TIME':>8}  {'ENDED':<9} REASON"]
    if not with_ends:
        rows = [f"{'NAME':<{width}}  {'STATE':<10} {'TIME':>8}  REASON"]
    for name, verdict in zip(names, verdicts, strict=True):
        elapsed = "" if verdict.elapsed_s is None else format_duration(float(int(verdict.elapsed_s)))
        age = "" if verdict.ended is None else format_age(now - verdict.ended)
        ended = f"{age:<9} " if with_ends else ""
        mark = "".join(f" [{MARKS[doubt]}]" for doubt in verdict.doubts)
        room = max(1, columns - width - FIXED - len(ended) - len(mark))
        reason = verdict_json.format_reason(verdict)
        reason = shorten(reason if verdict.beat is None else format_note(verdict) + reason, room)
        rows.append(f"{name:<{width}}  {colour_state(verdict.state, 10)} {elapsed:>8}  {ended}{reason}{mark}".rstrip())
    return "\n".join(rows)


def format_note(verdict: Verdict) -> str:
    """What work that goes on last said of itself, before what is said of it; empty where it said nothing."""
    if verdict.beat is None or verdict.final:
        return ""
    percent = "" if verdict.beat.progress is None else f"{verdict.beat.progress:.0%}"
    note = " ".join([part for part in (percent, redact(verdict.beat.note.line())) if part])
    return f"{note} · " if note else ""


def print_remark(text: str) -> None:
    """What is to be said beside what was asked for: one line on standard error, whatever stands in it."""
    print(f"midwatch: {escape_text(text)}", file=sys.stderr, flush=True)


def print_warning(trouble: str) -> None:
    """What a person should know, beside what was asked for."""
    print_remark(f"warning: {trouble}")


def print_verdict_remark(verdict: Verdict, *, before: str = "") -> None:
    """The same for a verdict, in its colour."""
    print(f"midwatch: {before}{format_line(verdict)}", file=sys.stderr, flush=True)


def print_verdict(verdict: Verdict, *, json: bool) -> None:
    print(as_json(verdict) if json else format_line(verdict))
    sys.stdout.flush()
