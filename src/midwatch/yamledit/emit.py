"""Values as YAML: written so that any reader, of YAML 1.1 or 1.2, gets the same value back."""

from __future__ import annotations

import math
import re

from midwatch.core.errors import FormatError
from midwatch.core.text import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@+%=~()-]*(?: [A-Za-z0-9_./@+%=~()-]+)*")
"""Text that needs no quotes, in braces either: what begins with a letter is no number, time or mark."""
WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
"""Text of this kind would be read as something else."""
ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\x1b": "\\e"}
STEP = 2
"""Columns by which a table within a table is moved in."""


def emit_inline(value: object) -> str:
    """A value on one line, as it may stand anywhere."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return emit_text(value)
        case int():
            return str(value)
        case float():
            return _emit_number(value)
        case dict():
            return "{" + ", ".join(f"{emit_text(key)}: {emit_inline(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(emit_inline, value)) + "]"
    raise TypeError(f"{type(value).__name__} is nothing that is written to a registry")


def emit_text(value: str) -> str:
    if PLAIN.fullmatch(value) and value.lower() not in WORDS:
        return value
    return '"' + "".join([c if c.isprintable() and c not in ESCAPES else _escape(c) for c in value]) + '"'


def _escape(character: str) -> str:
    number = ord(character)
    if 0xD800 <= number < 0xE000:  # noqa: PLR2004  # surrogates: bytes of a file name that are no UTF-8
        raise FormatError(
            f"{visible(character)} is a byte that is no UTF-8, which YAML cannot hold; rename what has it"
        )
    return ESCAPES.get(character) or (f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}")


def _emit_number(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    written = repr(value)
    # 1e+16 would be a text.
    return written if "." in written else written.replace("e", ".0e")


def emit_key(key: str, value: object, column: int) -> Iterator[str]:
    """A key with its value, as lines of a table whose keys begin at a column."""
    begin = f"{' ' * column}{emit_text(key)}:"
    match value:
        case dict() if value:
            yield begin
            for inner, item in value.items():
                yield from emit_key(inner, item, column + STEP)
        case list() | tuple() if value:
            yield begin
            for item in value:
                yield from emit_items(item, column + STEP)
        case _:
            yield f"{begin} {emit_inline(value)}"


def emit_items(value: object, column: int, step: int = STEP) -> Iterator[str]:
    """An item, as lines of a list whose dashes stand at a column."""
    dash = f"{' ' * column}-{' ' * (step - 1)}"
    if not isinstance(value, dict) or not value:
        yield dash + emit_inline(value)
        return
    for key, item in value.items():
        for line in emit_key(key, item, column + step):
            yield dash + line[len(dash) :]
            dash = ""
