"""A prompt is found in a transcript by its text, if the agent's own codec calls the line a prompt."""

from __future__ import annotations

import json

import pytest

from midwatch.agents.claude.transcript import Claude
from midwatch.agents.codex.transcript import Codex
from midwatch.agents.gemini.transcript import Gemini
from midwatch.agents.qwen.transcript import Qwen
from midwatch.agents.transcripts.transcript_state import TranscriptState, parse_instant
from midwatch.sessions.prompting.codec import transcript_search

WHEN = "2026-11-15T20:00:00.000Z"
SENT = parse_instant(WHEN) or 0.0
TEXT = "go on\nplease"
LINES: list[tuple[type[TranscriptState], dict[str, object]]] = [
    (Claude, {"type": "user", "message": {"role": "user", "content": TEXT}, "timestamp": WHEN}),
    (Claude, {"type": "user", "message": {"content": [{"type": "text", "text": TEXT + " "}]}, "timestamp": WHEN}),
    (Codex, {"type": "event_msg", "payload": {"type": "user_message", "message": TEXT}, "timestamp": WHEN}),
    (Gemini, {"id": "1", "type": "user", "content": [{"text": TEXT}], "timestamp": WHEN}),
    (Qwen, {"type": "user", "message": {"parts": [{"text": TEXT}]}, "timestamp": WHEN}),
]


@pytest.mark.parametrize(("make", "line"), LINES, ids=[make.__name__ for make, _ in LINES])
def test_every_agents_prompt_is_found(make: type[TranscriptState], line: dict[str, object]) -> None:
    noise = [b"", b"{", b"[1]", b'{"type": "system"}']
    data = [*noise, json.dumps(line).encode()]
    assert transcript_search.has_prompt(data, make, TEXT, SENT)
    assert not transcript_search.has_prompt(data, make, "go on", SENT), "a part of a text is not the text"
    assert not transcript_search.has_prompt(data, make, TEXT, SENT + 10), "it was there before"


def test_what_the_model_says_is_no_prompt() -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": TEXT}]}, "timestamp": WHEN}
    assert not transcript_search.has_prompt([json.dumps(said).encode()], Claude, TEXT, SENT)
