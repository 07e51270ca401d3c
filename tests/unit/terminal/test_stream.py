"""What a pane shows after it has printed some bytes."""

from __future__ import annotations

import pytest

from midwatch.terminal.stream import PIECE, TerminalStream


class Collected:
    """Who reads a screen and keeps what has left it."""

    def __init__(self) -> None:
        self.gone: list[str] = []
        self.back: list[str] = []

    def left(self, line: str) -> None:
        self.gone.append(line)

    def passed(self, text: str) -> None:
        self.gone += text[:-1].split("\n")

    def returned(self, line: str) -> None:
        self.back.append(line)
        self.gone.pop()

    def forgotten(self) -> None:
        self.gone.append("forgotten")


def stream(data: bytes = b"", columns: int = 20, height: int = 4) -> tuple[TerminalStream, Collected]:
    reader = Collected()
    found = TerminalStream(columns, height, reader)
    found.feed(data)
    return found, reader


def shown(data: bytes, columns: int = 20, height: int = 4) -> list[str]:
    lines = stream(data, columns, height)[0].screen.lines()
    while lines and not lines[-1]:
        lines.pop()
    return lines


@pytest.mark.parametrize(
    ("printed", "rows"),
    [
        (b"\x1b[1;32mgreen\x1b[0m text\r\n", ["green text"]),
        (b"\x1b]0;a title\x07after", ["after"]),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["link"]),
        (b"\x1b(B\x1b[m\x1b=\x1b>plain", ["plain"]),
        (b"\x1bP1$r0m\x1b\\answer", ["answer"]),
        (b"one\x1b[3Ctwo", ["one   two"]),
        (b"\x1b[2;1HThis\x1b[2;6Hcommand\x1b[2;14Hneeds\x1b[2;20Hit", ["", "This command needs it"]),
        (b"row\x1b[3;1Hother", ["row", "", "other"]),
        (b"10%\r20%\r\n", ["20%"]),
        (b"bell\x07 and back\x08space", ["bell and bacspace"]),
        (b"a\tb\r\n", ["a       b"]),
        (b"long gone\r\x1b[Kshort", ["short"]),
        (b"abcdef\x1b[3D\x1b[P", ["abcef"]),
        (b"abc\x1b[2D\x1b[2@x", ["ax bc"]),
        (b"abcdef\x1b[4D\x1b[2X", ["ab  ef"]),
        (b"x\x1b[4b", ["xxxxx"]),
        (b"one\r\ntwo\r\nthree\x1b[2A\x1b[M", ["two", "three"]),
        (b"one\r\ntwo\x1b[A\r\x1b[Lzero", ["zero", "one", "two"]),
        (b"one\r\ntwo\x1b[2Jthree", ["", "   three"]),
        (b"main\x1b[?1049h\x1b[Hother\x1b[?1049l!", ["main!"]),
        (b"\x1b(0lqk\x1b(B", ["┌─┐"]),
        ("é 日本 ✻".encode(), ["é 日本 ✻"]),
        ("日本\x1b[2Dx".encode(), ["日x"]),
        ("日本\x1b[4Dx".encode(), ["x 本"]),
        ("e\u0301a".encode(), ["e\u0301a"]),
        ("a\xa0b".encode(), ["a b"]),
        (b"ab\xff\xfecd", ["ab\ufffd\ufffdcd"]),
    ],
)
def test_a_screen(printed: bytes, rows: list[str]) -> None:
    assert shown(printed) == rows


def test_a_line_that_is_too_long_for_a_row_is_one_line() -> None:
    assert shown(b"a line of words that is longer than a row\r\nnext") == [
        "a line of words that is longer than a row",
        "next",
    ]


def test_a_wide_character_goes_to_the_next_row_whole() -> None:
    found, _ = stream("abc日本".encode(), columns=4)
    assert ["".join(row) for row in found.screen.rows[:2]] == ["abc", "日本"]
    assert found.screen.lines()[0] == "abc日本"


def test_what_scrolls_off_leaves_line_by_line() -> None:
    found, reader = stream(b"".join(b"%d\r\n" % number for number in range(6)))
    assert reader.gone == ["0", "1", "2"]
    assert found.screen.lines() == ["3", "4", "5", ""]


def test_only_the_region_scrolls() -> None:
    found, reader = stream(b"\x1b[4;1Hbox\x1b[1;3r\x1b[3;1H" + b"".join(b"\r\n%d" % number for number in range(5)))
    assert found.screen.lines() == ["2", "3", "4", "box"]
    assert reader.gone == ["", "", "", "0", "1"]


def test_nothing_scrolls_off_the_alternate_screen() -> None:
    assert stream(b"\x1b[?1049h" + b"line\r\n" * 9)[1].gone == []


def test_lines_that_rush_by_are_the_same_as_if_they_were_drawn() -> None:
    data = b"".join(b"\x1b[3%dm%d\x1b[0m\tof many \r\n" % (number % 8, number) for number in range(400)) + b"end"
    fast, drawn = stream(data), stream()
    for at in range(0, len(data), 50):
        drawn[0].feed(data[at : at + 50])
    assert fast[1].gone == drawn[1].gone == [f"{number}".ljust(8) + "of many" for number in range(397)]
    assert fast[0].screen.lines() == drawn[0].screen.lines()


def test_what_never_ends_is_not_kept_for_ever() -> None:
    found, _ = stream(b"\x1b]0;" + b"x" * 2 * PIECE)
    found.feed(b"\r\n\x1b[Htext")
    assert found.screen.lines()[0].startswith("text")


def test_a_line_without_end_is_cut() -> None:
    _, reader = stream(b"x" * (1 << 20), columns=100)
    assert reader.gone
    assert max(map(len, reader.gone)) <= (1 << 17) + 100


# Another size -------------------------------------------------------------------------------------------------------


def test_lines_come_back_when_the_pane_grows() -> None:
    found, reader = stream(b"one\r\ntwo\r\nthree\r\nfour\r\nfive")
    found.screen.resize(20, 6)
    assert found.screen.lines() == ["one", "two", "three", "four", "five", ""]
    assert (reader.back, reader.gone) == (["one"], [])


def test_lines_leave_when_the_pane_shrinks_unless_there_is_room_below() -> None:
    found, reader = stream(b"one\r\ntwo\r\nthree")
    found.screen.resize(20, 3)
    assert reader.gone == []
    found.screen.resize(20, 2)
    assert (reader.gone, found.screen.lines()) == (["one"], ["two", "three"])


def test_lines_are_cut_anew_in_another_width() -> None:
    found, reader = stream(b"words of one line\r\nend")
    found.screen.resize(8, 4)
    assert ["".join(row) for row in found.screen.rows] == ["words of", " one lin", "e", "end"]
    found.feed(b"!")
    found.screen.resize(20, 4)
    assert (found.screen.lines()[:2], reader.gone) == (["words of one line", "end!"], [])
