"""The last guard of a terminal: what faces print passes here.

Faces choose how foreign text is shown (``core.foreign_text``). Should one forget, no order to a terminal and no hidden
character gets past this stream: it lets through what can be seen, line feeds, tabs and colours. It knows nothing of
lines; that no foreign text begins one is up to the faces. Bytes (``.buffer``) are passed on as they are.
"""

from __future__ import annotations

import sys

from midwatch.core.foreign_text import escape_text, is_plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

COLOUR = "\033["


class SafeOutput:
    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        shown = escape_output(text)
        try:
            self._stream.write(shown)
        except UnicodeEncodeError:  # nothing of it was written
            self._stream.write(_escape_unencodable(shown, self._stream.encoding))
        return len(text)


def escape_output(text: str) -> str:
    """What this stream lets through of a text, for who writes past it."""
    plain = is_plain(text) or is_plain(text.replace("\n", "").replace("\t", ""))
    return text if plain else _escape_with_colours(text)


def guard_output(*streams: str) -> None:
    """Have standard output and standard error pass through here; either may be closed."""
    for name in streams:
        if (stream := getattr(sys, name)) is not None:
            setattr(sys, name, SafeOutput(stream))


def _escape_with_colours(text: str) -> str:
    first, *rest = text.split(COLOUR)
    shown = [_escape_lines(first)]
    for part in rest:
        numbers, ended, behind = part.partition("m")
        is_colour = ended and not numbers.strip("0123456789;")
        shown.append(f"{COLOUR}{numbers}m{_escape_lines(behind)}" if is_colour else f"\\e[{_escape_lines(part)}")
    return "".join(shown)


def _escape_unencodable(text: str, encoding: str) -> str:
    """The same with escapes of JSON for what the user's locale has no bytes for: JSON stays what it is."""
    from midwatch.core.json_text import escape_character  # few locales are like that

    known = {character: character.encode(encoding, "ignore") for character in set(text)}
    return "".join([character if known[character] else escape_character(character) for character in text])


def _escape_lines(text: str) -> str:
    return "\n".join(["\t".join(map(escape_text, line.split("\t"))) for line in text.split("\n")])
