"""A whole session with every agent, as a person has it: an answer, a tool that needs leave, and good-bye."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest

from tests.agents.conftest import each, need
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane
from tests.lab.server.journal import CLOSING

SLOW = 90.0
"""Patience for one step, in seconds: an agent that shares two cores with others takes its time."""
WORKING = r"esc (?:to )?(?:interrupt|cancel)"


class Ways(NamedTuple):
    """How a person deals with an agent."""

    asks: str
    """What the screen shows when the agent asks for leave to run a command."""
    leave: str
    """What one types to end it."""


WAYS = {
    "claude": Ways(r"Do you want to proceed\?\n\s*❯ 1\. Yes", "/exit"),  # noqa: RUF001
    "codex": Ways(r"Would you like to run the following command\?[^›]*› 1\. Yes", "/quit"),  # noqa: RUF001
    "opencode": Ways(r"Permission required[\s\S]*Allow once", "/exit"),
    "gemini": Ways(r"Allow execution of[\s\S]*● 1\. Allow once", "/quit"),
    "qwen": Ways(r"› 1\. Yes, allow once", "/quit"),  # noqa: RUF001
}


@pytest.mark.parametrize(("agent", "age"), each(previous=True))
def test_a_session(lab: Lab, agent: str, age: str) -> None:
    need(agent, age)
    ways = WAYS[agent.partition("-")[0]]
    lab.say("first", "Pearls before swine.")
    lab.say("last", "Casting has come to its end.")
    pane = lab.start(agent, version=age)

    pane.type("speak [[say first]]")
    pane.until("Pearls before swine", SLOW)
    pane.until(WORKING, SLOW, gone=True, what="the end of the first turn")

    made = pane.cwd / "made"
    outside = "!" if agent.startswith("codex") else ""  # within its sandbox Codex asks nobody
    pane.type(f"act [[bash {outside}touch {made}]] [[say last]]")
    pane.until(ways.asks, SLOW)
    assert not made.exists(), "the tool ran before it was allowed"
    assert len(mains(pane)) == 2, "the model was asked again while a person was"

    pane.answer("Enter")
    pane.until(lambda _: made.exists(), SLOW, what="what the tool makes")
    pane.until("Casting has come to its end", SLOW)
    pane.until(WORKING, SLOW, gone=True, what="the end of the second turn")

    pane.type(ways.leave)
    pane.until(at_shell, SLOW, what="the shell")
    assert [told(request) for request in mains(pane)] == [
        (0, ["[[say first]]"], ["text"], "ended"),
        (0, [f"[[bash {outside}touch {made}]]"], ["text", "tool-call"], "ended"),
        (1, ["[[say last]]"], ["text"], "ended"),
    ]


def mains(pane: AgentPane) -> list[list[dict[str, Any]]]:
    """What the model did for the session, request by request, without titles and the like."""
    requests: dict[int, list[dict[str, Any]]] = {}
    for entry in pane.journal():
        if entry.get("main"):
            requests.setdefault(entry["seq"], []).append(entry)
    return [requests[number] for number in sorted(requests)]


def told(request: list[dict[str, Any]]) -> tuple[int, list[str], list[str], str]:
    """Step, scripted reply, what was sent, and how it closed."""
    began, *events, last = request
    assert last["event"] in CLOSING
    assert not any(entry["event"] in CLOSING for entry in events)
    sent = [entry["event"] for entry in events if entry["event"] != "first-byte"]
    return began["step"], began["reply"], sent, last["event"]


def at_shell(pane: AgentPane) -> bool:
    seen = pane.snapshot()
    return seen.facts["pane_current_command"] == "bash" and bool(re.search(r"[$#]\s*$", seen.screen))
