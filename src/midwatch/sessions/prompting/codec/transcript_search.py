"""Whether lines of a transcript hold a prompt with a certain text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from midwatch.agents.transcripts.transcript_state import TranscriptState
from midwatch.sessions.prompting.codec.text import is_same_prompt

SLACK = 1.0
"""Seconds by which a line's time may seem too early."""


def has_prompt(lines: Iterable[bytes], make: type[TranscriptState], text: str, since: float) -> bool:
    """A line is a prompt if the agent's codec hears one; its text is that of any field, for each has its own place."""
    for line in lines:
        story = make()
        story.take(line)
        if story.event != "prompt" or (story.at is not None and story.at < since - SLACK):
            continue
        if any(is_same_prompt(each, text) for each in _find_texts(json.loads(line.decode("utf-8", "replace")))):
            return True
    return False


def _find_texts(found: object) -> Iterator[str]:
    rest = [found]
    while rest:
        each = rest.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            rest += each.values()
        elif isinstance(each, list):
            rest += each
