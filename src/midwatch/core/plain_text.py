"""Text for a telephone, a command line or a broker: one line, without keys, and nothing that is not plain text."""

from __future__ import annotations

from midwatch.core.foreign_text import is_visible
from midwatch.core.redaction import Redactor

LONGEST = 500
"""Characters of a text: it goes onto someone's telephone."""
LONGEST_REASON = 400


def clean_reason(reason: str) -> str:
    """A reason without keys, cut where it is too long."""
    return make_plain(Redactor(()).clean(reason), LONGEST_REASON)


def make_plain(said: str, longest: int = LONGEST) -> str:
    """Text on one line that no program can take for an option: no control characters, no dash in front."""
    words = "".join([c if is_visible(c) else " " for c in said]).split()
    line = " ".join(words).lstrip("-").lstrip()
    return line if len(line) <= longest else line[: longest - 1] + "…"
