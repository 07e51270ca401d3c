"""Codex gone, stopped, or back; and what else a shell shows where it was."""

# ruff: noqa: RUF001  # Codex draws with such characters
from __future__ import annotations

import signal

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do


def killed_idle(pane: AgentPane, shots: Shots) -> None:
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    do.kill(pane)
    shots.take(pane, "killed-idle", "exited")
    pane.type(do.command(pane))
    do.started(pane)
    pane.until(r"(?m)^› (?!\d)", do.LONG)
    do.rest(pane)
    shots.take(pane, "killed-then-again", "idle")


def killed_busy(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[hang]]")
    do.passed(pane, since, 4)
    do.kill(pane)
    shots.take(pane, "killed-busy", "exited")
    (pane.cwd / "codex.log").write_text("• Working (3s • esc to interrupt)\n")
    pane.type("tail -f codex.log")
    pane.until(lambda seen: seen.facts()["pane_current_command"] == "tail")
    do.rest(pane)
    shots.take(pane, "killed-then-tail-log", "exited")


def killed_streaming(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[text I begin.]]+[[hang]]")
    pane.until_model("hang", after=since)
    pane.until("I begin")
    do.passed(pane, since, 3)
    do.kill(pane)
    shots.take(pane, "killed-streaming", "exited")


def killed_dialog(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[bash !touch x]]")
    pane.until_model("ended", after=since, main=True)
    pane.until("Yes, proceed")
    do.still(pane, 0.7, lambda seen: seen.screen())
    do.kill(pane)
    shots.take(pane, "killed-dialog", "exited")
    (pane.cwd / "codex.md").write_text("› Ask Codex to do anything\n")
    pane.type("vim codex.md")
    pane.until(lambda seen: seen.facts()["pane_current_command"].startswith("vi"))
    do.rest(pane)
    shots.take(pane, "killed-then-vim", "exited")


def terminated(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[hang]]")
    do.passed(pane, since, 3)
    do.kill(pane, signal.SIGTERM)
    shots.take(pane, "terminated-busy", "exited")
    pane.type(f"{do.command(pane)} resume --last")
    do.started(pane)
    pane.until("Terminated", do.LONG, gone=True)
    # A daemon goes on with the turn; without it, the model was left alone and nothing goes on.
    if any(entry["event"] == "client-gone" and entry["main"] for entry in pane.journal()):
        pane.until(r"(?m)^› go", do.LONG)
        do.rest(pane, 2.5)
        shots.take(pane, "terminated-then-resumed", "idle")
    else:
        pane.until("esc to interrupt", do.LONG)
        shots.take(pane, "terminated-then-reconnected", "working", "model")


def left(pane: AgentPane, shots: Shots) -> None:
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    screen = pane.screen()
    pane.keys("C-d")
    do.shell(pane)
    shots.take(pane, "left-by-ctrl-d", "exited")
    (pane.cwd / "old.txt").write_text(screen)
    pane.type("clear; cat old.txt; sleep 600")
    pane.until(lambda seen: seen.facts()["pane_current_command"] == "sleep")
    do.rest(pane)
    shots.take(pane, "left-then-old-screen", "exited")


def suspended(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[hang]]")
    do.passed(pane, since, 3)
    pane.keys("C-z")
    do.shell(pane)
    shots.take(pane, "suspended-busy", "exited", "suspended")
    pane.type("fg")
    pane.until(lambda seen: seen.facts()["pane_current_command"] != "bash")
    pane.until("esc to interrupt", do.LONG)
    shots.take(pane, "suspended-then-back", "working", "model")


SCENES = [
    Scene("killed-idle", killed_idle, {"size": (80, 24)}),
    Scene("killed-busy", killed_busy, {"size": (80, 24)}),
    Scene("killed-streaming", killed_streaming, {"size": (60, 15)}),
    Scene("killed-dialog", killed_dialog, {"size": (80, 24)}),
    Scene("terminated", terminated, {"size": (80, 24)}),
    Scene("left", left, {"size": (80, 24)}),
    Scene("suspended", suspended, {"size": (100, 30)}),
]
