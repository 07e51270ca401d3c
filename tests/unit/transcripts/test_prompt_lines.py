"""A prompt is found in a transcript by its text, if the agent's own codec calls the line a prompt."""

from __future__ import annotations

import json

import pytest

from midwatch.formats.transcripts import prompts
from midwatch.formats.transcripts.claude import Claude
from midwatch.formats.transcripts.codex import Codex
from midwatch.formats.transcripts.gemini import Gemini
from midwatch.formats.transcripts.qwen import Qwen
from midwatch.formats.transcripts.story import Story, instant

WHEN = "2026-11-15T20:00:00.000Z"
SENT = instant(WHEN) or 0.0
TEXT = "go on\nplease"
LINES: list[tuple[type[Story], dict[str, object]]] = [
    (Claude, {"type": "user", "message": {"role": "user", "content": TEXT}, "timestamp": WHEN}),
    (Claude, {"type": "user", "message": {"content": [{"type": "text", "text": TEXT + " "}]}, "timestamp": WHEN}),
    (Codex, {"type": "event_msg", "payload": {"type": "user_message", "message": TEXT}, "timestamp": WHEN}),
    (Gemini, {"id": "1", "type": "user", "content": [{"text": TEXT}], "timestamp": WHEN}),
    (Qwen, {"type": "user", "message": {"parts": [{"text": TEXT}]}, "timestamp": WHEN}),
]


@pytest.mark.parametrize(("make", "line"), LINES, ids=[make.__name__ for make, _ in LINES])
def test_every_agents_prompt_is_found(make: type[Story], line: dict[str, object]) -> None:
    noise = [b"", b"{", b"[1]", b'{"type": "system"}']
    data = [*noise, json.dumps(line).encode()]
    assert prompts.said(data, make, TEXT, SENT)
    assert not prompts.said(data, make, "go on", SENT), "a part of a text is not the text"
    assert not prompts.said(data, make, TEXT, SENT + 10), "it was there before"


def test_what_the_model_says_is_no_prompt() -> None:
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": TEXT}]}, "timestamp": WHEN}
    assert not prompts.said([json.dumps(said).encode()], Claude, TEXT, SENT)
