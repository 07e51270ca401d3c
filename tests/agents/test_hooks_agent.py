"""`midwatch hooks add`, and then the real agents report their turns."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from midwatch.agents.hooks import events
from tests.agents.conftest import need
from tests.agents.test_smoke import WORKING
from tests.lab.homes import Wish
from tests.lab.lab import Lab

SLOW = 90.0
REVIEW = {"codex": ("Hooks need review", "2 Enter")}
"""The agent's own question about new hooks, and the keys that a person answers it with."""


def reported(spool: Path, agent: str) -> list[str]:
    """Kinds of the events that the agent's hooks have noted."""
    lines = [line for path in spool.glob(f"{agent}*.events") for line in path.read_text().splitlines() if line]
    return [event.kind for line in lines if (event := events.parse_event(line))]


AGENTS = ("claude", "codex", "gemini", "opencode")


@pytest.mark.parametrize("agent", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in AGENTS])
def test_an_agent_with_the_hook_added_reports_its_turns(lab: Lab, agent: str) -> None:
    need(agent)
    home, state = lab.root / "home", lab.root / "state"
    _, _, env = lab.settle(agent, Wish(), home)
    env["XDG_STATE_HOME"] = str(state)
    added = lab.run([sys.executable, "-m", "midwatch", "hooks", "add", agent], timeout=SLOW, **env)
    assert added.returncode == 0, added
    lab.say("first", "Pearls before swine.")
    pane = lab.start(agent, home=home, ready=agent not in REVIEW)
    if agent in REVIEW:
        question, keys = REVIEW[agent]
        pane.until(question, SLOW)
        pane.answer(*keys.split())
        pane.ready(SLOW)
    pane.type("speak [[say first]]")
    pane.until("Pearls before swine", SLOW)
    pane.until(WORKING, SLOW, gone=True, what="the end of the turn")
    spool = state / "midwatch" / "hooks"
    pane.until(lambda _: reported(spool, agent)[-1:] == [events.END], SLOW, what="the report of the turn's end")
    assert events.REQUEST in reported(spool, agent) or events.PROMPT in reported(spool, agent)
