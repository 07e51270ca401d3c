"""What a terminal is shown of a log: text and colours, whatever stands there and however it is cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.foreign_text import is_plain
from midwatch.jobs.codec.log_text import LONGEST, LogText

PIECES = [
    b"text", b"\n", b"\r\n", b"\r", b"\t", b"\x1b[31m", b"\x1b[0m", b"\x1b[2J", b"\x1b]0;title\x07", b"\x1b", b"\x1b[",
    b"\x1b]52;c;eA==\x1b\\", b"\x1b]", b"\x9b", b"\xc2\x9b31m", b"\xc2\x9d8;;x", b"\xe2\x80\xae", b"\xff", b"\xf0\x9f",
    b"\x00", "日本 👍".encode(), b"\x1bP", b"\x1b(B", b"\x07", b"\\", b"8;;u",
]  # fmt: skip
logs = st.lists(st.sampled_from(PIECES) | st.binary(max_size=5), max_size=40).map(b"".join)


def shown(data: bytes) -> str:
    log = LogText()
    return log.feed(data) + log.end()


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        (b"plain\n\ttext\n", "plain\n\ttext\n"),
        (b"\x1b[1;31mred\x1b[0m\n", "\x1b[1;31mred\x1b[0m\n"),
        (b"\x1b[38;5;8mgrey\x1b[m\n", "\x1b[38;5;8mgrey\x1b[m\n"),
        (b"\x1b[38;2;8;8;8mgrey\x1b[m\n", "\x1b[38;2;8;8;8mgrey\x1b[m\n"),
        (b"\x1b[8mhidden\x1b[0m\n", "hidden\x1b[0m\n"),
        (b"\x1b[31;08mhidden\n", "hidden\n"),
        (b"\x1b[31mleft on\n", "\x1b[31mleft on\n\x1b[0m"),
        (b"\x1b[>4;1m\x1b[?25lx\n", "x\n"),
        (b"10%\r20%\r\x1b[2K100%\r\n", "10%\n20%\n100%\n"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07\n", "link\n"),
        (b"\x1b]52;c;eA==\x07\x1b]0;title\x07x\n", "x\n"),
        (b"\x1b]never ended\nnext\n", "never ended\nnext\n"),
        (b"\x1bPq\x1b\\\x1b(B\x1b7x\n", "x\n"),
        ("\x9b2J\x9d0;t\x9cx\n".encode(), "x\n"),
        ("\u202ex\u200b\n".encode(), "\\u202ex\\u200b\n"),
        (b"\x08\x07\x00\xff\n", "\\x08\\x07\\x00\\xff\n"),
        (b"ends in \x1b", "ends in \\e"),
        (b"ends in \xe2\x80", "ends in \\xe2\\x80"),
        (b"ends in \r", "ends in \n"),
    ],
)
def test_text_and_colours_are_shown(written: bytes, seen: str) -> None:
    assert shown(written) == seen


@given(logs)
def test_nothing_is_obeyed_but_colours(data: bytes) -> None:
    rest = re.sub(r"\x1b\[[0-9;:]*m", "", shown(data))
    assert is_plain(rest.replace("\n", "").replace("\t", "")), ascii(rest)


@given(logs, st.lists(st.integers(0, 200), max_size=6))
def test_however_it_is_cut_the_same_is_shown(data: bytes, cuts: list[int]) -> None:
    log, parts, at = LogText(), [], 0
    for cut in sorted(cuts):
        parts.append(log.feed(data[at:cut]))
        at = max(at, cut)
    parts += [log.feed(data[at:]), log.end()]
    assert "".join(parts) == shown(data)


def test_a_sequence_without_an_end_is_not_waited_for() -> None:
    log = LogText()
    assert log.feed(b"\x1b]" + b"x" * (LONGEST + 10)).endswith("xxx")
