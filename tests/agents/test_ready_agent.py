"""`midwatch ready` with real agents: what is ready, what is not, and what is brought back without a word lost."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from midwatch.sessions.prompting import undelivered_store
from tests.agents.test_send import Sender
from tests.agents.test_smoke import SLOW, WAYS, at_shell
from tests.lab.lab import Lab

BOTH = pytest.mark.parametrize(
    "agent",
    [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("claude", "codex")],
    indirect=True,
)
MINE = "a message of ours that was not taken [[text it was taken]]"
TALL = "\n".join(f"{number}. a row of a text that is folded" for number in range(60)) + "\n[[text folded and read]]"


class Asker(Sender):
    """One who asks whether a pane is ready."""

    def ready(self, *options: str) -> dict[str, Any]:
        done = self.run("ready", *options)
        return self._told(done)

    @staticmethod
    def _told(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
        said = [line.split(": ", 1)[1].split()[2].rstrip(":") for line in done.stderr.splitlines()]
        steps = [word for word in said if word in ("press", "wake", "resume")]
        found: dict[str, Any] = json.loads(done.stdout)
        return found | {"code": done.returncode, "steps": steps, "err": done.stderr}

    def until_ready(self) -> None:
        self.pane.until(lambda _: self.ready()["ready"], SLOW, what="readiness")

    def leave_draft(self, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Paste a message and note that it was left, as a `send` does that was not heard."""
        self.pane.tmux("set-buffer", "-b", "mine", text)
        self.pane.tmux("paste-buffer", "-prd", "-b", "mine", "-t", self.pane.pane_id)
        monkeypatch.setenv("XDG_STATE_HOME", f"{self.env['HOME']}/.local/state")
        socket = self.pane.server_args[1]
        undelivered_store.write_note(
            socket, self.pane.pane_id, text, "Enter did not send it", left=True, pid=self.pane.pid
        )
        self.pane.until(lambda _: self.ready()["recover"] == "press", SLOW, what="our draft")

    def begin(self) -> None:
        """A first turn: before that most agents have written nothing down."""
        self.until_ready()
        self.pane.type("hello [[text good day]]")
        self.pane.until_model("ended", SLOW, main=True)
        self.until_ready()


@BOTH
@pytest.mark.parametrize("text", [MINE, TALL], ids=["short", "folded"])
def test_a_message_of_ours_that_was_left_is_sent_once(
    lab: Lab, agent: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asker = Asker(lab, lab.start(agent))
    asker.begin()
    asker.prompts()
    asker.leave_draft(text, monkeypatch)
    found = asker.ready("--recover")
    assert found["steps"] == ["press"], found
    asker.until_ready()
    assert [prompt[-900:] for prompt in asker.prompts()] == [text[-900:]]
    assert undelivered_store.read_notes(asker.pane.server_args[1], asker.pane.pane_id) == []


@BOTH
def test_what_a_person_wrote_asked_or_has_open_is_left_alone(lab: Lab, agent: str) -> None:
    """A draft, a question; each is told, and stays as it is."""
    pane = lab.start(agent)
    asker = Asker(lab, pane)
    asker.begin()
    pane.type("my own words", enter=False)
    found = asker.ready("--recover")
    assert (found["code"], found["outcome"], found["steps"]) == (12, "draft", []), found
    pane.until("my own words")
    pane.keys("C-u")
    asker.until_ready()

    outside = "!" if agent.startswith("codex") else ""
    made = pane.cwd / "made"
    pane.type(f"act [[bash {outside}touch {made}]] [[text done]]")
    pane.until(WAYS[agent].asks, SLOW)
    pane.until(lambda _: asker.turn() == "waiting", SLOW, what="the question")
    found = asker.ready("--recover")
    assert (found["code"], found["outcome"], found["steps"]) == (8, "waiting", []), found
    pane.until(WAYS[agent].asks, SLOW)
    assert not made.exists()


@BOTH
def test_a_limit_is_told(lab: Lab, agent: str) -> None:
    asker = Asker(lab, lab.start(agent, oauth=agent == "claude"))
    asker.begin()
    asker.pane.type("go [[limit 7200]]")
    asker.pane.until(lambda _: asker.turn() == "limited", SLOW, what="the limit")
    found = asker.ready("--recover")
    assert (found["code"], found["outcome"], found["steps"]) == (9, "limited", []), found


@BOTH
def test_one_that_was_suspended_in_its_shell_is_woken(lab: Lab, agent: str) -> None:
    pane = lab.start(agent)
    asker = Asker(lab, pane)
    asker.begin()
    pane.keys("C-z")
    pane.until(at_shell, SLOW, what="the shell")
    pane.until(lambda _: asker.ready()["recover"] == "wake", SLOW, what="its suspension")
    made = pane.cwd / "made"
    pane.type(f"touch {made}; ", enter=False)
    found = asker.ready("--recover")
    assert (found["code"], found["steps"]) == (0, ["wake"]), f"{found}\n{pane.screen()}"
    assert not made.exists()
    pane.type("again [[text still here]]")
    pane.until("still here", SLOW)


@BOTH
def test_one_that_ended_in_its_shell_is_resumed_with_its_conversation(lab: Lab, agent: str) -> None:
    pane = lab.start(agent)
    asker = Asker(lab, pane)
    asker.begin()
    pane.type(WAYS[agent].leave)
    pane.until(at_shell, SLOW, what="the shell")
    pane.until(lambda _: asker.ready()["recover"] == "resume", SLOW, what="its last words")
    found = asker.ready("--recover")
    assert (found["code"], found["steps"]) == (0, ["resume"]), f"{found}\n{pane.screen()}"
    pane.until("good day", SLOW)
