"""A screen with its colours (`capture-pane -e`): the plain rows, and how each of them begins and ends.

What an agent says of itself it draws dim or bold; what the model says it does not. Where two rows read the same, that
is the only difference on the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_ESCAPE = re.compile(r"\x1b(?:\[([0-9;:?]*)([a-zA-Z])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>])|[\x0e\x0f]")
DIM, BOLD = "dim", "bold"
_BACKGROUNDS = frozenset([str(code) for code in (*range(40, 48), *range(100, 108))])


def split_styles(rows: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Plain rows, and for each the look of its first and of its last character that is not a blank: `dim|`, `|bold` …

    Without any colours nothing is known of any row, and there are no styles.
    """
    if not any("\x1b" in row for row in rows):
        return rows, ()
    dim = bold = False
    plain: list[str] = []
    styles: list[str] = []
    for row in rows:
        parts: list[str] = []
        first, last, at = None, "", 0
        for found in _ESCAPE.finditer(row):
            parts.append(row[at : found.start()])
            if parts[-1] and not parts[-1].isspace():
                last = _style_name(dim=dim, bold=bold)
                first = last if first is None else first
            at = found.end()
            if found[2] == "m":
                dim, bold = _styles_after(found[1], dim=dim, bold=bold)
        parts.append(row[at:])
        if parts[-1] and not parts[-1].isspace():
            last = _style_name(dim=dim, bold=bold)
            first = last if first is None else first
        plain.append("".join(parts))
        styles.append(f"{first or ''}|{last}")
    return tuple(plain), tuple(styles)


def blank_dim_text(rows: tuple[str, ...]) -> tuple[str, ...]:
    """Plain rows with blanks in place of what is dim: an empty box tells in dim letters what could be typed there.

    The letter under a cursor that the agent draws itself is inverse; it goes with the one behind it.
    """
    dim = inverse = False
    found: list[str] = []
    for row in rows:
        cells: list[tuple[str, bool, bool]] = []
        at = 0
        for escape in (*_ESCAPE.finditer(row), None):
            end = escape.start() if escape else len(row)
            cells += [(letter, dim, inverse) for letter in row[at:end]]
            if escape is not None:
                at = escape.end()
                if escape[2] == "m":
                    dim, _ = _styles_after(escape[1], dim=dim, bold=False)
                    inverse = _is_inverse(escape[1], inverse)
        later = [*(each[1] for each in cells[1:]), False]
        hidden = [faint or (cursor and next_) for (_, faint, cursor), next_ in zip(cells, later, strict=False)]
        found.append("".join([" " if gone else cell[0] for cell, gone in zip(cells, hidden, strict=True)]))
    return tuple(found)


def read_backgrounds(rows: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The background colour of every character of every row, as the codes that set it; empty for the default one."""
    colour, inverse = "", False
    found: list[tuple[str, ...]] = []
    for row in rows:
        cells: list[str] = []
        at = 0
        for escape in (*_ESCAPE.finditer(row), None):
            cells += [f"{colour}~" if inverse else colour] * ((escape.start() if escape else len(row)) - at)
            if escape is not None:
                at = escape.end()
                if escape[2] == "m":
                    colour, inverse = _background_after(escape[1], colour), _is_inverse(escape[1], inverse)
        found.append(tuple(cells))
    return tuple(found)


def _background_after(codes: str, before: str) -> str:
    rest = iter((codes or "0").split(";"))
    for code in rest:
        if code in ("38", "48", "58"):
            kind = next(rest, "")
            value = [kind, *(next(rest, "") for _ in range({"5": 1, "2": 3}.get(kind, 0)))]
            before = ";".join(value) if code == "48" else before
        elif code in ("", "0", "00", "49"):
            before = ""
        elif code in _BACKGROUNDS:
            before = code
    return before


def _style_name(*, dim: bool, bold: bool) -> str:
    return " ".join(word for word, on in ((DIM, dim), (BOLD, bold)) if on)


def _styles_after(codes: str, *, dim: bool, bold: bool) -> tuple[bool, bool]:
    """What a sequence of colours leaves of both."""
    for code in _plain_codes(codes):
        if code in ("", "0", "00", "22"):
            dim = bold = False
        elif code == "1":
            bold = True
        elif code == "2":
            dim = True
    return dim, bold


def _is_inverse(codes: str, before: bool) -> bool:
    for code in _plain_codes(codes):
        if code in ("", "0", "00", "27"):
            before = False
        elif code == "7":
            before = True
    return before


def _plain_codes(codes: str) -> Iterator[str]:
    """Without the parts of extended colours, which mean nothing here."""
    rest = iter((codes or "0").split(";"))
    for code in rest:
        if code in ("38", "48", "58"):
            for _ in range({"5": 1, "2": 3}.get(next(rest, ""), 0)):
                next(rest, None)
        else:
            yield code
