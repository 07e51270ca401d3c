"""How turns end badly, by the rules of Codex, OpenCode and Gemini CLI: from hooks, and with the agent's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from midwatch.agents import catalog, evidence
from midwatch.agents.definition import match_sources
from midwatch.agents.turn_model import Presence
from midwatch.replay.codec import screen_case

GOLDENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"


@pytest.mark.parametrize(
    ("agent", "words", "said"),
    [
        ("codex", {"event": "Interrupt"}, ("idle", "interrupted")),
        ("gemini", {"event": "AfterAgent"}, ("idle", "")),
        ("opencode", {"event": "session.idle"}, ("idle", "")),
        ("opencode", {"event": "session.idle", "error": "MessageAbortedError"}, ("idle", "interrupted")),
        ("opencode", {"event": "session.status", "status": "idle", "error": "APIError"}, ("idle", "turn-failed")),
        ("opencode", {"event": "session.status", "status": "busy", "error": "APIError"}, ("working", "")),
    ],
)
def test_what_a_hook_tells_of_the_end(agent: str, words: dict[str, str], said: tuple[str, str]) -> None:
    texts = {f"hook.{word}": value for word, value in words.items()}
    (heard,) = match_sources(catalog.load(agent), texts, "")
    assert (heard.turn, heard.detail) == said


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("codex/failed-400", '{"error": {"message": "fake error 400", '),
        ("codex/limit-after-tool", "You’ve hit your usage limit. Upgrade to Pro"),  # noqa: RUF001
        ("opencode/failed-401-80x24", "fake error 401"),
        ("gemini/failed-401", "[API Error: "),
        ("gemini/limit-stopped", "[API Error: You have exhausted your daily quota on this model.]"),
        ("gemini/limit-with-time-stopped", "[API Error: fake error 429 Suggested retry after 7200s.]"),
        ("gemini/limit-menu-with-time", "Usage limit reached for gemini-2.5-flash."),
        ("gemini/loop-stopped-80x24", "A potential loop was detected."),
    ],
)
def test_the_agents_own_words_for_what_went_wrong(name: str, words: str) -> None:
    detector, folder = catalog.load(name.partition("/")[0]), GOLDENS / name
    screen, facts = (folder / "screen.ansi.txt").read_text(), (folder / "facts.json").read_text()
    texts = evidence.rule_texts(
        detector, screen_case.read_observation(detector.agent, screen, facts, ""), Presence("alive", "")
    )
    (shown,) = (said for said in match_sources(detector, texts, "") if said.source == "screen")
    assert shown.text.raw.startswith(words)
