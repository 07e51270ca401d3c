"""Gemini CLI: old lines on a pane that was made smaller, things to read while it works, and turns interrupted anew."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_steps import LONG, PERMISSION, TRUE_COLOUR, ask, escape, passed, settle, turn
from tests.lab.scenes.gemini_tricks import STATIC


def shrunk(pane: AgentPane, shots: Shots) -> None:
    """The line above its input is left where it was when the pane becomes narrower."""
    turn(pane, "hello there")
    pane.resize(80, 30)
    settle(pane)
    ask(pane, "a [[limit 7200]]")
    pane.until("Keep trying", LONG)
    settle(pane)
    shots.take(pane, "limit-menu-shrunk", "waiting", "menu")
    pane.keys("Down", "Enter")
    pane.ready()


def shrunk_with_time(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    pane.resize(80, 30)
    settle(pane)
    ask(pane, "a [[retryafter 429 7200]]")
    pane.until("Access resets at", LONG)
    settle(pane)
    shots.take(pane, "limit-menu-with-time-shrunk", "limited", "plan")


def shrunk_dialog(pane: AgentPane, shots: Shots) -> None:
    """With a title that stands still, nothing but the screen tells."""
    turn(pane, "hello there")
    pane.resize(80, 30)
    settle(pane)
    ask(pane, "a [[bash touch m1; sleep 60]]")
    pane.until(PERMISSION, LONG)
    settle(pane)
    shots.take(pane, "permission-shrunk", "waiting", "permission")


def read(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    pane.keys("F12")
    pane.until("Debug Console")
    settle(pane)
    shots.take(pane, "console", "idle", "turn-ended")
    pane.keys("F12")
    pane.until("Debug Console", gone=True)
    settle(pane)
    asked = ask(pane, "x [[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=asked)["t"], 2)
    pane.keys("F12")
    pane.until("Debug Console")
    shots.take(pane, "console-busy", "working", "model")
    pane.keys("F12")
    pane.until("Debug Console", gone=True)
    pane.type("/about")
    pane.until("About Gemini CLI")
    shots.take(pane, "about-busy", "working", "model")
    pane.type("/help", enter=False)
    pane.until("For help on")
    shots.take(pane, "slash-list-busy", "working", "model")
    pane.keys("C-u")
    pane.keys("C-r")
    pane.until(r"\(r:\)")
    shots.take(pane, "history-search-busy", "working", "model")


def interrupted(pane: AgentPane, shots: Shots) -> None:
    """An answer stands above the turn that is interrupted."""
    turn(pane, "hello there")
    for name, script in (("before-a-word", "[[hang]]"), ("after-a-word", "[[text Well,]]+[[hang]]")):
        asked = ask(pane, f"go on {script}")
        passed(pane, pane.until_model("hang", LONG, after=asked)["t"], 2)
        escape(pane, asked)
        shots.take(pane, f"interrupted-again-{name}", "idle", "interrupted")


SCENES: list[Scene] = [
    Scene("views-shrunk", shrunk, {"size": (100, 30), "env": TRUE_COLOUR}),
    Scene("views-shrunk-with-time", shrunk_with_time, {"size": (100, 30), "env": TRUE_COLOUR}),
    Scene("views-shrunk-dialog", shrunk_dialog, {"size": (100, 30), "env": TRUE_COLOUR, "settings": STATIC}),
    Scene("views-read", read, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("views-interrupted", interrupted, {"size": (80, 24), "env": TRUE_COLOUR}),
]
