"""OpenCode asks and waits where there is much room, with its sidebar, and where there is too little."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.opencode_common import LONG, leader, over, runs, send, steady, tool


def wide(pane: AgentPane, shots: Shots) -> None:
    (pane.cwd / "notes.md").write_text("".join(f"line {number}\n" for number in range(40)))
    over(pane, send(pane, "read " + tool("read", filePath=str(pane.cwd / "notes.md"))))
    edit = {"filePath": str(pane.cwd / "notes.md"), "oldString": "line 20\n", "newString": "⬝■ esc interrupt\n"}
    send(pane, "edit " + tool("edit", **edit) + " [[ask Which way? | Left | Right]]")
    pane.until("Permission required", LONG)
    steady(pane)
    shots.take(pane, "permission-edit-200x50", "waiting", "permission")
    pane.keys("Enter")
    pane.until("esc dismiss", LONG)
    steady(pane)
    shots.take(pane, "question-200x50", "waiting", "question")
    pane.keys("Enter")
    pane.until("esc dismiss", gone=True)
    pane.until("Tool finished", LONG)
    steady(pane, 3)
    pane.keys("C-p")
    pane.until("Commands")
    steady(pane)
    shots.take(pane, "palette-200x50", "waiting", "menu")


def small(pane: AgentPane, shots: Shots) -> None:
    options = " | ".join(f"Way number {number} which is described at length" for number in range(1, 7))
    send(pane, f"ask [[ask Which of these ways should we go from here, given all that we know by now? | {options}]]")
    pane.until_model("tool-call", LONG, name="question")
    pane.until("Way number", LONG)
    steady(pane, 2)
    shots.take(pane, "question-long-46x14", "waiting", "question")
    pane.keys("Escape")
    pane.until("Way number 2", gone=True)
    steady(pane, 2)
    words = "; ".join(f"echo number {number}" for number in range(30))
    send(pane, f"run [[bash touch w1; {words}]]")
    pane.until("Permission|Allow once", LONG)
    steady(pane)
    shots.take(pane, "permission-long-46x14", "waiting", "permission")
    pane.keys("Right", "Enter")
    pane.until("Confirm", LONG)
    steady(pane)
    shots.take(pane, "permission-always-46x14", "waiting", "permission")
    pane.keys("Escape")
    pane.until("Allow once")
    pane.keys("Escape")
    pane.until("Allow once", gone=True)
    steady(pane, 2)
    leader(pane, "l")
    pane.until("Sessions")
    steady(pane)
    shots.take(pane, "menu-sessions-46x14", "waiting", "menu")
    pane.keys("Escape")
    pane.until("Sessions", gone=True)
    send(pane, "fail [[retryafter 429 7200]]")
    pane.until("retrying in", LONG)
    steady(pane, 2)
    shots.take(pane, "retry-hours-46x14", "limited", "rate")


def resized(pane: AgentPane, shots: Shots) -> None:
    send(pane, "run [[bash touch z1; sleep 300]]")
    pane.until("Permission required", LONG)
    pane.resize(60, 15)
    steady(pane, 2)
    shots.take(pane, "permission-resized-60x15", "waiting", "permission")
    pane.keys("Enter")
    runs(pane, "z1")
    pane.until("Allow once", gone=True)
    steady(pane, 2)
    shots.take(pane, "tool-resized-60x15", "working", "tool")
    pane.type("a draft of several words that does not fit into one row of so narrow a pane", enter=False)
    steady(pane)
    shots.take(pane, "tool-draft-60x15", "working", "tool")


SCENES = [
    Scene("sizes-wide", wide, {"size": (200, 50)}),
    Scene("sizes-small", small, {"size": (46, 14)}),
    Scene("sizes-resized", resized, {"size": (120, 40)}),
]
