"""`midwatch step` with real agents: one call from the prompt to what is next."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.agents.conftest import need
from tests.agents.sessions import SLOW, Spawned
from tests.lab.lab import Lab

TWO = pytest.mark.parametrize(
    "agent", [pytest.param("claude", marks=pytest.mark.claude), pytest.param("codex", marks=pytest.mark.codex)]
)


def step(lab: Lab, agent: str, prompt: str, *words: str) -> dict[str, object]:
    need(agent)
    wish: dict[str, Any] = {"settings": {"permissions": {"defaultMode": "acceptEdits"}}} if agent == "claude" else {}
    session = Spawned(lab, agent, "story", **wish)
    call = [
        sys.executable, "-m", "midwatch", "step", "story", "--agent", session.kind, "--cwd", str(session.cwd),
        "--socket", session.tmux.arguments[1], "--prompt-file", str(session.file(prompt)), *words, "--json",
        *(("--", *session.more) if session.more else ()),
    ]  # fmt: skip
    done = lab.run(call, timeout=3 * SLOW, **session.env)
    assert done.stdout, (done.returncode, done.stderr)
    assert "story" not in lab.tmux("list-sessions", "-F", "#{session_name}").split(), "it is always cleaned up"
    return {**json.loads(done.stdout), "code": done.returncode}


@pytest.fixture(autouse=True)
def kept(lab: Lab) -> None:
    """A tmux server that outlives its sessions."""
    lab.tmux("new-session", "-d", "-s", "keep", "sleep 3600")


@TWO
def test_work_that_is_there_and_reads_well_is_gone_on_with(lab: Lab, agent: str) -> None:
    prompt = "go [[write made.md # It is here]] [[text Story file created: made.md. All tests passed.]]"
    found = step(lab, agent, prompt, "--verify", "file:made.md")
    assert (found["state"], found["verified"], found["next_action"], found["code"]) == (
        "completed",
        True,
        "proceed",
        0,
    ), found


@TWO
def test_work_that_is_not_there_is_for_a_person(lab: Lab, agent: str) -> None:
    found = step(lab, agent, "go [[text Everything is done.]]", "--verify", "file:made.md", "--step", "dev", "--rules")
    assert (found["state"], found["verified"], found["next_action"], found["code"]) == (
        "incomplete",
        False,
        "escalate",
        6,
    ), found


@pytest.mark.claude
def test_a_question_is_for_a_person_and_the_session_is_gone(lab: Lab) -> None:
    found = step(lab, "claude", "go [[ask Which one? | red | blue]]")
    assert (found["state"], found["next_action"], found["code"]) == ("waiting", "escalate", 8), found
