"""Numbers in text of others. `int` alone takes what no program writes, and raises for 5,000 digits or `²`."""

LONGEST = 18
"""Digits of the largest count that there is."""
LATEST = 1e11
"""A time that a calendar can still name. A whole number of JSON may be larger than any `float`."""


def parse_whole_number(text: str) -> int | None:
    """The number that a text is, in plain digits with or without a minus; None for any other text."""
    digits = text.removeprefix("-")
    return int(text) if len(digits) <= LONGEST and digits.isdecimal() and digits.isascii() else None


def parse_moment(value: object) -> float | None:
    """The wall time, or the seconds, that a value of JSON is; None for what can be neither."""
    return float(value) if type(value) in (int, float) and 0 <= value < LATEST else None  # type: ignore[operator, arg-type]
