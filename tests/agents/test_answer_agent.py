"""`midwatch answer` to real agents: a permission is refused, another one is given, each in exactly its own dialog."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.test_send import Sender
from tests.agents.test_smoke import SLOW, WAYS
from tests.lab.lab import Lab

AGENTS = [pytest.param("claude", marks=pytest.mark.claude), pytest.param("codex", marks=pytest.mark.codex)]


def answer(sender: Sender, *words: str) -> dict[str, Any]:
    done = sender.run("answer", *words)
    assert done.stdout, done.stderr
    return {**json.loads(done.stdout), "code": done.returncode}


@pytest.mark.parametrize("agent", AGENTS, indirect=True)
def test_a_permission_is_answered_both_ways(lab: Lab, agent: str) -> None:
    pane = lab.start(agent)
    sender = Sender(lab, pane)
    outside = "!" if agent == "codex" else ""  # within its sandbox Codex asks nobody
    refused, allowed = pane.cwd / "refused", pane.cwd / "allowed"
    seen = []
    for made, wanted in ((refused, "No"), (allowed, "Yes")):
        sender.idle()
        pane.type(f"act [[bash {outside}touch {made}]] [[text all is done]]")
        pane.until(WAYS[agent].asks, SLOW)
        pane.until(lambda _: sender.turn() == "waiting", SLOW, what="the question")
        found = answer(sender)
        assert (found["code"], found["outcome"], found["dialog"]["kind"]) == (0, "open", "permission"), found
        seen.append(found["dialog"]["id"])
        choice = next(each["choice"] for each in found["dialog"]["choices"] if each["text"].startswith(wanted))
        assert not made.exists(), "to look answers nothing"
        answered = answer(sender, str(choice), "--dialog", seen[-1])
        assert (answered["code"], answered["outcome"], answered["choice"]) == (0, "answered", choice), answered
    pane.until(lambda _: allowed.exists(), SLOW, what="what the tool makes")
    sender.idle()
    assert not refused.exists()
    assert seen[0] != seen[1]
    late = answer(sender, "1", "--dialog", seen[1])
    assert (late["code"], late["outcome"], late["pressed"]) == (12, "no-dialog", False), late
