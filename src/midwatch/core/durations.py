"""Durations as people type them: 90, 90s, 1.5m, 2h, 250ms."""

from midwatch.core.errors import UsageError

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST_TEXT = 40
"""Characters that an error quotes."""
LONGEST = 10 * 365 * 86400.0


def parse(text: str) -> float:
    number, factor = text.strip(), 1.0
    for unit in ("ms", "s", "m", "h", "d"):
        if number.endswith(unit):
            number, factor = number[: -len(unit)], UNITS[unit]
            break
    try:
        seconds = float(number) * factor
    except ValueError:
        raise UsageError(f"{text[:LONGEST_TEXT]!r} is not a duration; say seconds, or 90s, 15m, 2h") from None
    if not 0 <= seconds <= LONGEST:
        raise UsageError(f"{text[:LONGEST_TEXT]!r} is not a duration that can be waited for")
    return seconds
