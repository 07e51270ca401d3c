"""JSON as faces print it: one line that is UTF-8, and of which every character can be seen.

What cannot be seen (controls, marks of direction, invisible characters, halves of characters) is written as an escape
of JSON, so readers get it back as it was. Everything else stays as people read it.

The json module loads `re`, which takes a quarter of the time of `ls` and `wait`. The part of it that is written in C
needs none of that, so it is used directly; the module itself says what is wrong with a text that cannot be read, and
does all the work where there is no such part.
"""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText, is_plain, is_visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WIDE = 0xFFFF
"""The last character that takes one escape; others take two."""


def _raw(value: object) -> str:
    if isinstance(value, ForeignText):
        return value.raw
    raise TypeError(f"{type(value).__name__} cannot be said as JSON")


class _Decoder:
    """What the scanner asks for: everything as `json.loads` has it."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None
    parse_float, parse_int = float, int
    parse_constant = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}.__getitem__


try:
    import _json

    _quoted: Any = _json.encode_basestring
    _encoder: Any = _json.make_encoder
    _scan: Any = _json.make_scanner(_Decoder)  # type: ignore[arg-type]
except (ImportError, AttributeError, TypeError):  # an interpreter without it, or with another one
    _scan = _encoder = _quoted = None


def load(text: str) -> Any:
    """The value that a JSON text is. ValueError and RecursionError as of `json.loads`."""
    bare, end = text.strip(" \t\n\r"), -1
    if _scan is not None:
        try:
            value, end = _scan(bare, 0)
        except (StopIteration, ValueError, SystemError):
            pass  # Up to Python 3.11 it has no error to raise, and fails as `SystemError`, until the module is loaded.
    if end == len(bare):
        return value
    import json  # noqa: PLC0415  # it says what is wrong

    return json.loads(text)


def load_strict(text: str) -> Any:
    """The same without the numbers that Python adds to JSON: NaN and the infinite ones are a ValueError."""
    if "NaN" not in text and "Infinity" not in text:
        return load(text)
    import json  # noqa: PLC0415

    return json.loads(text, parse_constant=_no_number)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON, whatever Python says")


def dump(found: object, *, spaced: bool = False, other: Callable[[object], str] | None = None) -> str:
    """One line of JSON. ``spaced`` puts a blank after commas and colons, as some faces always did.

    ``other`` says what JSON has no form for; without it there must be nothing of the kind.
    """
    colon, comma = (": ", ", ") if spaced or other is not None else (":", ",")
    if _encoder is None:
        import json  # noqa: PLC0415

        return escape(json.dumps(found, ensure_ascii=False, separators=(comma, colon), default=other or _raw))
    encode = _encoder(None, other or _raw, _quoted, None, colon, comma, False, False, True)
    return escape("".join(encode(found, 0)))


def escape(text: str) -> str:
    """JSON text with escapes for what cannot be seen; only its strings can hold such characters."""
    return text if is_plain(text) else "".join([c if is_visible(c) else escape_character(c) for c in text])


def escape_character(character: str) -> str:
    code = ord(character)
    if code <= WIDE:
        return f"\\u{code:04x}"
    code -= WIDE + 1
    return f"\\u{0xD800 | code >> 10:04x}\\u{0xDC00 | code & 0x3FF:04x}"
