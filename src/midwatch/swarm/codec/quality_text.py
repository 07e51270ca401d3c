"""The title of a companion, and its notes that say what a quality loop found."""

from __future__ import annotations

import re

from midwatch.core.task_ids import is_id
from midwatch.trackers.model import TrackerTask

LOOPS = ("self-review", "cross-review", "random exploration")
TITLE = "Quality loops for"
LABEL = "quality-loops"
"""Of a companion."""
NOTHING = {
    "", "na", "nil", "no", "none", "nothing", "none found", "nothing found", "no finding", "no findings", "no issues",
}  # fmt: skip
"""Words that tell no finding; whoever found none is to say so."""

_TITLE = re.compile(rf"{TITLE} (\S+)", re.IGNORECASE)
_RECORD = re.compile(rf"\[({'|'.join(LOOPS)})\] (?:none|findings: (\S.*))", re.DOTALL)


def format_title(bead: str) -> str:
    return f"{TITLE} {bead}"


def find_bead(task: TrackerTask) -> str:
    """The bead that a companion is for; empty of any other task. `bd-1` is neither `bd-10` nor `bd-1.2`."""
    found = _TITLE.fullmatch(" ".join(task.title.raw.split()))
    return found[1] if found and is_id(found[1]) else ""


def format_note(loop: str, findings: str) -> str:
    """The note that says what a loop found; empty findings say that it found none."""
    return f"[{loop}] findings: {findings.strip()}" if findings else f"[{loop}] none"


def recorded_findings(companion: TrackerTask) -> dict[str, str]:
    """What each loop found, as far as it is recorded; the last word on a loop counts."""
    found = {}
    for note in companion.notes:
        match = _RECORD.fullmatch(note.raw.strip())
        if match and not (match[2] and is_no_finding(match[2])):
            found[match[1]] = match[2] or ""
    return found


def missing_loops(companion: TrackerTask) -> tuple[str, ...]:
    having = recorded_findings(companion)
    return tuple([loop for loop in LOOPS if loop not in having])


def is_no_finding(findings: str) -> bool:
    """Whether a text merely says that there is nothing to say."""
    words = "".join([c for c in findings.casefold() if c.isalnum() or c.isspace()]).split()
    return " ".join(words) in NOTHING


def find_loop(word: str) -> str:
    """One of LOOPS, also with hyphens or blanks in other places; empty where none is meant."""
    plain = " ".join(re.split(r"[-_\s]+", word.strip().casefold()))
    return next((loop for loop in LOOPS if loop.replace("-", " ") == plain), "")
