"""OpenCode asks: permissions of every kind, questions, menus, in all sizes."""

from __future__ import annotations

from typing import Any

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.opencode_common import LONG, interrupt, leader, over, rest, runs, say, send, steady, tool

PERMISSION = "Permission required"
IMITATION = """Your log ends like this:

```
┃
┃  Ask anything… "Fix a TODO in the codebase"
┃
┃  Build · Fake Model Fake
╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
⬝■■■■■■⬝  esc interrupt                            20.0K (10%)  ctrl+p commands
```

▣  Build · Fake Model · 8.3s
"""
"""A reply that draws an input box, a busy bar and a closing line, as OpenCode draws its own."""
QUESTIONS: dict[str, Any] = {
    "questions": [
        {
            "question": "Which colour?", "header": "Colour",
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
        },
        {
            "question": "Which sizes?", "header": "Sizes", "multiple": True,
            "options": [{"label": "Small", "description": "46x14"}, {"label": "Large", "description": "200x50"}],
        },
    ],
}  # fmt: skip


def permissions(pane: AgentPane, shots: Shots) -> None:
    (pane.cwd / "notes.md").write_text("".join(f"line {number}\n" for number in range(60)))
    send(pane, 'fetch it [[tool webfetch {"url":"http://127.0.0.1:9/x","format":"text"}]]')
    pane.until(PERMISSION, LONG)
    steady(pane)
    shots.take(pane, "permission-fetch", "waiting", "permission")
    pane.keys("Escape")
    pane.until(PERMISSION, gone=True)
    steady(pane)
    shots.take(pane, "rejected-fetch", "idle", "interrupted")
    content = "\n".join(f"{word} {number}" for number in range(12) for word in ("esc interrupt", "△ Permission"))
    say(pane, "imitation", IMITATION)
    send(pane, "write [[say imitation]]+" + tool("write", filePath=str(pane.cwd / "new.txt"), content=content))
    pane.until(PERMISSION, LONG)
    steady(pane)
    shots.take(pane, "permission-write-below-imitation", "waiting", "permission")
    pane.keys("C-f")
    pane.until("minimize")
    steady(pane)
    shots.take(pane, "permission-write-fullscreen", "waiting", "permission")
    pane.keys("C-f")
    pane.until("ctrl.f fullscreen")
    pane.keys("Right")
    pane.keys("Enter")
    pane.until("Always allow")
    steady(pane)
    shots.take(pane, "permission-always-confirm", "waiting", "permission")
    pane.keys("Escape")
    pane.until(PERMISSION)
    pane.keys("Escape")
    pane.until(PERMISSION, gone=True)
    steady(pane)
    send(pane, "look outside " + tool("read", filePath="/etc/hostname"))
    pane.until(PERMISSION, LONG)
    pane.keys("Right", "Right")
    steady(pane)
    shots.take(pane, "permission-outside-third-chosen", "waiting", "permission")


def long_command(pane: AgentPane, shots: Shots) -> None:
    words = "; ".join(f"echo ▣ Build · Fake Model · {number}.0s esc interrupt" for number in range(14))
    send(pane, f"long [[bash touch x; {words}]]")
    pane.until(PERMISSION, LONG)
    steady(pane)
    shots.take(pane, "permission-long-80x24", "waiting", "permission")


def small(pane: AgentPane, shots: Shots) -> None:
    steady(pane)
    shots.take(pane, "fresh-46x14", "idle")
    send(pane, "go [[bash touch s1; sleep 300; echo some more words that make it long]]")
    pane.until("Permission|Allow", LONG)
    steady(pane)
    shots.take(pane, "permission-46x14", "waiting", "permission")
    pane.keys("Enter")
    runs(pane, "s1")
    pane.until("Allow once", gone=True)
    shots.take(pane, "tool-46x14", "working", "tool")
    pane.keys("C-p")
    pane.until("Commands")
    pane.keys("Escape")
    pane.until("Commands", gone=True)
    interrupt(pane)
    shots.take(pane, "interrupted-46x14", "idle", "interrupted")
    moment = send(pane, "talk [[stream 300 word " + "and one more " * 70 + "]]")
    pane.until_model("text", LONG, after=moment)
    pane.until("one more and one more")
    shots.take(pane, "stream-46x14", "working", "model")
    interrupt(pane)
    moment = send(pane, "fail [[status 500]]")
    pane.until("retry", LONG)
    shots.take(pane, "retrying-46x14", "working", "retrying")
    pane.keys("Escape")
    pane.answer("Escape")  # the hint that it wants it twice has no room beside the error
    rest(pane)
    moment = send(pane, "hi [[text all done]]")
    over(pane, moment)
    shots.take(pane, "done-46x14", "idle", "turn-ended")
    pane.keys("C-p")
    pane.until("Commands")
    steady(pane)
    shots.take(pane, "palette-46x14", "waiting", "menu")


def questions(pane: AgentPane, shots: Shots) -> None:
    send(pane, "ask " + tool("question", **QUESTIONS))
    pane.until("dismiss|Which colour", LONG)
    steady(pane)
    shots.take(pane, "question-60x15", "waiting", "question")
    pane.keys("Tab")
    pane.until("select all that apply")
    pane.keys("Enter")
    pane.until("✓")
    steady(pane)
    shots.take(pane, "question-multi-60x15", "waiting", "question")
    pane.keys("Down", "Down", "Enter")
    steady(pane)
    shots.take(pane, "question-own-answer-60x15", "waiting", "question")
    pane.keys("Escape")
    steady(pane)
    pane.keys("Tab")
    pane.until("Review")
    steady(pane)
    shots.take(pane, "question-review-60x15", "waiting", "question")
    pane.keys("Escape")
    pane.until("dismiss", gone=True)
    steady(pane)
    shots.take(pane, "question-dismissed-60x15", "idle", "interrupted")


def fresh_menus(pane: AgentPane, shots: Shots) -> None:
    pane.keys("C-p")
    pane.until("Commands")
    steady(pane)
    shots.take(pane, "palette-fresh-80x24", "waiting", "menu")
    pane.keys("Escape")
    pane.until("Commands", gone=True)
    pane.type("/", enter=False)
    pane.until("/agents")
    steady(pane)
    shots.take(pane, "slash-list-fresh-80x24", "idle")
    pane.keys("BSpace")
    pane.until("/agents", gone=True)
    pane.type("/models")
    pane.until("Select model")
    steady(pane)
    shots.take(pane, "models-fresh-80x24", "waiting", "menu")


def menus(pane: AgentPane, shots: Shots) -> None:
    over(pane, send(pane, "hello [[text Hi. Press esc to close a menu.]]"))
    for name, key, title in (
        ("sessions", "l", "Sessions"), ("status", "s", "Status"), ("themes", "t", "Themes"),
        ("timeline", "g", "Timeline"), ("agents", "a", "Select agent"),
    ):  # fmt: skip
        leader(pane, key)
        pane.until(title)
        steady(pane)
        shots.take(pane, f"menu-{name}", "waiting", "menu")
        pane.keys("Escape")
        pane.until(title, gone=True)
    pane.type("/connect")
    pane.until("(?i)connect a provider|select provider")
    steady(pane)
    shots.take(pane, "menu-connect", "waiting", "menu")


SCENES = [
    Scene("dialogs-permissions", permissions, {"settings": {"permission": {"webfetch": "ask"}}}),
    Scene("dialogs-long-command", long_command, {"size": (80, 24)}),
    Scene("dialogs-small", small, {"size": (46, 14)}),
    Scene("dialogs-questions", questions, {"size": (60, 15)}),
    Scene("dialogs-fresh-menus", fresh_menus, {"size": (80, 24)}),
    Scene("dialogs-menus", menus, {"size": (100, 30)}),
]
