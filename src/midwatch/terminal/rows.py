"""Rows of cells, the lines that they make, and how a line is cut into rows of another width."""

from __future__ import annotations

from unicodedata import category, east_asian_width

JOINER = "\u200d"
"""What follows it is drawn into the same cell."""
MARKS = 32
"""Characters of one cell; more are left out."""


class CellRow(list[str]):
    """Cells; the second half of a wide character is empty. A row may be shorter than the screen is wide."""

    __slots__ = ("joined",)

    def __init__(self, cells: list[str] | str = "", *, joined: bool = False) -> None:
        super().__init__(cells)
        self.joined = joined
        """The line of the row above goes on here, because it was too long."""

    def blank(self, at: int) -> None:
        """Leave no half of a wide character behind at this border."""
        if 0 < at < len(self) and not self[at]:
            self[at - 1] = self[at] = " "


def column_width(letter: str) -> int:
    """Columns that a character takes: 0, 1 or 2."""
    if east_asian_width(letter) in "WF":
        return 2
    return 0 if category(letter) in ("Mn", "Me", "Cf") else 1


def is_continued(row: CellRow, following: CellRow, columns: int) -> bool:
    """Whether a line fills a row and the next one continues it; a wide character may have left its last cell free."""
    return following.joined and len(row) >= columns - 1


def group_lines(rows: list[CellRow], columns: int) -> list[list[CellRow]]:
    """The rows of each line."""
    found: list[list[CellRow]] = []
    for row in rows:
        if found and is_continued(found[-1][-1], row, columns):
            found[-1].append(row)
        else:
            found.append([row])
    return found


def split_cells(text: str) -> list[str]:
    """The cells of a line of which only the text is known."""
    if text.isascii():
        return list(text)
    cells: list[str] = []
    for letter in text:
        width = column_width(letter)
        if cells and (not width or cells[-1].endswith(JOINER)):
            cells[-1 if cells[-1] else -2] += letter
        else:
            cells += (letter, "")[: max(1, width)]
    return cells


def split_rows(cells: list[str], columns: int) -> list[CellRow]:
    """The rows of a line."""
    found, at = [CellRow(cells[:columns])], columns
    while at < len(cells):
        if not cells[at] and columns > 1 and len(found[-1]) > 1:  # a wide character does not fit
            at -= 1
            found[-1].pop()
        found.append(CellRow(cells[at : at + columns], joined=True))
        at += columns
    return found


def rewrap_rows(rows: list[CellRow], columns: int, new: int, x: int, y: int) -> tuple[list[CellRow], int, int]:
    """The same lines in rows of a new width, and where the cursor is then."""
    found: list[CellRow] = []
    at, cursor = 0, (x, y)
    for group in group_lines(rows, columns):
        cells = [cell for row in group for cell in row]
        made = split_rows(cells, new)
        if at <= y < at + len(group):
            offset = sum(len(row) for row in group[: y - at]) + x
            line = min(offset // new, len(made) - 1)
            cursor = min(offset - line * new, new - 1), len(found) + line
        found += made
        at += len(group)
    return found, *cursor
