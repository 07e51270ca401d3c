"""The bytes that a pane prints, in any pieces, as things done to a screen."""

from __future__ import annotations

import codecs
import functools
import re

from midwatch.terminal.rows import column_width
from midwatch.terminal.screen import KEPT, TerminalScreen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    from midwatch.terminal import screen

    class BulkLineReader(screen.LineReader, Protocol):
        """Who is also told of many lines at once, and that a program forgets what has scrolled off."""

        def passed(self, text: str) -> None: ...
        def forgotten(self) -> None: ...


PIECE = 1 << 16
TOKEN = re.compile(
    r"([^\x00-\x1f\x7f-\x9f]+)"  # text
    r"|\x1b\[([0-?]{0,63})([ -/]{0,3})([@-~])"  # CSI: the cursor, erasing, modes, colours
    r"|\x1b[\]PX^_k][^\x07\x18\x1a\x1b]{0,65535}[\x07\x18\x1a]?"  # OSC, DCS and others: titles, links, questions
    r"|\x1b([ -/]{0,3})([0-~])"
    r"|([\x00-\x1f])"
)
UNFINISHED = re.compile(r"\x1b(?:\[[0-?]{0,63}[ -/]{0,3}|[\]PX^_k][^\x07\x18\x1a\x1b]{0,65535}|[ -/]{0,3})\Z")
STYLE = re.compile(r"\x1b\[[\d;:]*m|\x1b\[0?K")
"""Colours, and erasing to the end of a row in which nothing follows."""
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
FIRST = re.compile(r"\n([^\x00-\x7f])")
TABBED = re.compile(r"[^\n]*\t[^\n]*")
DRAWING = dict(zip(range(0x5F, 0x7F), " ◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))
"""The letters that stand for lines when a program has chosen to draw."""
BLANKS = re.compile(r" +\n")
TEXT, FINAL, ESCAPE, C0 = 1, 4, 6, 7
"""Groups of TOKEN."""
ORIGIN, WRAPS, HOLD = 6, 7, 2026
ALTERNATES = (47, 1047, 1049)
DIGITS = 5
MOVES = frozenset("ABEFHJLMSTdfr")
"""What only a program does that draws on the whole screen."""


class TerminalStream:
    """Feeds a screen. ``plain`` as long as what came is lines, one after the other."""

    def __init__(self, columns: int, height: int, reader: BulkLineReader) -> None:
        self.screen = TerminalScreen(columns, height, reader)
        self.reader = reader
        self.plain = True
        self.held = False
        """The program is in the middle of drawing, and has said so."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = ""
        self._sets, self._shift = ["B", "B"], 0
        self._last = ""
        """The character before, if nothing came since: it can be asked for again."""

    def feed(self, data: bytes) -> None:
        for at in range(0, len(data), PIECE):
            text = self._kept + self._decoder.decode(data[at : at + PIECE])
            begun = text.rfind("\x1b")
            cut = begun if begun >= 0 and UNFINISHED.match(text, begun) else len(text)
            self._kept = text[cut:]
            self._lines(text[:cut])

    # Many lines at once

    def _lines(self, text: str) -> None:
        """Lines that scroll by within this piece need not be drawn, if they are nothing but text."""
        height = self.screen.height
        if text.count("\n") > 2 * height:
            begin, end = text.find("\n") + 1, text.rfind("\n") + 1
            self._draw(text[:begin])
            text = text[begin:]
            if self._at_new_line() and (plain := self._shown(text[: end - begin])):
                passed, *last = plain[:-1].rsplit("\n", height)
                self._pass(f"{passed}\n")
                text = "".join(f"{line}\r\n" for line in last) + text[end - begin :]
        self._draw(text)

    def _pass(self, text: str) -> None:
        screen = self.screen
        for line in screen.lines()[: screen.y - screen.height]:
            screen.above.append(line)
            self.reader.left(line)
        self.reader.passed(text)
        screen.above.extend(text[:-1].rsplit("\n", KEPT)[-KEPT:])
        screen.erase_rows(0, screen.height)
        screen.y, screen.head = 0, ""

    def _at_new_line(self) -> bool:
        """Whether the cursor is at the beginning of a line below which there is nothing, on an ordinary screen."""
        screen = self.screen
        ordinary = screen.main is None and screen.wraps and not screen.inserts and self._sets[self._shift] != "0"
        whole = (screen.top, screen.bottom) == (0, screen.height - 1)
        return ordinary and whole and not screen.x and not any(screen.rows[screen.y :])

    def _shown(self, text: str) -> str:
        """The lines of a text as they would be shown; empty if that cannot be said without drawing them."""
        if "\x1b" in text:
            text = STYLE.sub("", text)
        text = text.replace("\r\n", "\n").replace("\xa0", " ")
        if "\t" in text:
            if not text.isascii() or any(len(line.expandtabs()) > self.screen.columns for line in TABBED.findall(text)):
                return ""
            text = text.expandtabs()
        if not text.replace("\n", "").isprintable() and (text.isascii() or CONTROL.search(text)):
            return ""
        if not text.isascii() and not all(map(column_width, set(FIRST.findall(f"\n{text}")))):
            return ""
        return BLANKS.sub("\n", text) if " \n" in text else text

    # One thing after the other

    def _draw(self, text: str) -> None:
        put = self.screen.put
        for found in TOKEN.finditer(text):
            kind = found.lastindex
            before, self._last = self._last, ""
            if kind == TEXT:
                self._last = found[TEXT][-1]
                put(found[TEXT].translate(DRAWING) if self._sets[self._shift] == "0" else found[TEXT])
            elif kind == FINAL:
                if found[FINAL] == "b" and before.isascii():
                    put(before * min(_parse_numbers(found[2])[0] or 1, self.screen.columns * self.screen.height))
                elif found[FINAL] != "m":
                    self._control(found[2], found[3], found[FINAL])
            elif kind == C0:
                self._single(found[C0])
            elif kind == ESCAPE:
                self._escape(found[5], found[ESCAPE])

    def _single(self, code: str) -> None:
        screen = self.screen
        if code == "\n" or code in "\v\f":
            screen.linefeed()
        elif code == "\r":
            screen.x = 0
        elif code == "\b":
            screen.back()
        elif code == "\t":
            screen.tab()
        elif code in "\x0e\x0f":
            self._shift = int(code == "\x0e")

    def _escape(self, between: str, final: str) -> None:
        screen = self.screen
        if between in ("(", ")"):
            self._sets["()".index(between)] = final
        elif not between and (do := ESCAPES.get(final)):
            do(screen)
            self.plain &= final not in "78M"
            if final == "c":
                self._sets, self._shift, self.held = ["B", "B"], 0, False

    def _control(self, given: str, between: str, final: str) -> None:
        if between or (given and given[0] in "<=>"):
            return
        self.plain &= final not in MOVES
        if given[:1] == "?":
            if final in "hl":
                for number in _parse_numbers(given[1:]):
                    self._mode(number, on=final == "h")
            return
        numbers = _parse_numbers(given)
        if final in "hl":
            self.screen.inserts = final == "h" if 4 in numbers else self.screen.inserts  # noqa: PLR2004
        elif final == "J":
            self._erase_display(numbers[0])
        elif do := CONTROLS.get(final):
            do(self.screen, *numbers[:2], *(0,) * (2 - len(numbers)))

    def _mode(self, number: int, *, on: bool) -> None:
        screen = self.screen
        if number == ORIGIN:
            screen.relative = on
            screen.address(0, 0)
        elif number == WRAPS:
            screen.wraps = on
        elif number in ALTERNATES:
            self.plain = False
            screen.alternate(on=on)
        elif number == HOLD:
            self.held = on

    def _erase_display(self, what: int) -> None:
        screen = self.screen
        if what == 0:
            screen.erase(screen.x, screen.columns)
            screen.erase_rows(screen.y + 1, screen.height)
        elif what == 1:
            screen.erase(0, screen.x + 1)
            screen.erase_rows(0, screen.y)
        elif what == 2:  # noqa: PLR2004
            screen.erase_rows(0, screen.height)
        else:
            screen.above.clear()
            screen.head = ""
            self.reader.forgotten()


@functools.lru_cache(4096)
def _parse_numbers(given: str) -> tuple[int, ...]:
    return tuple([int(part[:DIGITS]) if part.isdecimal() else 0 for part in given.split(";")])


def _save_cursor(screen: TerminalScreen) -> None:
    screen.saved = screen.x, screen.y


def _restore_cursor(screen: TerminalScreen) -> None:
    screen.move(*screen.saved)


def _next_line(screen: TerminalScreen) -> None:
    screen.x = 0
    screen.linefeed()


def _erase_line(screen: TerminalScreen, what: int) -> None:
    start = 0 if what else screen.x
    screen.erase(start, screen.x + 1 if what == 1 else screen.columns)


def _move_lines(screen: TerminalScreen, count: int) -> None:
    screen.rise(-count) if count < 0 else screen.sink(count)
    screen.x = 0


def _move_columns(screen: TerminalScreen, count: int) -> None:
    screen.move(screen.x + count, screen.y)


def _back_tabs(screen: TerminalScreen, count: int) -> None:
    screen.x = max(0, (screen.x + 7) // 8 * 8 - 8 * count)


ESCAPES: dict[str, Callable[[TerminalScreen], None]] = {
    "7": _save_cursor,
    "8": _restore_cursor,
    "D": lambda screen: screen.linefeed(),
    "E": _next_line,
    "M": TerminalScreen.reverse,
    "c": TerminalScreen.reset,
}
CONTROLS: dict[str, Callable[[TerminalScreen, int, int], None]] = {
    "@": lambda screen, n, _: screen.insert_cells(n or 1),
    "A": lambda screen, n, _: screen.rise(n or 1),
    "B": lambda screen, n, _: screen.sink(n or 1),
    "C": lambda screen, n, _: _move_columns(screen, n or 1),
    "D": lambda screen, n, _: _move_columns(screen, -(n or 1)),
    "E": lambda screen, n, _: _move_lines(screen, n or 1),
    "F": lambda screen, n, _: _move_lines(screen, -(n or 1)),
    "G": lambda screen, n, _: screen.move((n or 1) - 1, screen.y),
    "H": lambda screen, n, m: screen.address((m or 1) - 1, (n or 1) - 1),
    "K": lambda screen, n, _: _erase_line(screen, n),
    "L": lambda screen, n, _: screen.insert_rows(n or 1),
    "M": lambda screen, n, _: screen.delete_rows(n or 1),
    "P": lambda screen, n, _: screen.delete_cells(n or 1),
    "S": lambda screen, n, _: screen.scroll(n or 1),
    "T": lambda screen, n, _: screen.unscroll(n or 1),
    "X": lambda screen, n, _: screen.erase(screen.x, screen.x + (n or 1)),
    "Z": lambda screen, n, _: _back_tabs(screen, n or 1),
    "d": lambda screen, n, _: screen.address(screen.x, (n or 1) - 1),
    "r": lambda screen, n, m: screen.region((n or 1) - 1, (m or screen.height) - 1),
    "s": lambda screen, _n, _m: _save_cursor(screen),
    "u": lambda screen, _n, _m: _restore_cursor(screen),
}
CONTROLS |= {"`": CONTROLS["G"], "f": CONTROLS["H"]}
