"""The list and real agents: found, their conversation noted when there is one, and ended when they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
import yaml

from tests.agents.conftest import each, need
from tests.agents.test_send import Sender
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane

SLOW = 90.0


class List:
    """A list of sessions in the lab, and what a pass over it says."""

    def __init__(self, lab: Lab, pane: AgentPane) -> None:
        self.path = lab.root / "midwatch-sessions.yaml"
        self.path.write_text("# the lab's\nsessions: []\n")
        (lab.root / "midwatch.toml").write_text('[registry]\nnaming = ["*"]\n')
        self.root = lab.root
        self.env = {"HOME": str(pane.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self.env |= {"XDG_STATE_HOME": str(lab.root / "state")}
        self.socket = pane.tmux.arguments[1]

    def drifts(self) -> list[dict[str, Any]]:
        os.utime(self.path, (1, 1))  # nobody has just changed it
        call = [sys.executable, "-m", "midwatch", "reconcile", "--once", "--emit-diff", "--socket", self.socket]
        done = subprocess.run(
            call, env=self.env, cwd=self.root, capture_output=True, text=True, timeout=SLOW, check=False
        )
        assert done.returncode == 0, done
        found: list[dict[str, Any]] = json.loads(done.stdout)["drifts"]
        return found

    def row(self) -> dict[str, Any]:
        (found,) = yaml.safe_load(self.path.read_text())["sessions"]
        return dict(found)


@pytest.mark.parametrize(("agent", "age"), each(previous=False))
def test_an_agent_is_registered_its_conversation_noted_and_its_end_too(lab: Lab, agent: str, age: str) -> None:
    need(agent, age)
    pane = lab.start(agent)
    sender = Sender(lab, pane)
    sender.idle()
    listed = List(lab, pane)
    (drift,) = listed.drifts()
    assert (drift["class"], drift["applied"]) == ("B", True)
    kind = agent.partition("-")[0]
    assert (listed.row()["agent"], listed.row()["pane"]["cwd"]) == (kind, str(pane.cwd))
    pane.type("go [[text done]]")
    pane.until_model("began", SLOW, main=True)
    sender.idle()
    noted = listed.row()[f"{kind}_session_id_own"] or listed.drifts()[0]["after"][f"{kind}_session_id_own"]
    assert noted
    assert json.loads(sender.run("why").stdout).get("conversation", noted) == noted
    assert [each["class"] for each in listed.drifts()] == []
    assert listed.row()["last_visible_status"] == "auto-registered", "it is at its prompt, as it was"
    pane.type("think [[slow 15]]+[[text done]]")
    pane.until(lambda _: sender.turn() == "working", SLOW, what="work")
    assert listed.drifts() == []
    assert listed.row()["last_visible_status"] == "working"
    pane.tmux("kill-session", "-t", f"={pane.session}")
    assert [each["class"] for each in listed.drifts()] == ["A"]
    row = listed.row()
    assert (row["status"], row[f"{kind}_session_id_own"]) == ("terminated", noted)
    assert listed.path.read_text().startswith("# the lab's\n")
