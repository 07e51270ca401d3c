"""What scripts want to know of a screen: how many todos are done, what it is at, when to look again."""

from __future__ import annotations

import re

DONE = re.compile(r"^[ \t│⎿]*[☒☑✔✓] \S", re.MULTILINE)
OPEN = re.compile(r"^[ \t│⎿]*[☐◻◼▢] \S", re.MULTILINE)
"""Rows of a todo list: a box at the beginning. In prose, such a sign is none."""
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


def todos(text: str) -> tuple[int, int]:
    """How many are done, and how many there are."""
    done = len(DONE.findall(text))
    return done, done + len(OPEN.findall(text))


def task(text: str, otherwise: str) -> str:
    """What it is at, in words that cannot break a table."""
    found = DOING.findall(text)
    return plain(found[-1] if found else otherwise)


def plain(text: str) -> str:
    """On one line, without what would make two cells of one."""
    return " ".join(re.sub(r"[,\x00-\x1f\x7f]", " ", text.replace('"', "")).split())[:LONGEST].rstrip()


def wait(task: str, done: int, total: int) -> int:
    """Seconds after which another look may tell something new."""
    for seconds, words in WAITS:
        if re.search(words, task, re.IGNORECASE):
            return seconds
    if total:
        return next(seconds for share, seconds in BY_PROGRESS if done / total < share)
    return WAIT
