"""`midwatch session` with real agents: what was said is still known after a stop, and after everything was killed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.agents.conftest import each, need
from tests.agents.sessions import SLOW, Spawned
from tests.lab.lab import Lab

KNOWN = [pytest.param(one.values[0], id=one.id, marks=one.marks) for one in each(previous=False)]


@pytest.fixture
def home(lab: Lab) -> Iterator[Lab]:
    """A lab whose tmux server outlives its sessions."""
    lab.tmux("new-session", "-d", "-s", "keep", "sleep 3600")
    yield lab
    lab.tmux("kill-session", "-t", "=keep")


class Kept(Spawned):
    """A session that stands in a list."""

    @property
    def path(self) -> str:
        return str(self.lab.root / "list.yaml")

    def verb(self, what: str, *words: str, code: int = 0) -> dict[str, Any]:
        called = self.call("session", what, *words, "--registry", self.path, "--json")
        assert called.returncode == code, (called.stdout, called.stderr, self._shown())
        return dict(json.loads(called.stdout.splitlines()[-1]))

    def create(self, prompt: str) -> None:
        called = self.call(
            "session", "create", self.name, "--agent", self.kind, "--cwd", str(self.cwd), "--socket",
            self.tmux.arguments[1], "--prompt-file", str(self.file(prompt)), "--registry", self.path, "--json",
            *(("--", *self.more) if self.more else ()),
        )  # fmt: skip
        assert called.returncode == 0, (called.stdout, called.stderr, self._shown())
        self.pane_id = self.record()["pane"]["id"]

    def delegate(self, prompt: str) -> dict[str, Any]:
        return self.verb("delegate", self.name, "--prompt-file", str(self.file(prompt)), "--timeout", f"{SLOW:.0f}s")

    def row(self) -> dict[str, Any]:
        with open(self.path) as file:
            (found,) = yaml.safe_load(file)["sessions"]
        return dict(found)

    def said(self) -> list[str]:
        """The prompts that the model was asked to answer."""
        return [entry["prompt"] for entry in self.journal() if entry["event"] == "began" and entry.get("main")]


@pytest.mark.parametrize("agent", KNOWN)
def test_a_session_is_created_given_a_task_stopped_and_resumed(home: Lab, agent: str) -> None:
    need(agent)
    session = Kept(home, agent)
    session.create("remember this [[think 1]] [[text noted]]")
    assert session.monitor().end()["state"] == "completed"
    assert session.delegate("and this [[think 1]] [[text also noted]]")["state"] == "completed"
    stopped = session.verb("stop", session.name, "--capture-id")
    talk = stopped["conversation"]
    assert (stopped["status"], stopped["resumable"], talk) == ("stopped", True, session.conversation())
    assert not os.path.exists(f"/proc/{session.work()}")
    resumed = session.verb("resume", session.name)
    assert (resumed["status"], resumed["conversation"]) == ("running", talk)
    assert talk in session.record()["command"]
    assert session.delegate("go on [[think 1]] [[text done]]")["state"] == "completed"
    assert session.said()[-1].strip().endswith("go on [[think 1]] [[text done]]")
    assert (session.conversation(), session.row()[f"{session.kind}_session_id_own"]) == (talk, talk)


@pytest.mark.parametrize("agent", [one for one in KNOWN if one.id in ("claude", "codex-nodaemon")])
def test_what_was_killed_with_its_records_is_restored_by_its_id(home: Lab, agent: str) -> None:
    need(agent)
    session = Kept(home, agent)
    session.create("remember this [[think 1]] [[text noted]]")
    assert session.delegate("and this [[think 1]] [[text also noted]]")["state"] == "completed"
    session.call("reconcile", "--registry", session.path)
    talk = session.row()[f"{session.kind}_session_id_own"]
    assert talk
    for pid in (session.shim(), session.work()):
        os.kill(pid, signal.SIGKILL)
    session.tmux("kill-session", "-t", f"={session.name}")
    for path in (home.root / "jobs").glob(f"{session.name}.*"):
        path.unlink()
    planned = session.verb("restore", "--dry-run")
    assert (planned["name"], planned["outcome"]) == (session.name, "planned")
    assert talk in planned["command"]
    assert session.verb("restore")["outcome"] == "resumed"
    session.pane_id = session.record()["pane"]["id"]
    assert session.delegate("go on [[think 1]] [[text done]]")["state"] == "completed"
    assert session.conversation() == talk
