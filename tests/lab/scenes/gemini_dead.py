"""Scenes of Gemini CLI: how it ends, and what then stands on the screen."""

from __future__ import annotations

import signal

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_steps import LONG, TRUE_COLOUR, agents, ask, dialog, gone, kill, settle, shell, tool, turn


def quits(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    pane.keys("C-c")
    pane.until("again to exit")
    pane.keys("C-c")
    gone(pane)
    shots.take(pane, "exited-ctrl-c-80x24", "exited")
    (pane.cwd / "gemini.log").write_text("✦ Hello\n ⠋ Thinking... (esc to cancel, 4s)\n >   Type your message\n")
    shell(pane, "less gemini.log", "less")
    shots.take(pane, "exited-then-less-80x24", "exited")
    pane.keys("q")
    shell(pane, "tail -f gemini.log", "tail")
    shots.take(pane, "exited-then-tail-80x24", "exited")
    pane.keys("C-c")
    settle(pane)
    pane.keys("-l", "gemini")
    pane.keys("Enter")
    pane.until("no sandbox")
    settle(pane, 2)
    shots.take(pane, "started-again-80x24", "idle")


def killed_idle(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    kill(pane, signal.SIGKILL)
    shots.take(pane, "killed-idle-120x40", "exited")
    shell(pane, "vim GEMINI.md", "vim")
    shots.take(pane, "killed-idle-then-vim-120x40", "exited")


def killed_working(pane: AgentPane, shots: Shots) -> None:
    asked = ask(pane, "x [[hang]]")
    pane.until_model("hang", LONG, after=asked)
    pane.until("esc to cancel")
    kill(pane, signal.SIGKILL)
    shots.take(pane, "killed-working-100x30", "exited")
    shell(pane, "sleep 300 && echo gemini", "sleep")
    shots.take(pane, "killed-working-then-sleep-100x30", "exited")


def killed_dialog(pane: AgentPane, shots: Shots) -> None:
    dialog(pane, "x [[bash touch m1; sleep 60]]")
    kill(pane, signal.SIGKILL)
    shots.take(pane, "killed-dialog-60x15", "exited")


def terminated(pane: AgentPane, shots: Shots) -> None:
    tool(pane, "m1", "sleep 300")
    kill(pane, signal.SIGTERM)
    shots.take(pane, "terminated-tool-80x24", "exited")


def suspended(pane: AgentPane, shots: Shots) -> None:
    settle(pane)
    pane.keys("C-z")
    pane.until("(?i)again to suspend")  # where there is something to undo, it undoes
    pane.keys("C-z")
    pane.until(lambda pane: pane.facts()["pane_current_command"] == "bash", what="the shell")
    assert agents(pane), "it is only stopped"
    settle(pane)
    shots.take(pane, "suspended-80x24", "exited", "suspended")


SCENES: list[Scene] = [
    Scene("quits", quits, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("killed-idle", killed_idle, {"size": (120, 40), "env": TRUE_COLOUR}),
    Scene("killed-working", killed_working, {"size": (100, 30), "env": TRUE_COLOUR}),
    Scene("killed-dialog", killed_dialog, {"size": (60, 15), "env": TRUE_COLOUR}),
    Scene("terminated", terminated, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("suspended", suspended, {"size": (80, 24), "env": TRUE_COLOUR}),
]
