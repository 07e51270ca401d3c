"""Rows that an agent wrapped itself, read as the one row that they are.

Agents lay out text in columns and wrap every column on its own. A long phrase on the left makes the timer on its right
go on in the next row, below its own beginning, and the spinner before both may do the same:

      .  A phrase that is too long for its plac (12s · esc
      .                                         to cancel)

A row continues the one above it if each piece of it stands below the beginning of a word there, and would not have
fitted into that row. The phrases of an agent's file also match where a row ends between two words.
"""

from __future__ import annotations

import re

WIDE = re.compile(
    r"[\u1100-\u115f\u231a\u231b\u23e9-\u23ec\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60"
    r"\uffe0-\uffe6\U0001f300-\U0001faff]"
)
"""Letters that take two cells."""
WORD = re.compile(r"\w")
APART = " " * 8
"""So far right of all that is left of it a column begins; less is an indentation, which a rule may look for."""
SLACK = 2
"""Columns by which a place may be smaller than it looks: the space between two, or a margin."""
SHADOW = "\0"
"""The second cell of a wide letter."""
BLANK = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|(?<=[\w,)])(?<!\\\w) (?=[\w(])")
"""In a regular expression: what is escaped, a set of letters, or a blank between two words."""
BREAK = r"(?: | *+(?:[^\w\s] *+)?\n *+(?:[^\w\s] *+)?)"
"""A blank, or the end of a row with the sign that a frame has there. Naming those signs would take five times as long
to compile."""

Lines = tuple[list[str], list[int]]
"""Rows, and the row of the screen at which each begins; one more number for the end."""


class _Row:
    """A row of the screen with all that continues it."""

    def __init__(self, text: str) -> None:
        self.head = _cells(text)
        self.more: dict[int, list[str]] = {}
        """What was found below, by the column of the head that it belongs to."""
        self.ends: dict[int, int] = {}
        """Where the last part of a column ended."""

    def take(self, row: str, width: int) -> bool:
        """Take a row as a continuation, if it is one."""
        cells = _cells(row)
        found: list[tuple[int, str, int]] = []
        following, end = width, len(cells)
        # From the right, since most rows that are none show it there; what is left of the head's text is no column.
        start = cells.rfind(APART) + len(APART)
        while end:
            text = cells[start:end]
            column = self._column(start)
            if column is None or (not found and not self.head[:column].strip()):
                return False
            if not self._full(column, following, len(text.split(" ", 1)[0])):
                return False
            found.append((column, text, end))
            following = column
            end = len(cells[:start].rstrip())
            start = cells.rfind("  ", 0, end) + 2 if "  " in cells[:end] else 0
        for column, text, stop in found:
            self.more.setdefault(column, []).append(text)
            self.ends[column] = stop
        return True

    def _column(self, start: int) -> int | None:
        """The word of the head that begins where a piece does; places are rounded, so one cell beside will do."""
        head = self.head
        for at in (start, start + 1, start - 1):
            if 0 <= at < len(head) and head[at] != " " and (at == 0 or head[at - 1] == " "):
                return at
        return None

    def _full(self, column: int, following: int, word: int) -> bool:
        """Whether a word had no room at the end of a column."""
        end = self._end(column, following)
        rest = self.head[end:following].lstrip()
        if rest:
            following = self.head.index(rest, end)
        return self.ends.get(column, end) + 1 + word > following - SLACK

    def _end(self, column: int, limit: int) -> int:
        """Where the text of a column ends: before two blanks, or where the next one begins."""
        gap = self.head.find("  ", column, limit)
        return gap if gap >= 0 else len(self.head[:limit].rstrip())

    def joined(self) -> str:
        text, limit = self.head, len(self.head)
        for column in sorted(self.more, reverse=True):
            end = self._end(column, limit)
            text = f"{text[:end]} {' '.join(self.more[column])}{text[end:]}"
            limit = column
        return text.replace(SHADOW, "")


def join_rows(rows: list[str]) -> Lines:
    """The rows of a screen, those joined that are one."""
    width = max(map(len, rows), default=0)
    lines: list[str] = []
    starts: list[int] = []
    above: _Row | None = None
    for number, row in enumerate(rows):
        if lines and APART in row and rows[number - 1] and _is_own_column(row):
            above = above or _Row(rows[number - 1])
            if above.take(row, width):
                lines[-1] = above.joined()
                continue
        above = None
        lines.append(row)
        starts.append(number)
    return lines, [*starts, len(rows)]


def _is_own_column(row: str) -> bool:
    """Whether the last piece of a row is a text that stands far from what is left of it."""
    last = row.rfind(APART) + len(APART)
    return "  " not in row[last:] and WORD.search(row, last) is not None


def _cells(row: str) -> str:
    """A row with as many letters as it has cells."""
    return row if row.isascii() else WIDE.sub(rf"\g<0>{SHADOW}", row)


def match_across_rows(pattern: str) -> str:
    """A regular expression whose blanks between two words also match the end of a row there, in a frame or not."""
    return BLANK.sub(lambda found: BREAK if found[0] == " " else found[0], pattern)
