"""Whatever stands on the screens, and wherever the stream is cut, each screen comes back as it was."""

from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from midwatch.tmux.codec import commands
from midwatch.tmux.codec.control_mode import ControlModeParser, ControlNotice, ControlReply, Heard
from midwatch.tmux.codec.query_modes import BUFFERED, PRINTED, QueryMode

WORD = "qwertyuiop"
FIRST = 100
"""The first number of a guard; a screen may well know it."""
ESCAPES = {7: b"\\a", 8: b"\\b", 9: b"\\t", 11: b"\\v", 12: b"\\f", 13: b"\\r", 92: b"\\\\"}

GUARDS = st.builds(
    "{} 17 {} {}".format, st.sampled_from(["%begin", "%end", "%error"]), st.integers(FIRST, FIRST + 12), st.booleans()
).map(lambda guard: guard.replace("True", "1").replace("False", "0").encode())
MARKS = st.sampled_from([f"{WORD}{kind}".encode() for kind in ("E", "S3.3a,1,2", "C%1,3", "C1", "P%1,x", ".", "")])
TEXTS = st.text(st.characters(blacklist_characters="\n\0", blacklist_categories=["Cs"]), max_size=12)
ROWS = st.one_of(
    GUARDS,
    MARKS,
    st.sampled_from([b"", b"%exit", b"%sessions-changed", b"\\033[1m", b"$HOME ${x} $", b"\x1b[1mbold\x1b[0m", b"%"]),
    TEXTS.map(lambda text: text.replace("\x7f", "").encode()),
)
SCREENS = st.lists(st.lists(ROWS, min_size=1, max_size=4), max_size=5)
CUTS = st.lists(st.integers(0, 4000), max_size=12)


def escaped(row: bytes) -> bytes:
    """As `show-buffer` writes it: what is UTF-8 stays, what is not printable gets an escape."""
    written = b"".join([ESCAPES.get(byte) or (b"\\%03o" % byte if byte < 32 else bytes([byte])) for byte in row])
    return re.sub(rb"\$(?=[A-Za-z_{])", rb"\\$", written)


class Wire:
    """What a server writes to a client in control mode."""

    def __init__(self) -> None:
        self.data = b""
        self.number = FIRST

    def say(self, line: bytes) -> None:
        self.data += line + b"\n"

    def block(self, *lines: bytes, own: int = 1) -> None:
        guard = b"17 %d %d" % (self.number, own)
        self.number += 1
        for line in (b"%begin " + guard, *lines, b"%end " + guard):
            self.say(line)

    def survey(self, screens: list[list[bytes]], way: QueryMode) -> None:
        """A list of panes, then their screens; a hook of the owner says something now and then."""
        mark = WORD.encode()
        self.block(mark + b"S3.3a,1,2")
        self.block(*[listed(number, len(rows)) for number, rows in enumerate(screens)])
        self.block(b"said by a hook", mark, own=0)
        for at in range(0, len(screens), 3):
            some = range(at, min(at + 3, len(screens)))
            self.block(mark + b"M" + b",".join([b"%d" % number for number in some]))
            for number in some:
                self.screen(screens[number], way)
        self.block(mark + b"E")
        self.block(mark + b"Z")

    def captures(self, screens: list[list[bytes]], way: QueryMode) -> None:
        """Screens, each for itself; the last of them is of a pane that is gone."""
        mark = WORD.encode()
        for number, rows in enumerate(screens):
            self.screen(rows, way, mark + b"C%%%d,%d" % (number, len(rows)))
        if way.buffered:
            self.fail()
        else:
            self.block(mark + b"C,")
            self.fail()
        self.block(mark + b"E")
        self.block(mark + b"Z")

    def screen(self, rows: list[bytes], way: QueryMode, *heading: bytes) -> None:
        if way.buffered:
            self.block()
        if heading:
            self.block(*heading)
        self.block(b"%begin 17 1 0", own=0)
        self.block(*([*map(escaped, rows), b""] if way.buffered else rows))

    def fail(self) -> None:
        guard = b"17 %d 1" % self.number
        self.number += 1
        for line in (b"%begin " + guard, b"can't find pane: %99", b"%error " + guard):
            self.say(line)


def listed(number: int, height: int) -> bytes:
    """A pane whose path has lines, one of which looks like tmux's own."""
    numbers = f"%{number},@0,1,80,{height},0,0,1,0,0,,,17,/dev/pts/1"
    texts = ("title", "cat", f"/a\n%end 17 {FIRST + 1} 1\nb", "work")
    return WORD.join([f"{WORD}P{numbers}", *texts, "."]).encode()


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[begin:end] for begin, end in pairwise(edges)]


def heard(data: bytes, cuts: list[int], *, asked: bool) -> list[Heard]:
    reader = ControlModeParser()
    if asked:
        reader.expect(WORD)
    return [each for piece in pieces(data, cuts) for each in reader.feed(piece)]


@given(SCREENS, CUTS, st.sampled_from([PRINTED, BUFFERED]))
def test_any_screen_comes_back_as_it_was(screens: list[list[bytes]], cuts: list[int], way: QueryMode) -> None:
    wire = Wire()
    wire.survey(screens, way)
    wire.say(b"%sessions-changed")
    said = heard(wire.data, cuts, asked=True)
    (answer,) = [each for each in said if isinstance(each, ControlReply)]
    reply = commands.read_reply(answer.text, WORD, (), way)
    assert reply.complete
    assert [pane.id for pane in reply.panes] == [f"%{number}" for number in range(len(screens))]
    expected = {
        f"%{number}": tuple(row.decode("utf-8", "replace") for row in rows) for number, rows in enumerate(screens)
    }
    assert reply.screens == expected
    assert said[-1] == ControlNotice("sessions-changed", "")


@given(SCREENS, CUTS, st.sampled_from([PRINTED, BUFFERED]))
def test_screens_that_are_asked_for_one_by_one_come_back_too(
    screens: list[list[bytes]], cuts: list[int], way: QueryMode
) -> None:
    wire = Wire()
    wire.captures(screens, way)
    (answer,) = [each for each in heard(wire.data, cuts, asked=True) if isinstance(each, ControlReply)]
    reply = commands.read_reply(answer.text, WORD, (), way)
    assert reply.complete
    assert reply.screens == {
        f"%{number}": tuple(row.decode("utf-8", "replace") for row in rows) for number, rows in enumerate(screens)
    }


@given(SCREENS.filter(bool), st.data(), st.sampled_from([PRINTED, BUFFERED]))
def test_a_stream_that_lost_or_got_lines_shows_no_screen_in_place_of_another(
    screens: list[list[bytes]], data: st.DataObject, way: QueryMode
) -> None:
    """A reply is complete only if every screen is its pane's, but for what was done to its own rows."""
    wire = Wire()
    wire.survey([[b"%d|" % number + row for row in rows] for number, rows in enumerate(screens)], way)
    lines = wire.data.split(b"\n")
    at = data.draw(st.integers(0, len(lines) - 1))
    if data.draw(st.booleans()):
        del lines[at : at + data.draw(st.integers(1, 4))]
    else:
        lines[at:at] = [b"%begin 17 99 1", b"more", b"%end 17 99 1"][: data.draw(st.integers(1, 3))]
    reply = commands.read_reply(b"\n".join(lines), WORD, (), way)
    for pane, rows in reply.screens.items() if reply.complete else ():
        assert [row for row in rows if row.split("|")[0] not in (pane[1:], "more", "%begin 17 99 1", "")] == []


@given(st.lists(st.one_of(ROWS, st.binary(max_size=20)), max_size=30).map(b"\n".join), CUTS)
def test_how_a_stream_is_cut_makes_no_difference(data: bytes, cuts: list[int]) -> None:
    data += f"\n{WORD}Z\n%window-add @1\n".encode()
    for asked in (True, False):
        assert heard(data, cuts, asked=asked) == heard(data, [], asked=asked)


@given(st.lists(TEXTS.map(str.encode), max_size=6), st.integers(1, 5), CUTS)
def test_notices_are_told_from_what_commands_print(texts: list[bytes], count: int, cuts: list[int]) -> None:
    """Unless they print the very guard, which takes a forger."""
    wire = Wire()
    for number in range(count):
        wire.block(*texts, b"%window-add @9")
        wire.say(b"%%window-close @%d" % number)
    said = heard(wire.data, cuts, asked=False)
    assert said == [ControlNotice("window-close", f"@{number}") for number in range(count)]
