"""What a pane shows: rows of cells, a cursor, and what a program can do to them."""

from __future__ import annotations

import re
from collections import deque

from midwatch.terminal import rows as lines
from midwatch.terminal.rows import JOINER, MARKS, CellRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class LineReader(Protocol):
        """Who is told of lines that scroll off the main screen, and of those that come back to it."""

        def left(self, line: str) -> None: ...
        def returned(self, line: str) -> None: ...


KEPT = 300
"""Lines above the screen that come back when the pane grows."""
LONGEST = 1 << 17
"""Characters of one line; a longer one is cut."""
RUNS = re.compile(
    r"([ -~\xa1-\xac\xae-\u02ff\u2010-\u2027\u2190-\u2193\u2500-\u259f\u25cf\u276f\u2800-\u28ff]+)|(.)", re.DOTALL
)
"""Characters that are certainly one column wide, as many as there are; else a single one."""


class TerminalScreen:
    """The grid, its cursor and its modes."""

    def __init__(self, columns: int, height: int, reader: LineReader) -> None:
        self.columns, self.height, self.reader = columns, height, reader
        self.above: deque[str] = deque(maxlen=KEPT)
        self.head = ""
        """The beginning of the line at the top, which has scrolled off already."""
        self.reset()

    def reset(self) -> None:
        self.rows = [CellRow() for _ in range(self.height)]
        self.x = self.y = 0
        self.top, self.bottom = 0, self.height - 1
        self.saved = (0, 0)
        self.main: tuple[list[CellRow], int, int, int] | None = None
        """The main screen with its cursor and its width, while the alternate one is shown."""
        self.wraps, self.inserts, self.relative = True, False, False
        self.head = ""

    # Text

    def put(self, text: str) -> None:
        """Write text without control characters where the cursor is."""
        if text.isascii():
            self._put(text)
            return
        for run, letter in RUNS.findall(text.replace("\xa0", " ")):
            if run:
                self._put(run)
                continue
            width = lines.column_width(letter)
            cell = self._last()
            if width and (cell is None or not self.rows[self.y][cell].endswith(JOINER)):
                self._put(letter) if min(width, self.columns) == 1 else self._put_wide(letter)
            elif cell is not None and len(self.rows[self.y][cell]) < MARKS:
                self.rows[self.y][cell] += letter

    def _last(self) -> int | None:
        """The cell that was written last, if the cursor still stands behind it."""
        row = self.rows[self.y]
        if not 0 < self.x <= len(row):
            return None
        return self.x - 1 if row[self.x - 1] or self.x == 1 else self.x - 2

    def _put(self, text: str) -> None:
        while text:
            row, start = self._place()
            part, text = text[: self.columns - start], text[self.columns - start :]
            end = start + len(part)
            self._open(row, start, end)
            row[start:end] = part
            self.x = end if self.wraps else min(end, self.columns - 1)

    def _put_wide(self, letter: str) -> None:
        if self.x >= self.columns - 1:
            if not self.wraps:
                return  # there is no room for it
            del self.rows[self.y][self.columns - 1 if self.x < self.columns else self.columns :]
            self.x = self.columns
        row, start = self._place()
        self._open(row, start, start + 2)
        row[start : start + 2] = (letter, "")
        self.x = start + 2

    def _place(self) -> tuple[CellRow, int]:
        """Where the next character goes: in this row, or at the beginning of the next."""
        joined = False
        if self.x >= self.columns:
            if self.wraps:
                self.linefeed(joined=True)
                self.x, joined = 0, True
            else:
                self.x = self.columns - 1
        row = self.rows[self.y]
        if not self.x:
            row.joined = joined
        return row, self.x

    def _open(self, row: CellRow, start: int, end: int) -> None:
        """Make cells ready to be written; no half of a wide character stays behind."""
        if len(row) < start:
            row.extend(" " * (start - len(row)))
        if self.inserts:
            row[start:start] = " " * (end - start)
            del row[self.columns :]
        row.blank(start)
        row.blank(end)

    # The cursor

    def move(self, x: int, y: int) -> None:
        self.x = min(max(0, x), self.columns - 1)
        self.y = min(max(0, y), self.height - 1)

    def address(self, x: int, y: int) -> None:
        """Go to a place as a program counts: from the top of its region, if it has said so."""
        if self.relative:
            self.move(x, min(self.top + max(0, y), self.bottom))
        else:
            self.move(x, y)

    def rise(self, count: int) -> None:
        stop = self.top if self.y >= self.top else 0
        self.move(self.x, max(stop, self.y - count))

    def sink(self, count: int) -> None:
        stop = self.bottom if self.y <= self.bottom else self.height - 1
        self.move(self.x, min(stop, self.y + count))

    def back(self) -> None:
        if self.x:
            self.x -= 1
        elif self.y and self.rows[self.y].joined:
            self.x, self.y = self.columns - 1, self.y - 1

    def tab(self) -> None:
        self.x = max(self.x, min(self.x // 8 * 8 + 8, self.columns - 1))

    def linefeed(self, *, joined: bool = False) -> None:
        if self.y == self.bottom:
            self.scroll(1, joined=joined)
        elif self.y < self.height - 1:
            self.y += 1

    def reverse(self) -> None:
        if self.y == self.top:
            self.unscroll(1)
        elif self.y:
            self.y -= 1

    # Rows

    def region(self, top: int, bottom: int) -> None:
        bottom = min(bottom, self.height - 1)
        if 0 <= top < bottom:
            self.top, self.bottom = top, bottom
            self.move(0, 0)

    def scroll(self, count: int, *, joined: bool = False) -> None:
        for _ in range(min(count, self.bottom - self.top + 1)):
            row = self.rows.pop(self.top)
            self.rows.insert(self.bottom, CellRow(joined=joined))
            if self.main is None:
                self._scrolled_off(row)

    def _scrolled_off(self, row: CellRow) -> None:
        """A line leaves when its last row does."""
        if self.head and not row.joined:
            self._gone(self.head)
        text = self.head + "".join(row)
        if lines.is_continued(row, self.rows[self.top], self.columns) and len(text) < LONGEST:
            self.head = text
        else:
            self._gone(text)

    def _gone(self, text: str) -> None:
        self.head, line = "", text.rstrip(" ")
        self.above.append(line)
        self.reader.left(line)

    def unscroll(self, count: int) -> None:
        for _ in range(min(count, self.bottom - self.top + 1)):
            del self.rows[self.bottom]
            self.rows.insert(self.top, CellRow())

    def insert_rows(self, count: int) -> None:
        if self.top <= self.y <= self.bottom:
            for _ in range(min(count, self.bottom - self.y + 1)):
                del self.rows[self.bottom]
                self.rows.insert(self.y, CellRow())

    def delete_rows(self, count: int) -> None:
        if self.top <= self.y <= self.bottom:
            for _ in range(min(count, self.bottom - self.y + 1)):
                del self.rows[self.y]
                self.rows.insert(self.bottom, CellRow())

    # Cells

    def erase(self, start: int, end: int) -> None:
        """Make cells of the cursor's row blank."""
        row = self.rows[self.y]
        end = min(end, len(row))
        if start < end:
            row.blank(start)
            row.blank(end)
            row[start:end] = " " * (end - start)
            if end == len(row):
                del row[start:]
        if not start:
            row.joined = False

    def erase_rows(self, start: int, end: int) -> None:
        for at in range(start, end):
            self.rows[at] = CellRow()

    def insert_cells(self, count: int) -> None:
        row, count = self.rows[self.y], min(count, self.columns)
        if self.x < len(row):
            row.blank(self.x)
            row[self.x : self.x] = " " * count
            row.blank(self.columns)
            del row[self.columns :]

    def delete_cells(self, count: int) -> None:
        row = self.rows[self.y]
        row.blank(self.x)
        row.blank(self.x + count)
        del row[self.x : self.x + count]

    # The whole

    def alternate(self, *, on: bool) -> None:
        """Show the other screen, which keeps nothing of what scrolls off."""
        if on and self.main is None:
            self.main = self.rows, self.x, self.y, self.columns
            self.rows = [CellRow() for _ in range(self.height)]
        elif not on and self.main is not None:
            self.rows, self.x, self.y, columns = self.main
            self.main = None
            self._adapt(columns)

    def resize(self, columns: int, height: int) -> None:
        before, self.columns, self.height = self.columns, columns, height
        self._adapt(before)

    def _adapt(self, columns: int) -> None:
        """As tmux does: lines of the main screen are cut anew, and its last rows stay in view."""
        if self.main is None and columns != self.columns:
            self.rows, self.x, self.y = lines.rewrap_rows(self.rows, columns, self.columns, self.x, self.y)
        self._fit()

    def _fit(self) -> None:
        """Drop or add rows: below the cursor first, then at the top, from where lines can come back."""
        self.top, self.bottom = 0, self.height - 1
        below = min(len(self.rows) - self.height, len(self.rows) - 1 - self.y)
        if below > 0:
            del self.rows[-below:]
        while len(self.rows) > self.height:
            row = self.rows.pop(0)
            self.y -= 1
            if self.main is None:
                self._scrolled_off(row)
        while len(self.rows) < self.height and self.main is None and self.above and not self.head:
            self._return(self.above.pop(), self.height - len(self.rows))
        self.rows += [CellRow() for _ in range(self.height - len(self.rows))]
        self.move(self.x, self.y)

    def _return(self, line: str, room: int) -> None:
        self.reader.returned(line)
        come = lines.split_rows(lines.split_cells(line), self.columns)
        self.head = "".join("".join(row) for row in come[:-room])
        self.rows[:0] = come[-room:]
        self.y += len(come[-room:])

    def lines(self) -> list[str]:
        """What is shown, from top to bottom; rows that are one line are joined."""
        texts = ["".join(["".join(row) for row in group]) for group in lines.group_lines(self.rows, self.columns)]
        if self.rows[0].joined:
            texts[0] = self.head + texts[0]
        return [text.rstrip(" ") for text in texts]
