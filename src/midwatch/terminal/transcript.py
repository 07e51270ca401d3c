"""What a person has read on a screen, each line once.

A line goes out when it scrolls off; when it has stood on the screen unchanged for SETTLES seconds, or the pane has been
silent for RESTS; and when it vanishes after it was seen more than once. What was written and is still shown is not
written again, however often it is drawn and wherever it moves. Only what a line has between wide gaps and upright
rules is compared, so that a panel beside the text makes no old line new. A line in which nothing but a clock, a counter
or a spinner has moved in its place is written again only when it scrolls off, or at the end.

As long as a program only prints lines, each goes out as soon as it ends.
"""

from __future__ import annotations

import re
from collections import Counter

from midwatch.terminal.stream import TerminalStream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOKS = 0.1
"""Seconds between two looks at a screen that changes."""
SETTLES = 1.0
RESTS = 0.3
PAST = 20_000
"""Lines that are known again when a program clears everything and prints it once more."""
AHEAD = 100
"""Lines of them that may be missing in between."""
GAPS = re.compile(r" {3,}| *[│┃║▌▐█]+ *")
BARS = " │┃║▌▐█"
"""What alone in a line makes it a blank one."""
MOVING = re.compile(r"\b\d+(?::\d\d)+\b|\b\d+(?:[.,]\d+)*\s?(?:%|(?:ms|s|sec|m|min|h|[kKM]?\s?tokens?)\b)|\W")
"""Clocks and counters, and all that is neither letter nor digit: spinners, bars, bullets that blink."""
FEW = 3
"""Letters that say nothing of a line."""


class ScreenTranscript:
    """Takes bytes in any pieces, with moments that never go back, and calls ``write`` with lines."""

    def __init__(self, columns: int, height: int, write: Callable[[str], None]) -> None:
        self._stream = TerminalStream(columns, height, self)
        self._write = write
        self._known: Counter[str] = Counter()
        """Parts of lines that were written and are still shown, as often as they are."""
        self._missed: Counter[str] = Counter()
        """Those that the last look did not find."""
        self._since: dict[str, float] = {}
        """Lines that were not written yet, and when they were first seen."""
        self._moving: dict[str, str] = {}
        """By what stands still in a line that was written: what is shown in its place now."""
        self._past: list[int] = []
        self._again: int | None = None
        """Where in the past we are, while a program prints it once more."""
        self._fresh: list[int] = []
        """What it printed then that is not in the past."""
        self._gap, self._blank = False, True
        """Whether a blank line comes before the next one; whether the last one was blank."""
        self._fed = self._looked = float("-inf")

    # What comes in

    def feed(self, data: bytes, now: float) -> None:
        if now >= self._looked + LOOKS:
            self.observe(now)  # at what was shown until now
        self._fed = now
        self._stream.feed(data)
        if self._stream.plain:
            screen = self._stream.screen
            for _, line in list(self._unknown(screen.lines()[: screen.y - screen.height])):
                self._put(line)

    def resize(self, columns: int, height: int) -> None:
        screen = self._stream.screen
        if (columns, height) != (screen.columns, screen.height) and columns > 0 and height > 0:
            screen.resize(columns, height)

    def due(self) -> float | None:
        """When to look next if nothing comes in; None: there is nothing to see."""
        due = self._fed + (SETTLES if self._stream.held else RESTS)
        return due if self._looked < due else None

    def finish(self) -> None:
        """Write what is still on the screen."""
        for gap, line in list(self._unknown(self._stream.screen.lines())):
            if line.strip(BARS):
                self._gap = gap
                self._put(line)

    # What scrolls off

    def left(self, line: str) -> None:
        self._since.pop(line, None)
        mark = hash(line)
        if self._again is not None:
            if not line or self._in_past(mark):
                return
            self._fresh.append(mark)
        elif not self._stream.plain:
            self._past.append(mark)
            del self._past[: -PAST if len(self._past) >= 2 * PAST else 0]
        if _take_known(self._known, line):
            self._gap = False
        elif line or self._stream.plain:
            self._say(line)
        else:
            self._gap = True

    def passed(self, text: str) -> None:
        """Many lines have scrolled off that were never seen."""
        if not self._stream.plain:
            for line in text[:-1].split("\n"):
                self.left(line)
            return
        self._write(text)
        self._blank = text.endswith("\n\n")

    def returned(self, line: str) -> None:
        """A line that had scrolled off is on the screen again."""
        self._known.update(split_parts(line))
        if self._past and self._past[-1] == hash(line):
            self._past.pop()

    def forgotten(self) -> None:
        """A program has cleared all, also what is above the screen: it may print everything once more."""
        self._printed()
        if not self._stream.plain:
            self._again = 0

    def _in_past(self, mark: int) -> bool:
        assert self._again is not None
        try:
            self._again = self._past.index(mark, self._again, self._again + AHEAD) + 1
        except ValueError:
            return False
        return True

    def _printed(self) -> None:
        """What was printed again has come to its end. What is missing there is on the screen now, or nowhere."""
        if self._again is None:
            return
        missing = Counter(self._past[self._again :])
        self._past[self._again :] = self._fresh
        self._again, self._fresh = None, []
        for line in self._stream.screen.lines():
            if missing[hash(line)] > 0:
                missing[hash(line)] -= 1
                self._known.update(split_parts(line))

    # What is shown

    def observe(self, now: float) -> None:
        before, self._looked = self._looked, now
        if self._stream.held and now < self._fed + SETTLES:
            return
        self._printed()
        lines = self._stream.screen.lines()
        shown = set(lines)
        self._vanished(shown, before)
        gone = self._known - Counter(part for line in lines for part in split_parts(line))
        lost = gone & self._missed
        self._known -= lost
        self._missed = gone - lost
        rests = now >= self._fed + RESTS
        for gap, line in list(self._unknown(lines)):
            if not line.strip(BARS) or self._moved(line, shown):
                continue
            since = self._since.setdefault(line, now)
            if rests or now >= since + SETTLES:
                del self._since[line]
                self._gap = gap
                self._put(line)
        self._moving = {still: line for line in lines if (still := _without_motion(line)) in self._moving}

    def _vanished(self, shown: set[str], before: float) -> None:
        """Write the lines that were seen more than once and are gone, unless they have only grown or moved."""
        for line, since in [(line, since) for line, since in self._since.items() if line not in shown]:
            del self._since[line]
            if since < before and not self._moved(line, shown) and not any(other.startswith(line) for other in shown):
                self._put(line)

    def _moved(self, line: str, shown: set[str]) -> bool:
        """Whether a line stands in the place of one that was written and says nothing else."""
        still = _without_motion(line)
        instead = self._moving.get(still)
        if instead is None or (instead != line and instead in shown):
            return False
        self._moving[still] = line
        return True

    def _unknown(self, lines: list[str]) -> Iterator[tuple[bool, str]]:
        """The lines that were not written yet, and whether a blank one is above them."""
        known, above = self._known.copy(), "x"
        for line in lines:
            if not _take_known(known, line):
                yield not above, line
            above = line.strip(BARS)

    # What goes out

    def _put(self, line: str) -> None:
        self._known.update(split_parts(line))
        self._say(line)
        if not self._stream.plain and (still := _without_motion(line)):
            self._moving[still] = line

    def _say(self, line: str) -> None:
        if self._gap and not self._blank and not self._stream.plain:
            self._write("\n")
        self._write(f"{line}\n")
        self._gap, self._blank = False, not line


def _without_motion(line: str) -> str:
    """A line without what moves in it; empty if nothing to speak of is left."""
    found = MOVING.sub("", line)
    return found if len(found) >= FEW else ""


def split_parts(line: str) -> list[str]:
    """What is compared of a line."""
    if line.isascii() and "   " not in line:
        return [line]
    return [part for part in GAPS.split(line) if part] or [line]


def _take_known(known: Counter[str], line: str) -> bool:
    """Whether all of a line is known; then it is known once less."""
    parts = split_parts(line)
    for at, part in enumerate(parts):
        left = known.get(part, 0)
        if not left:
            known.update(parts[:at])
            return False
        if left > 1:
            known[part] = left - 1
        else:
            del known[part]
    return True
