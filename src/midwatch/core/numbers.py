"""Numbers in text of others. `int` alone takes what no program writes, and raises for 5,000 digits or `²`."""

LONGEST = 18
"""Digits of the largest count that there is."""


def whole_number(text: str) -> int | None:
    """The number that a text is, in plain digits with or without a minus; None for any other text."""
    digits = text.removeprefix("-")
    return int(text) if len(digits) <= LONGEST and digits.isdecimal() and digits.isascii() else None
