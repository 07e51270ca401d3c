"""When a limit ends, from the words in which an agent says so: a time of day, a date, or how long it takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NAMES = "|".join(MONTHS)
LENGTH = re.compile(
    r"(?<![\d.])(\d{1,9}(?:\.\d{1,9})?) ?"
    r"(?:(d)(?:ays?)?|(h)(?:(?:ou)?rs?)?|(m)(?:in(?:ute)?s?)?|(s)(?:ec(?:ond)?s?)?)(?![a-z])",
    re.IGNORECASE,
)
CLOCK = re.compile(
    r"\b(?P<hour>\d{1,2})(?:(?::(?P<minute>\d\d))(?::(?P<second>\d\d))?(?: ?(?P<half>[ap]m))?| ?(?P<only>[ap]m))\b",
    re.IGNORECASE,
)
"""A bare number is no time of day."""
DATE = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)? (?P<m1>{NAMES})[a-z]*"
    rf"|(?P<m2>{NAMES})[a-z]* (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?)\b"
    r"(?:,? (?P<y>\d{4})\b)?",
    re.IGNORECASE,
)
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?")
ZONE = re.compile(r"\(([A-Za-z_]+(?:/[A-Za-z0-9_+-]+)*)\)|\b(UTC|GMT)\b")
SECONDS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
MINUTE = timedelta(minutes=1)
NOON = 12


def parse_limit_end(words: str, said: float, local: tzinfo, named: Callable[[str], tzinfo | None]) -> float | None:
    """The wall-clock second that some words mean, said at another; None where they mean none.

    A time of day is the next one after it was said. Agents cut the seconds off: what ends "at 3:34" may end at any
    second of that minute, and is sure to be over only with the minute; so it is with "in 5 minutes". ``named`` finds a
    time zone by its name.
    """
    zone = local
    if found := ZONE.search(words):
        name = found[1] or found[2]
        zone = UTC if name in ("UTC", "GMT") else named(name) or local
        words = words.replace(found[0], "")
    then = datetime.fromtimestamp(said, zone)
    if (lengths := LENGTH.findall(words)) and not re.search(r"\d ?[ap]m\b|\d:\d", words, re.IGNORECASE):
        units = ["".join(unit).lower() for _, *unit in lengths]
        length = sum(float(each[0]) * SECONDS[unit] for each, unit in zip(lengths, units, strict=True))
        return said + length + (0.0 if "s" in units else MINUTE.total_seconds())
    try:
        if stamp := STAMP.search(words):
            read = datetime.fromisoformat(stamp[0])
            return (read if read.tzinfo else read.replace(tzinfo=zone)).timestamp()
        date = DATE.search(words)
        return _date_and_time(then, date, CLOCK.search(words.replace(date[0], " ") if date else words))
    except (ValueError, OverflowError):
        return None


def _date_and_time(then: datetime, date: re.Match[str] | None, clock: re.Match[str] | None) -> float | None:
    if clock is None and date is None:
        return None
    hour, minute = (int(clock["hour"]), int(clock["minute"] or 0)) if clock else (0, 0)
    if half := clock and (clock["half"] or clock["only"]):
        hour = hour % NOON + (NOON if half.lower() == "pm" else 0)
    exact = clock is not None and clock["second"] is not None
    found = then.replace(hour=hour, minute=minute, second=int(clock["second"]) if clock and exact else 0, microsecond=0)
    if date is not None:
        month = MONTHS.index((date["m1"] or date["m2"]).lower()) + 1
        year = int(date["y"]) if date["y"] else then.year
        found = found.replace(year=year, month=month, day=int(date["d1"] or date["d2"]))
        if not date["y"] and found < then - timedelta(days=1):
            found = found.replace(year=then.year + 1)
    elif found < then - MINUTE:
        found += timedelta(days=1)
    return (found if clock is None or exact else found + MINUTE).timestamp()
