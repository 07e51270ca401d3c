"""Text that tries everything: lines of its own, orders to the terminal, marks that hide or turn around what follows."""

from __future__ import annotations

import json

from tests.conftest import Done

FORGED = "forged: completed: exit 0"
"""A line as one of ours. Nothing that another wrote may begin a line of our output with it."""
INVISIBLE = "\u202e\u2066\u200b\u00ad\ufeff\u2028\u2029\u0085\U000e0041\ufe00\U000e0101\u115f\u3164\u034f\u2060\u061c"
ORDERS = "\x1b]52;c;ZXZpbA==\x07\x1b[2J\x1b[31m\x1b]0;title\x1b\\\x9b31m\x9d0;x\x9c\x08\x7f\x00"
HOSTILE = f"ok\n{FORGED}\r{FORGED}\v{FORGED}\u2028{FORGED}\u0085{FORGED}\n    against: nothing{ORDERS}{INVISIBLE}end"
PLAIN = HOSTILE.replace("\x00", "")
"""The same for what cannot hold a zero byte: arguments, names of files."""
NAME = PLAIN.replace("/", "").replace("\n    against: nothing", "")[:100]
"""The same as the name of a file."""


def is_hidden(letter: str) -> bool:
    """Whether a terminal would obey it, or nobody would see it."""
    return not letter.isprintable() or letter in "\ufe00\U000e0101\u115f\u3164\u034f"


def hidden(text: str) -> set[str]:
    return {f"U+{ord(letter):04X}" for letter in text if letter not in "\n\t" and is_hidden(letter)}


def check_text(text: str) -> None:
    """Nothing in what a face printed obeys, hides or passes for a line of ours."""
    assert hidden(text) == set(), ascii(text)
    forged = [line for line in text.splitlines() if line.lstrip(" ").startswith((FORGED, "against: nothing"))]
    assert forged == [], text


def check_json(text: str) -> None:
    """Each line is JSON, and stays so for readers who end lines at other characters than a line feed."""
    assert hidden(text) == set(), ascii(text)
    for line in text.splitlines():
        json.loads(line)


def check(done: Done, *, as_json: bool = False) -> None:
    assert "Traceback" not in done.err, done.err
    (check_json if as_json else check_text)(done.out)
    check_text(done.err)
