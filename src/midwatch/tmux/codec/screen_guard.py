"""A guard that lets keys through only while certain rows stand on the screen.

The server itself searches the pane for each row and compares the places where it finds them, in the command that types.
A pattern matches one whole row. Signs that mean something to tmux or to a regular expression match any one character.
"""

from __future__ import annotations

import re

LARGEST = 6000
"""Bytes of patterns in one command; tmux takes some sixteen thousand in all."""
RUN = 3
"""So many blanks, or characters of any kind, in a row match any number of them."""


def guard_rows(guard: str, rows: tuple[str, ...], wanted: tuple[int, ...]) -> str:
    """A guard that also requires that these rows (by their place on the screen) stand where they stand now.

    ``rows`` is the whole screen without colours. The first of ``wanted`` counts most: what is too long is left out.
    """
    texts = [row.rstrip() for row in rows]
    asked: list[str] = []
    places: list[str] = []
    size = 0
    for at in wanted:
        pattern = _pattern(texts[at])
        size += len(pattern.encode())
        if size > LARGEST:
            break
        asked.append(f"#{{C/r:{pattern}}}")
        places.append(str(next(place for place, text in enumerate(texts, 1) if re.search(pattern, text))))
    if not asked:
        return guard
    return f"#{{&&:{guard},#{{==:{' '.join(asked)},{' '.join(places)}}}}}"


def _pattern(text: str) -> str:
    pattern = "".join([c if c == " " or not c.isascii() or c.isalnum() else "." for c in text])
    pattern = re.sub(rf"\.{{{RUN},}}", ".+", pattern)
    return f"^{re.sub(rf' {{{RUN},}}', ' +', pattern)}$"
