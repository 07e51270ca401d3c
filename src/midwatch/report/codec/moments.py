"""Moments as people type them: 22:00, 8h, 2026-11-19, 2026-11-19T22:00, with or without a zone."""

from __future__ import annotations

from datetime import datetime, timedelta

from midwatch.core import durations
from midwatch.core.errors import UsageError

EXAMPLES = "say 22:00, 8h, 2026-11-19 or 2026-11-19T22:00"


def parse_since(text: str, now: float, label: str) -> float:
    """A moment before now: the last time that the clock showed it, so long ago, or a date."""
    found = _parse(text, now, label)
    if isinstance(found, timedelta):
        return now - found.total_seconds()
    if isinstance(found, datetime):
        return found.timestamp()
    hour, minute = found
    today = datetime.fromtimestamp(now)  # noqa: DTZ006  # as the clock on the wall shows it
    moment = today.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return (moment if moment <= today else moment - timedelta(days=1)).timestamp()


def parse_until(text: str, since: float, now: float, label: str) -> float:
    """The end of a span: the first time after its begin that the clock shows it, so long ago, or a date."""
    found = _parse(text, now, label)
    if isinstance(found, timedelta):
        return now - found.total_seconds()
    if isinstance(found, datetime):
        return found.timestamp()
    hour, minute = found
    begin = datetime.fromtimestamp(since)  # noqa: DTZ006
    moment = begin.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return (moment if moment > begin else moment + timedelta(days=1)).timestamp()


def _parse(text: str, now: float, label: str) -> datetime | timedelta | tuple[int, int]:
    given = text.strip()
    hour, colon, minute = given.partition(":")
    if colon and hour.isdecimal() and minute.isdecimal() and len(hour) <= 2 and len(minute) == 2:  # noqa: PLR2004
        if int(hour) < 24 and int(minute) < 60:  # noqa: PLR2004
            return int(hour), int(minute)
        raise UsageError(f"{label} {text[:40]!r} is no time of a day; {EXAMPLES}")
    if given[-1:] in ("s", "m", "h", "d"):
        try:
            return timedelta(seconds=durations.parse(given))
        except UsageError:
            raise UsageError(f"{label} {text[:40]!r} is no moment; {EXAMPLES}") from None
    try:
        found = datetime.fromisoformat(given)
        if found.timestamp() < now + timedelta(days=36500).total_seconds():
            return found
    except (ValueError, OverflowError, OSError):
        pass
    raise UsageError(f"{label} {text[:40]!r} is no moment; {EXAMPLES}")
