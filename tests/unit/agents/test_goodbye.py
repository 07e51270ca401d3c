"""The last words of agents, as they stand on real screens: which conversation, and whether anything came after."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dogwatch.agents import goodbye
from dogwatch.store import detectors

SCREENS = Path(__file__).parents[2] / "goldens" / "agents" / "screens"
KNOWN = detectors.load_all()
ONE, TWO = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf", "58fc8578-6f21-4613-9780-b39c33ccfb94"
PROMPT = "here$"


def read(*rows: str, cursor: tuple[int, int] | None = None) -> tuple[str, str, bool] | None:
    """Agent, conversation, and whether something was run since; the cursor is at the end unless it is said where."""
    found = goodbye.read(KNOWN, rows, cursor or (len(rows[-1]), len(rows) - 1))
    return (found.agent.agent, found.conversation, found.since) if found else None


@pytest.mark.parametrize(
    ("agent", "case", "conversation"),
    [
        ("claude", "exited", "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"),
        ("claude", "exited-slash", "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"),
        ("claude", "hard-exited-adv-above", "499fe232-58cf-4cce-966c-55e057514cf3"),
        ("codex", "exited", "01a1e0d5-e3d0-71c1-a6b2-364982b59228"),
        ("codex-nodaemon", "exited", "01a1e0da-1ec0-76d3-8952-e6c2f2556603"),
        ("gemini", "exited", "58fc8578-6f21-4613-9780-b39c33ccfb94"),
        ("gemini", "exited-ctrl-c-80x24", "eaa63b1d-8ac5-43af-b399-d7486cd4dd2a"),
        ("qwen", "exited", "340a6d74-422b-41da-884a-12407aec4b9c"),
        ("qwen", "exited-ctrl-c-80x24", "7aba0809-5d81-48e3-b85d-c8a481403491"),
    ],
)
def test_real_agents_say_how_to_come_back(agent: str, case: str, conversation: str) -> None:
    rows = (SCREENS / agent / case / "screen.txt").read_text().split("\n")
    facts = json.loads((SCREENS / agent / case / "facts.json").read_text())
    cursor = int(facts["cursor_x"]), int(facts["cursor_y"])
    assert read(*rows, cursor=cursor) == (agent.partition("-")[0], conversation, False)


def test_of_several_the_last_holds() -> None:
    rows = (f"claude --resume {ONE}", f"To continue this session, run qwen --resume {TWO}", PROMPT)
    assert read(*rows) == ("qwen", TWO, False)


def test_what_is_no_id_or_no_command_of_an_agent_says_nothing() -> None:
    assert read("claude --resume last", PROMPT) is None
    assert read(f"claude --resume {ONE}-and-more", PROMPT) is None
    assert read(f"myclaude --resume {ONE}", PROMPT) is None
    assert read(f"claude {ONE}", PROMPT) is None


def test_a_command_that_was_run_since_is_noticed() -> None:
    assert read(f"claude --resume {ONE}", f"{PROMPT} ls", "src", PROMPT) == ("claude", ONE, True)
    assert read(f"claude --resume {ONE}", PROMPT, f"{PROMPT} half^C", f"{PROMPT} ^C", PROMPT) == ("claude", ONE, False)


def test_half_a_line_at_the_prompt_is_no_command() -> None:
    assert read(f"claude --resume {ONE}", f"{PROMPT} half a line") == ("claude", ONE, False)
