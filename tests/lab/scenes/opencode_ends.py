"""OpenCode is gone, in every way, and its old screen may still stand."""

from __future__ import annotations

import signal

from tests.lab import processes
from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.opencode_common import LONG, agent, back, end, over, passed, runs, send, steady


def killed_working(pane: AgentPane, shots: Shots) -> None:
    moment = send(pane, "wait [[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    (pane.cwd / "old.txt").write_text(pane.screen())
    end(pane, signal.SIGKILL)
    shots.take(pane, "killed-working", "exited")
    pane.type("tail -f old.txt opencode.log")
    pane.until("esc interrupt")
    steady(pane)
    shots.take(pane, "killed-tail-old-screen", "exited")
    pane.keys("C-c")
    back(pane)
    pane.type("opencode -c")
    pane.until("wait ", LONG)
    pane.until("ctrl.p commands", LONG)
    steady(pane, 3)
    shots.take(pane, "killed-continued", "idle")


def killed_dialog(pane: AgentPane, shots: Shots) -> None:
    send(pane, "run [[bash touch k1; sleep 300]]")
    pane.until("Permission required", LONG)
    steady(pane)
    end(pane, signal.SIGKILL)
    shots.take(pane, "killed-permission", "exited")


def killed_idle(pane: AgentPane, shots: Shots) -> None:
    over(pane, send(pane, "hello [[text Hi.]]"))
    (pane.cwd / "opencode.md").write_text(pane.screen())
    end(pane, signal.SIGKILL)
    shots.take(pane, "killed-idle", "exited")
    pane.type("less opencode.md")
    pane.until("opencode.md")
    steady(pane)
    shots.take(pane, "killed-less-old-screen", "exited")


def terminated(pane: AgentPane, shots: Shots) -> None:
    send(pane, "run [[bash touch k2; sleep 300]]")
    pane.until("Permission required", LONG)
    pane.keys("Enter")
    runs(pane, "k2")
    end(pane, signal.SIGTERM)
    shots.take(pane, "terminated-tool", "exited")
    pane.type("opencode")
    pane.ready()
    steady(pane)
    shots.take(pane, "started-again", "idle")
    pane.keys("C-c")
    back(pane)
    shots.take(pane, "quit-fresh", "exited")


def suspended(pane: AgentPane, shots: Shots) -> None:
    moment = send(pane, "wait [[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    pid = agent(pane)
    pane.keys("C-z")
    pane.until(lambda _: processes.everyone()[pid].state == "T", LONG, what="the agent to be stopped")
    back(pane)
    shots.take(pane, "suspended-working", "exited", "suspended")
    pane.type("fg")
    pane.until("esc interrupt", LONG)
    shots.take(pane, "suspended-back-working", "working", "model")


SCENES = [
    Scene("ends-killed-working", killed_working, {"size": (100, 30)}),
    Scene("ends-killed-dialog", killed_dialog, {"size": (80, 24)}),
    Scene("ends-killed-idle", killed_idle, {"size": (120, 40)}),
    Scene("ends-terminated", terminated, {"size": (80, 24)}),
    Scene("ends-suspended", suspended, {"size": (100, 30)}),
]
