"""What scripts want to know of a screen: how many todos are done, what it is at, when to look again."""

from __future__ import annotations

import re

from midwatch.agents import definition
from midwatch.core.foreign_text import is_visible

ROW = re.compile(r"(?P<before>[ \t│]*)(?P<hook>[⎿└][ \t]*)?(?P<box>[☒☑✔✓☐◻◼▢□]) \S")
"""A row of a todo list: a box at the beginning. In prose, such a sign is none."""
DONE = "☒☑✔✓"
HEADING = re.compile(r"[ \t]*(?:\d+/\d+ tasks? done\b|\d+ tasks? \()")
"""What stands above a list that hangs below nothing."""
REST = re.compile(r"[ \t]*… \+(?:\d+ tasks? )?(?P<rest>.+)")
"""How many rows a list leaves out, where there is no room for them."""
LEFT_OUT = re.compile(r"(?P<count>\d+) (?P<word>done|completed|open|pending|in progress)")
DEEP = range(4, 8)
"""Columns before a row of a list whose beginning has gone from the screen; prose has fewer, menus have more."""
DOING = re.compile(r"^[·✢✳✶✻✽*•◦] (?P<task>[^\n(]+?…)", re.MULTILINE)
"""A status row of an agent that works."""
LONGEST = 80
WAITS = (
    (30, r"loading|reading|searching|parsing"),
    (15, r"presenting|waiting|menu|select|choose"),
    (120, r"running tests|testing|building|compiling|installing"),
    (60, r"writing|editing|updating|creating|fixing"),
)
BY_PROGRESS = ((0.25, 90), (0.5, 75), (0.75, 60), (1.01, 30))
WAIT = 60


def count_todos(text: str) -> tuple[int, int]:
    """How many are done, and how many there are, in the last list that is shown: it stands for those above it."""
    found, done, total, column = (0, 0), 0, 0, 0
    headed = False
    for row in _normalize_rows(text):
        if (match := ROW.match(row)) and (total or headed or match["hook"] or len(match["before"]) in DEEP):
            if match["hook"]:
                done = total = 0
            done, total, column = done + (match["box"] in DONE), total + 1, match.start("box")
        elif total and (rest := REST.fullmatch(row)):
            for part in LEFT_OUT.finditer(rest["rest"]):
                count = int(part["count"])
                done, total = done + count * (part["word"] in ("done", "completed")), total + count
        elif not (total and row[: column + 1].isspace()):  # a row that goes on below its box is broken, and no other
            done = total = 0
        headed = HEADING.match(row) is not None
        found = (done, total) if total else found
    return found


def find_task(text: str, otherwise: str) -> str:
    """What it is at, in words that cannot break a table."""
    found = DOING.findall("\n".join(_normalize_rows(text)))
    return to_plain_cell(found[-1] if found else otherwise)


def _normalize_rows(text: str) -> list[str]:
    """Rows as rules see them: agents print blanks that are no blanks, and signs that carry the mark of a font."""
    return definition.normalize_rows(tuple(text.split("\n")))


def to_plain_cell(text: str) -> str:
    """On one line, without what would make two cells of one."""
    shown = "".join([c if is_visible(c) and c != "," else " " for c in text.replace('"', "")])
    return " ".join(shown.split())[:LONGEST].rstrip()


def wait_estimate(task: str, done: int, total: int) -> int:
    """Seconds after which another look may tell something new."""
    for seconds, words in WAITS:
        if re.search(words, task, re.IGNORECASE):
            return seconds
    if total:
        return next(seconds for share, seconds in BY_PROGRESS if done / total < share)
    return WAIT
