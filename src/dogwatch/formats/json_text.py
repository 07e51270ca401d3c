"""JSON as faces print it: one line that is UTF-8, and of which every character can be seen.

What cannot be seen (controls, marks of direction, invisible characters, halves of characters) is written as an escape
of JSON, so readers get it back as it was. Everything else stays as people read it.
"""

from __future__ import annotations

import json

from dogwatch.model.foreign_text import ForeignText, is_plain, is_shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

WIDE = 0xFFFF
"""The last character that takes one escape; others take two."""


def _raw(value: object) -> str:
    if isinstance(value, ForeignText):
        return value.raw
    raise TypeError(f"{type(value).__name__} cannot be said as JSON")


_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_raw).encode
_spaced = json.JSONEncoder(ensure_ascii=False, default=_raw).encode


def dump(found: object, *, spaced: bool = False, other: Callable[[object], str] | None = None) -> str:
    """One line of JSON. ``spaced`` puts a blank after commas and colons, as some faces always did.

    ``other`` says what JSON has no form for; without it there must be nothing of the kind.
    """
    if other is not None:
        return escape(json.dumps(found, ensure_ascii=False, default=other))
    return escape(_spaced(found) if spaced else _compact(found))


def escape(text: str) -> str:
    """JSON text with escapes for what cannot be seen; only its strings can hold such characters."""
    return text if is_plain(text) else "".join([c if is_shown(c) else _escape(c) for c in text])


def _escape(character: str) -> str:
    code = ord(character)
    if code <= WIDE:
        return f"\\u{code:04x}"
    code -= WIDE + 1
    return f"\\u{0xD800 | code >> 10:04x}\\u{0xDC00 | code & 0x3FF:04x}"
