"""Conversations of real agents, cut down, and a way to tell a story line by line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.agents.transcripts.transcript_state import TranscriptState

SAMPLES = Path(__file__).parent / "samples"
Tell = Callable[..., TranscriptState]


@pytest.fixture
def sample() -> Callable[[str], list[bytes]]:
    return lambda name: (SAMPLES / name).read_bytes().splitlines(keepends=True)


def told(make: type[TranscriptState], *lines: object) -> TranscriptState:
    """The story of lines, which are bytes or objects to be written as JSON."""
    story = make()
    for line in lines:
        story.take(line if isinstance(line, bytes) else json.dumps(line).encode())
    return story


@pytest.fixture(name="told")
def told_fixture() -> Tell:
    return told


@pytest.fixture
def changes() -> Callable[[type[TranscriptState], list[bytes]], list[str]]:
    """Each line after which event, open calls or error differ: `number event [open] (error)`."""

    def run(make: type[TranscriptState], lines: list[bytes]) -> list[str]:
        story, seen, last = make(), [], ""
        for number, line in enumerate(lines, 1):
            story.take(line)
            words = story.words()
            now = words["event"]
            now += f" [{words['open']}]" if words["open"] else ""
            now += f" ({words['error']})" if "error" in words else ""
            if now != last:
                seen.append(f"{number} {now}")
            last = now
        return seen

    return run
