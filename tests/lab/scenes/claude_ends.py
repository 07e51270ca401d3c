"""Claude Code that is gone, stopped or started again: the old screen still stands."""

from __future__ import annotations

import signal

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.claude_common import (
    ASKING,
    FREE,
    LONG,
    agent,
    alive,
    closed,
    dialog,
    kill,
    passed,
    press,
    send,
    steady,
    there,
)
from tests.lab.scenes.claude_texts import FAKE_BUSY


def front(pane: AgentPane, command: str, name: str) -> None:
    """Run a command in the pane's shell, and wait until it has the terminal."""
    pane.type(command)
    pane.until(lambda _: pane.facts()["pane_current_command"] == name, LONG, what=f"{name} in front")
    steady(pane, 0.8)


def quit_front(pane: AgentPane, *keys: str) -> None:
    pane.keys(*keys)
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane, 0.6)


def killed_busy(pane: AgentPane, shots: Shots) -> None:
    """Kill -9 at work: spinner, box and title stand; then other programs in front, and a new agent below it all."""
    moment = send(pane, "[[slow 60]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 4)
    kill(pane, signal.SIGKILL)
    shots.take(pane, "killed-busy", "exited")
    (pane.cwd / "claude.md").write_text(FAKE_BUSY)
    front(pane, "tail -f claude.md", "tail")
    shots.take(pane, "killed-busy-tail", "exited")
    quit_front(pane, "C-c")
    pane.type("claude")
    pane.until(r"# claude\n[\s\S]*Claude Code v", LONG)
    pane.until(lambda _: agent(pane), LONG)
    steady(pane)
    shots.take(pane, "killed-busy-started-again", "idle")


def killed_dialog(pane: AgentPane, shots: Shots) -> None:
    """Kill -9 while it asks; then a new agent in the same pane, killed while idle, and vim on an agent's file."""
    send(pane, "[[bash touch x]]")
    dialog(pane, r"❯ 1\. Yes")  # noqa: RUF001
    kill(pane, signal.SIGKILL)
    shots.take(pane, "s80x24-killed-dialog", "exited")
    pane.type("claude --continue")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "claude", LONG, what="a new agent")
    pane.ready()
    steady(pane, 2)
    shots.take(pane, "s80x24-killed-dialog-continued", "idle")
    kill(pane, signal.SIGKILL)
    shots.take(pane, "s80x24-killed-idle", "exited")
    (pane.cwd / "claude.md").write_text(FAKE_BUSY)
    front(pane, "vim claude.md", "vim")
    shots.take(pane, "s80x24-killed-idle-vim", "exited")
    quit_front(pane, "Escape", ":q!", "Enter")


def killed_tool(pane: AgentPane, shots: Shots) -> None:
    """Kill -9 while a tool runs (the tool goes on), in the alternate screen."""
    send(pane, "[[bash touch one; sleep 200]]")
    there(pane, "one")
    pane.until(lambda _: alive(pane, "sleep 200"), LONG)
    shots.take(pane, "noflicker-tool", "working", "tool")
    kill(pane, signal.SIGKILL)
    shots.take(pane, "noflicker-killed-tool", "exited")


def stopped(pane: AgentPane, shots: Shots) -> None:
    """Ctrl-Z at work and at rest; a shell in front of it; back again; then the end by Ctrl-C."""
    moment = send(pane, "[[slow 40]]+[[text I am back]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 3)
    press(pane, "C-z", until="Stopped|suspended")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane)
    shots.take(pane, "s100x30-suspended-busy", "exited", "suspended")
    (pane.cwd / "notes.txt").write_text(FAKE_BUSY * 9)
    front(pane, "less notes.txt", "less")
    shots.take(pane, "s100x30-suspended-less", "exited", "suspended")
    quit_front(pane, "q")
    pane.type("fg")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "claude", LONG, what="the agent in front")
    pane.until("I am back", LONG)
    steady(pane)
    shots.take(pane, "s100x30-suspended-back", "idle", "turn-ended")
    press(pane, "C-c", until="again to exit")
    shots.take(pane, "s100x30-ctrl-c-once", "idle", "turn-ended")
    pane.keys("C-c")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane)
    shots.take(pane, "s100x30-ctrl-c-twice", "exited")


def terminated(pane: AgentPane, shots: Shots) -> None:
    """SIGTERM at work, in a dialog's place; then the old screen shown by cat, and a new agent after a limit above."""
    moment = send(pane, "[[limit 4000]]")
    closed(pane, moment)
    pane.until("Stop and wait", LONG)
    steady(pane)
    old = pane.screen()
    kill(pane, signal.SIGTERM)
    shots.take(pane, "s60x15-sigterm-limit-menu", "exited")
    (pane.cwd / "old.txt").write_text(old.rstrip() + "\n")
    pane.type("clear; cat old.txt")
    steady(pane)
    shots.take(pane, "s60x15-sigterm-cat-old", "exited")
    pane.type("claude")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "claude", LONG, what="a new agent")
    pane.ready()
    steady(pane, 2)
    shots.take(pane, "s60x15-limit-above-fresh", "idle")
    pane.keys("C-d")
    steady(pane, 0.3)
    pane.keys("C-d")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane)
    shots.take(pane, "s60x15-ctrl-d", "exited")


SCENES = [
    Scene("killed-busy", killed_busy, {"size": (120, 40)}),
    Scene("killed-dialog", killed_dialog, {"size": (80, 24)}),
    Scene("killed-tool", killed_tool, {"size": (120, 40), "settings": FREE, "env": {"CLAUDE_CODE_NO_FLICKER": "1"}}),
    Scene("stopped", stopped, {"size": (100, 30)}),
    Scene("terminated", terminated, {"size": (60, 15), "settings": ASKING, "oauth": True}),
]
