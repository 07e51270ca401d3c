"""OpenCode with a box, a menu or a list over the conversation, while it works and while it is at rest."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.opencode_common import LONG, interrupt, leader, over, passed, rest, send, steady


def help_box(pane: AgentPane) -> None:
    pane.type("/help", enter=False)
    steady(pane)
    pane.keys("Enter")
    pane.until("esc/enter")
    steady(pane)


def close(pane: AgentPane, title: str) -> None:
    pane.keys("Escape")
    pane.until(title, gone=True)
    steady(pane)


def boxes(pane: AgentPane, shots: Shots) -> None:
    help_box(pane)
    shots.take(pane, f"help-fresh-{size(pane)}", "waiting", "menu")
    close(pane, "esc/enter")
    over(pane, send(pane, "hello [[text Hi.]]"))
    help_box(pane)
    shots.take(pane, f"help-{size(pane)}", "waiting", "menu")
    close(pane, "esc/enter")
    moment = send(pane, "go [[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    help_box(pane)
    shots.take(pane, f"help-busy-{size(pane)}", "working", "model")
    close(pane, "esc/enter")
    for name, key, title in (("models", "m", "Select model"), ("sessions", "l", "Sessions"), ("status", "s", "Status")):
        leader(pane, key)
        pane.until(title)
        steady(pane)
        shots.take(pane, f"menu-{name}-busy-{size(pane)}", "working", "model")
        close(pane, title)
    pane.keys("C-p")
    pane.until("Commands")
    steady(pane)
    shots.take(pane, f"palette-busy-{size(pane)}", "working", "model")
    close(pane, "Commands")
    for name, key, shown in (("slash", "/", "/agents"), ("files", "@", "@general")):
        pane.type(key, enter=False)
        pane.until(shown)
        steady(pane)
        shots.take(pane, f"{name}-list-busy-{size(pane)}", "working", "model")
        pane.keys("BSpace")
        pane.until(shown, gone=True)


def size(pane: AgentPane) -> str:
    facts = pane.facts()
    return f"{facts['pane_width']}x{facts['pane_height']}"


def interrupted(pane: AgentPane, shots: Shots) -> None:
    """The closing line of an older turn stands above one that did not come to its end."""
    over(pane, send(pane, "hello [[text All of it is fine.]]"))
    for name, script in (("before-a-word", "[[hang]]"), ("after-a-word", "[[text Well,]]+[[hang]]")):
        moment = send(pane, f"go on {script}")
        passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
        interrupt(pane)
        shots.take(pane, f"interrupted-again-{name}", "idle", "interrupted")
    send(pane, "run [[bash touch x1]]")
    pane.until("Permission required", LONG)
    steady(pane)
    pane.keys("Escape")
    pane.until("Permission required", gone=True)
    rest(pane)
    shots.take(pane, "interrupted-again-refused", "idle", "interrupted")
    send(pane, "ask [[ask Which colour | Red | Blue]]")
    pane.until("dismiss", LONG)
    steady(pane)
    pane.keys("Escape")
    pane.until("dismiss", gone=True)
    rest(pane)
    shots.take(pane, "interrupted-again-dismissed", "idle", "interrupted")


SCENES = [
    Scene("views-boxes-80", boxes, {"size": (80, 24)}),
    Scene("views-boxes-140", boxes, {"size": (140, 40)}),
    Scene("views-interrupted", interrupted, {"size": (100, 30)}),
]
