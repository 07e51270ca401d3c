"""Scenes of Qwen Code."""

from __future__ import annotations

import os
import signal

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_steps import (
    LONG,
    TRUE_COLOUR,
    agents,
    ask,
    clear,
    close,
    dialog,
    escape,
    gone,
    kill,
    menu,
    passed,
    settle,
    shell,
    tool,
    turn,
)
from tests.lab.scenes.qwen_tricks import SCENES as TRICKS
from tests.lab.scenes.qwen_widths import SCENES as WIDTHS

WORDS = " ".join(f"item{number}" for number in range(1, 241))


def small(pane: AgentPane, shots: Shots) -> None:
    """A pane of the least size: what counts soon scrolls away or wraps."""
    settle(pane)
    shots.take(pane, "fresh-46x14", "idle")
    asked = ask(pane, "x [[think 30]]")
    passed(pane, pane.until_model("thinking", LONG, after=asked)["t"], 3)
    shots.take(pane, "thinking-46x14", "working", "model")
    escape(pane, asked)
    shots.take(pane, "interrupted-46x14", "idle", "interrupted")
    clear(pane)  # newer ones put the prompt back
    asked = ask(pane, f"y [[stream 24 {WORDS}]]")
    # Newer ones show a paragraph when it is whole, and nothing of it before.
    passed(pane, pane.until_model("text", LONG, after=asked)["t"], 10)
    shots.take(pane, "streaming-scrolled-46x14", "working", "model")
    pane.until_model("ended", LONG, after=asked)
    settle(pane)
    shots.take(pane, "ended-scrolled-46x14", "idle", "turn-ended")
    dialog(pane, "z [[bash touch m1; sleep 40]]")
    pane.keys("Down")
    pane.until(r"[›●] 2\.")  # noqa: RUF001
    shots.take(pane, "permission-second-46x14", "waiting", "permission")


def dialogs(pane: AgentPane, shots: Shots) -> None:
    dialog(pane, f"a [[write {pane.cwd}/a.txt one\\ntwo\\nthree]]")
    shots.take(pane, "permission-write-80x24", "waiting", "permission")
    pane.keys("Escape")
    settle(pane)
    shots.take(pane, "rejected-80x24", "idle", "interrupted")
    command = "; ".join(f"echo step {number} of a very long command line" for number in range(1, 40))
    dialog(pane, f"b [[bash touch m1; {command}]]")
    shots.take(pane, "permission-long-command-80x24", "waiting", "permission")
    pane.keys("Escape")
    settle(pane)
    dialog(pane, "c [[ask Which colour | Red | Blue]]", "Choose Blue")
    shots.take(pane, "question-80x24", "waiting", "question")
    pane.keys("Escape")
    settle(pane)
    tool(pane, "m2", "for i in {1..90}; do echo row $i; sleep 0.5; done", "d ")
    pane.until(r"row 5", LONG)
    shots.take(pane, "tool-printing-80x24", "working", "tool")
    pane.type("another thing for later")
    pane.type("Allow execution of: 1. Yes, allow once", enter=False)
    shots.take(pane, "queued-and-draft-tool-80x24", "working", "tool")


def menus(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    for command, shown, name, detail in (
        ("/model", "Select Model", "model", "menu"),
        ("/settings", "Settings", "settings", "menu"),
        ("/theme", "Select Theme", "theme", "menu"),
        ("/approval-mode", "Approval Mode", "approval", "menu"),
        ("/auth", "Authentication|authenticate|Connect a Provider", "auth", "login"),
        ("/resume", "Resume Session|Resume", "resume", "menu"),
    ):
        menu(pane, command, shown)
        shots.take(pane, f"menu-{name}-100x30", "waiting", detail)
        close(pane)
    pane.keys("/")
    pane.until(r"\(1/\d+\)")
    settle(pane)
    shots.take(pane, "slash-list-100x30", "idle", "turn-ended")


def failures(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "a [[status 401]]", "error")
    shots.take(pane, "failed-401", "idle", "turn-failed")
    turn(pane, "b all is well now")
    shots.take(pane, "good-after-failed", "idle", "turn-ended")
    asked = ask(pane, "c [[ratelimit 3600]]")
    refused = pane.until_model("error", LONG, after=asked)["t"]
    passed(pane, refused, 6)
    shots.take(pane, "retrying-429-after-1h", "working", "retrying")  # it waits, and does not say for how long
    pane.keys("Escape")
    settle(pane)
    asked = ask(pane, "d [[status 500]]")
    refused = pane.until_model("error", LONG, after=asked)["t"]
    passed(pane, refused, 1)
    shots.take(pane, "retrying-500", "working", "retrying")


def dead(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    asked = ask(pane, "x [[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=asked)["t"], 8)
    shots.take(pane, "hang-120x40", "working", "model")
    kill(pane, signal.SIGKILL)
    shots.take(pane, "killed-working-120x40", "exited")
    shell(pane, "vim QWEN.md", "vim")
    shots.take(pane, "killed-working-then-vim-120x40", "exited")


def killed_dialog(pane: AgentPane, shots: Shots) -> None:
    dialog(pane, "x [[bash touch m1; sleep 60]]")
    shots.take(pane, "permission-60x15", "waiting", "permission")
    kill(pane, signal.SIGKILL)
    shots.take(pane, "killed-dialog-60x15", "exited")


def quits(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    pane.keys("C-c")
    pane.until("again to exit")
    pane.keys("C-c")
    gone(pane)
    shots.take(pane, "exited-ctrl-c-80x24", "exited")
    pane.keys("-l", "qwen")
    pane.keys("Enter")
    pane.until("Type your message")
    settle(pane, 2)
    shots.take(pane, "started-again-80x24", "idle")


def suspended(pane: AgentPane, shots: Shots) -> None:
    """It takes no notice of Ctrl-Z; it can be stopped all the same."""
    turn(pane, "hello there")
    for pid in agents(pane):
        os.kill(pid, signal.SIGSTOP)
    pane.until(lambda pane: pane.facts()["pane_current_command"] == "bash", what="the shell")
    assert agents(pane), "it is only stopped"
    settle(pane)
    shots.take(pane, "suspended-80x24", "exited", "suspended")


def trust(pane: AgentPane, shots: Shots) -> None:
    pane.until("trust")
    settle(pane)
    shots.take(pane, "trust-60x15", "waiting", "trust")


SCENES: list[Scene] = [
    Scene("small", small, {"size": (46, 14)}),
    Scene("dialogs", dialogs, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("menus", menus, {"size": (100, 30), "env": TRUE_COLOUR}),
    Scene("failures", failures, {"size": (120, 40)}),
    Scene("dead", dead, {"size": (120, 40)}),
    Scene("killed-dialog", killed_dialog, {"size": (60, 15)}),
    Scene("quits", quits, {"size": (80, 24)}),
    Scene("suspended", suspended, {"size": (80, 24)}),
    Scene("trust", trust, {"size": (60, 15), "trusted": False, "ready": False}),
    *TRICKS,
    *WIDTHS,
]
