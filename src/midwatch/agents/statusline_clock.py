"""The clock in an agent's status line: a sign of life, never of progress."""

from __future__ import annotations

import re
from collections.abc import Iterable

CLOCK = re.compile(
    r"(?<![\d:.,/+-])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)(?P<second>:[0-5]\d)?(?![\d:])"
    r"(?:[.,]\d{1,6})?(?:\s?(?P<half>[AaPp])\.?[Mm]\b)?"
)
ELSEWHEN = re.compile(r"(?:resets?|until|after|before|by|since|try again|at)\s*(?:at\s*)?\Z", re.IGNORECASE)
"""Before a time that is not the present one."""
NOON = 12


def find_clock(rows: Iterable[str]) -> str | None:
    """The time that rows below the input box show, as HH:MM or HH:MM:SS of 24 hours; one with seconds is preferred.

    `proj | ctx(12%) | 21:22:37` gives 21:22:37. Hours of one digit count only with am or pm; times that a limit ends at
    do not.
    """
    best = None
    for row in rows:
        for found in CLOCK.finditer(row):
            if ELSEWHEN.search(row[: found.start()]) or (hour := _parse_hour(found)) is None:
                continue
            time = f"{hour:02}:{found['minute']}{found['second'] or ''}"
            if found["second"]:
                return time
            best = best or time
    return best


def _parse_hour(found: re.Match[str]) -> int | None:
    hour, half = int(found["hour"]), found["half"]
    if half is None:
        return hour if len(found["hour"]) > 1 and hour < 2 * NOON else None
    if not 1 <= hour <= NOON:
        return None
    return hour % NOON + (NOON if half in "pP" else 0)
