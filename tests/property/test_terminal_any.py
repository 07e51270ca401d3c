"""Whatever a pane prints, and however its bytes are cut up, the same lines are written, and nothing breaks."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from midwatch.terminal.transcript import ScreenTranscript

SIZES = st.tuples(st.integers(1, 30), st.integers(1, 8))
SEQUENCES = st.builds(
    "\x1b[{}{}{}".format,
    st.sampled_from(["", "?", ">", "9999999999;"]),
    st.lists(st.sampled_from(["", "0", "1", "2", "3", "7", "30", "1049", "2026"]), max_size=3).map(";".join),
    st.sampled_from("@ABCDEFGHIJKLMPSTXZ`abdefhlmrsu q"),
)
WORDS = st.sampled_from(
    ["word ", "two   parts", "\r\n", "\r\n\r\n", "\r", "\n", "\t", "\b", "日本語", "e\u0301", "\u0301", "👩\u200d👩",
     "│", "\xa0", "\x1b7", "\x1b8", "\x1bM", "\x1bc", "\x1b]0;title\x07", "\x1b]8;;x\x1b\\", "\x1bP", "\x1b", "\x1b(0",
     "\x0e", "\x9b", "\x7f"]
)  # fmt: skip
PRINTED = st.lists(st.one_of(WORDS, SEQUENCES, st.text(max_size=5)), max_size=40).map(
    lambda parts: "".join(parts).encode("utf-8", "replace")
)
LINES = st.lists(
    st.text(st.characters(blacklist_characters="\n\r"), max_size=50).map(lambda line: line.encode("utf-8", "replace")),
    max_size=40,
).map(lambda lines: b"".join(line + b"\r\n" for line in lines))


def written(pieces: list[bytes], size: tuple[int, int]) -> str:
    parts: list[str] = []
    transcript = ScreenTranscript(*size, parts.append)
    for piece in pieces:
        transcript.feed(piece, 0.0)
    transcript.observe(2.0)
    transcript.finish()
    return "".join(parts)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(at % (len(data) + 1) for at in cuts)})
    return [data[start:end] for start, end in pairwise(places)] or [b""]


@given(PRINTED, st.lists(st.integers(0, 1 << 16), max_size=20), SIZES)
def test_it_does_not_matter_how_the_bytes_are_cut_up(data: bytes, cuts: list[int], size: tuple[int, int]) -> None:
    plain_needs_order = b"\x1b[2J" + data  # lines of a program that only prints are written between the pieces
    assert written(cut(plain_needs_order, cuts), size) == written([plain_needs_order], size)


@settings(max_examples=300)
@given(LINES, st.lists(st.integers(0, 1 << 16), max_size=20), SIZES)
def test_nor_whether_lines_rush_by_or_are_drawn(data: bytes, cuts: list[int], size: tuple[int, int]) -> None:
    assert written(cut(data, cuts), size) == written([data], size)


@given(st.lists(st.one_of(st.binary(max_size=200), PRINTED), max_size=10), st.lists(SIZES, min_size=1, max_size=10))
def test_nothing_breaks_it(pieces: list[bytes], sizes: list[tuple[int, int]]) -> None:
    parts: list[str] = []
    transcript = ScreenTranscript(*sizes[0], parts.append)
    for at, piece in enumerate(pieces):
        transcript.resize(*sizes[at % len(sizes)])
        transcript.feed(piece, at / 10)
        screen = transcript._stream.screen
        assert len(screen.rows) == screen.height
        assert 0 <= screen.y < screen.height
        assert 0 <= screen.x <= screen.columns
        assert all(len(row) <= screen.columns for row in screen.rows) or screen.main is not None
    transcript.observe(100.0)
    transcript.finish()
    assert all(text.endswith("\n") for text in parts)
    assert not any(letter in "".join(parts) for letter in "\x1b\r\x07\x00\x9b")
