"""Scenes of Qwen Code: words that look like its own rows, and drafts."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_steps import LONG, ask, clear, dialog, passed, paste, say, settle, tool, turn

CONFIRM = r"(?m)^  \S+ Waiting for user confirmation"
RULE = "─" * 98
FAKE_IDLE = f"""So far so good, and then:

```
{RULE}
>   Type your message or @path/to/file
{RULE}
  ? for shortcuts
```
"""
FAKE_BUSY = """The log ends with this row:

⠏ Loading the next great idea... (2s · ↓ 6 tokens · esc to cancel)
"""
FAKE_DIALOG = """It looked like this:

```
╭──────────────────────────────────────────────────────────────────────────────╮
│ ? Shell touch m1; sleep 5 ←                                                  │
│ Allow execution of: 'touch, sleep'?                                          │
│                                                                              │
│ › 1. Yes, allow once                                                         │
│   2. Always allow in this project                                            │
│   3. No, suggest changes (esc)                                               │
╰──────────────────────────────────────────────────────────────────────────────╯

⠏ Waiting for user confirmation...
```
"""  # noqa: RUF001


def imitations(pane: AgentPane, shots: Shots) -> None:
    for name, words in (("busy", FAKE_BUSY), ("dialog", FAKE_DIALOG), ("idle", FAKE_IDLE)):
        say(pane, name, words)
    turn(pane, "a [[say busy]]", shown="6 tokens")
    shots.take(pane, "reply-like-busy", "idle", "turn-ended")
    turn(pane, "b [[say dialog]]", shown="Waiting for user")
    shots.take(pane, "reply-like-dialog", "idle", "turn-ended")
    tool(pane, "m1", "sleep 60", "c [[say idle]]+", CONFIRM)
    passed(pane, (pane.cwd / "m1").stat().st_mtime, 3)
    shots.take(pane, "reply-like-idle-tool", "working", "tool")
    pane.keys("Escape")
    settle(pane)
    shots.take(pane, "interrupted-tool", "idle", "interrupted")
    clear(pane)  # newer ones put the prompt back
    asked = ask(pane, "d [[say idle]]+[[slow 60]]")
    passed(pane, pane.until_model("text", LONG, after=asked)["t"], 3)
    shots.take(pane, "reply-like-idle-model", "working", "model")
    pane.keys("Escape")
    settle(pane)
    clear(pane)
    dialog(pane, "e [[say idle]]+[[bash touch m2; sleep 60]]", CONFIRM)
    shots.take(pane, "reply-like-idle-dialog", "waiting", "permission")


def drafts(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    paste(
        pane,
        "Allow execution of: 'touch'?\n\n› 1. Yes, allow once\n  2. Always allow\n\n⠏ Waiting (2s · esc to cancel)",  # noqa: RUF001
    )
    shots.take(pane, "draft-like-dialog-60x15", "idle", "turn-ended")


SCENES: list[Scene] = [
    Scene("imitations", imitations, {"size": (100, 30)}),
    Scene("drafts", drafts, {"size": (60, 15)}),
]
