"""What a pane shows, as it is written into a log: text, and nothing that only a terminal understands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dogwatch.capturing import Stripper


def stripped(data: bytes) -> bytes:
    return Stripper().feed(data)


@pytest.mark.parametrize(
    ("shown", "written"),
    [
        (b"\x1b[1;32mgreen\x1b[0m text\r\n", b"green text\n"),
        (b"\x1b]0;a title\x07after", b"after"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", b"link"),
        (b"\x1b(B\x1b[m\x1b=\x1b>plain", b"plain"),
        (b"\x1bP1$r0m\x1b\\answer", b"answer"),
        (b"one\x1b[3Ctwo", b"one   two"),
        (b"one\x1b[Ctwo", b"one two"),
        (b"row\x1b[5;1Hother row", b"row\nother row"),
        (b"10%\r20%\r\n", b"10%\n20%\n"),
        (b"bell\x07 and back\x08space", b"bell and backspace"),
        ("é 日本 ✻".encode(), "é 日本 ✻".encode()),
    ],
)
def test_only_text_is_left(shown: bytes, written: bytes) -> None:
    assert stripped(shown) == written


STATUS = "\x1b[?25l\x1b[2K\x1b[1G✻ Thinking…\x1b[3Cfor 3s\r\n"
SCREEN = f"{STATUS}\x1b]0;⠂ title\x1b\\\x1b[38;5;12mé\x1b[0m\r10%\r\n".encode() * 3


@given(st.lists(st.integers(0, len(SCREEN)), max_size=30))
def test_it_does_not_matter_how_the_bytes_are_cut_up(cuts: list[int]) -> None:
    stripper, at, parts = Stripper(), 0, []
    for cut in sorted(cuts):
        parts.append(stripper.feed(SCREEN[at:cut]))
        at = cut
    parts.append(stripper.feed(SCREEN[at:]))
    assert b"".join(parts) == stripped(SCREEN)


def test_what_never_ends_is_not_kept_for_ever() -> None:
    stripper = Stripper()
    stripper.feed(b"\x1b]0;" + b"x" * (1 << 17))
    assert stripper.feed(b"y\x1b\\text").endswith(b"text")
