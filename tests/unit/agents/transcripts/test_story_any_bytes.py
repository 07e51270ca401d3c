"""Whatever arrives, and however it is cut: the same story, and never an error."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from midwatch.agents.agy.transcript import Agy
from midwatch.agents.claude.transcript import Claude
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.gemini.transcript import Gemini
from midwatch.agents.opencode.transcript import OpenCode
from midwatch.agents.qwen.transcript import Qwen
from midwatch.agents.transcripts import line_splitter
from midwatch.agents.transcripts.transcript_state import (
    EVENTS,
    LONGEST_WORD,
    TranscriptState,
    parse_instant,
    shorten_line,
)

STORIES = [Agy, Claude, Codex, Gemini, OpenCode, Qwen]


def leaves(found: object) -> Iterator[str]:
    """All keys and texts: what a codec may look for."""
    if isinstance(found, dict):
        for key, value in found.items():
            yield key
            yield from leaves(value)
    elif isinstance(found, list):
        for value in found:
            yield from leaves(value)
    elif isinstance(found, str) and len(found) < 40:
        yield found


SAMPLES = [path.read_text().splitlines() for path in (Path(__file__).parent / "samples").iterdir()]
KNOWN = sorted({leaf for sample in SAMPLES for line in sample for leaf in leaves(json.loads(line))})
texts = st.sampled_from([*KNOWN, "gemini", "toolCalls", "parts", "tool_calls", "$set", "error", "retry"]) | st.text()
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=6),
    max_leaves=25,
)


@pytest.mark.parametrize("make", STORIES)
@settings(max_examples=200, deadline=None)
@given(found=st.lists(values, max_size=5), garbage=st.binary(max_size=200))
def test_no_line_is_too_odd(make: type[TranscriptState], found: list[object], garbage: bytes) -> None:
    story = make()
    for line in (*(json.dumps(each).encode() for each in found), garbage):
        story.take(line)
    words = story.words()
    assert words["event"] in ("", *EVENTS)
    for name, word in words.items():
        assert isinstance(word, str)
        assert word.isprintable()
        assert len(word) <= LONGEST_WORD or name == "open"


@pytest.mark.parametrize("make", STORIES)
def test_nothing_readable_is_told_apart_from_nothing(make: type[TranscriptState]) -> None:
    story = make()
    for line in (b"", b"  \r", b"\xff\xff", b"[" * 100_000, b"{", b"3", b'"x"', b"\0\0\0", b"1" * 5000):
        story.take(line)
    assert (story.understood, story.passed_over, story.event) == (0, 7, "")


@given(st.binary(max_size=300), st.lists(st.integers(0, 300)))
def test_lines_are_the_same_however_they_arrive(stream: bytes, cuts: list[int]) -> None:
    at = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    splitter = line_splitter.LineSplitter()
    found = [line for a, b in itertools.pairwise(at) for line in splitter.feed(stream[a:b])]
    assert found == stream.split(b"\n")[:-1]


def test_a_line_beyond_measure_is_dropped_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_splitter, "LONGEST", 10)
    splitter = line_splitter.LineSplitter()
    assert splitter.feed(b"short\n" + b"x" * 11) == [b"short"]
    assert splitter.feed(b"x" * 50) == []
    assert splitter.feed(b"x\nnext\n" + b"y" * 11 + b"\nlast\n") == [b"next", b"last"]


def test_lines_of_many_megabytes_are_read(sample_line: bytes) -> None:
    story = Claude()
    story.take(sample_line)
    assert (story.event, story.words()["open"]) == ("tool-result", "")


@pytest.fixture
def sample_line() -> bytes:
    block = {"type": "tool_result", "tool_use_id": "a", "content": "x" * (20 << 20)}
    return json.dumps({"type": "user", "timestamp": None, "message": {"content": [block]}}).encode()


def test_invalid_utf8_inside_a_line_does_not_hide_it() -> None:
    story = Claude()
    story.take(b'{"type":"user","cwd":"/p","message":{"content":"caf\xe9 \xff"}}')
    assert story.event == "prompt"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-11-15T20:05:05.787Z", 1794773105.787),
        ("2026-11-15T20:05:05", 1794773105.0),
        ("2026-11-15T21:05:05+01:00", 1794773105.0),
        (1794773105787, 1794773105.787),
        ("yesterday", None),
        (True, None),
        (-1, None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_moments(value: object, seconds: float | None) -> None:
    assert parse_instant(value) == seconds


def test_words_can_be_shown() -> None:
    assert shorten_line("a\n\x1b[31mb\ud800\u202e") == "a [31mb?"
