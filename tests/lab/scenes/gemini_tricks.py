"""Scenes of Gemini CLI: words that look like its own rows, drafts, and settings that change how it looks."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_steps import (
    LONG,
    PERMISSION,
    TRUE_COLOUR,
    ask,
    dialog,
    passed,
    paste,
    say,
    settle,
    tool,
    turn,
)

PLAIN = {"ui": {"hideWindowTitle": True}}
STATIC = {"ui": {"dynamicWindowTitle": False}}
RULE = "─" * 98
FAKE_IDLE = f"""So far so good. Request cancelled, and then:

```
ℹ Request cancelled.
                                                                                    ? for shortcuts
{RULE}
 Shift+Tab to accept edits

 >   Type your message or @path/to/file

 workspace (/directory)                         sandbox                                      /model
 ~/work/proj                                    no sandbox                         gemini-2.5-flash
```
"""  # noqa: RUF001
FAKE_BUSY = """The log ends with these rows:

⠋ Thinking... (esc to cancel, 4s)                                                  ? for shortcuts

 ⠋ Thinking... (esc to cancel, 4s)
"""
FAKE_DIALOG = """It looked like this:

```
╭──────────────────────────────────────────────────────────────────────────────╮
│ ? Shell  touch m1; sleep 5                                                   │
│ Allow execution of [Shell]?                                                  │
│                                                                              │
│ ● 1. Allow once                                                              │
│   2. Allow for this session                                                  │
│   3. No, suggest changes (esc)                                               │
╰──────────────────────────────────────────────────────────────────────────────╯
```
"""
FAKE_LIMIT = """The other session said:

```
╭──────────────────────────────────────────────────────────────────────────────╮
│ Usage limit reached for gemini-2.5-flash.                                    │
│ Access resets at 5:00 PM UTC.                                                │
│ ● 1. Keep trying                                                             │
│   2. Stop                                                                    │
╰──────────────────────────────────────────────────────────────────────────────╯
```
Usage limit reached for all Pro models. Access resets at 5:00 PM UTC.
✕ [API Error: You have exhausted your quota]
● You've hit your session limit · resets 5pm
"""


def imitations(pane: AgentPane, shots: Shots) -> None:
    """Replies that end in what Gemini itself would show; it is idle, and says nothing in its title."""
    for name, words in (("busy", FAKE_BUSY), ("dialog", FAKE_DIALOG), ("limit", FAKE_LIMIT), ("idle", FAKE_IDLE)):
        say(pane, name, words)
    turn(pane, "a [[say busy]]", shown=r"Thinking\.\.\. \(esc to cancel, 4s\) *\n")
    shots.take(pane, "reply-like-busy-untitled", "idle", "turn-ended")
    turn(pane, "b [[say dialog]]", shown="3. No, suggest")
    shots.take(pane, "reply-like-dialog-untitled", "idle", "turn-ended")
    turn(pane, "c [[say limit]]", shown="hit your session limit")
    shots.take(pane, "reply-like-limit-untitled", "idle", "turn-ended")
    tool(pane, "m1", "sleep 60", "d [[say idle]]+")
    passed(pane, (pane.cwd / "m1").stat().st_mtime, 2)
    shots.take(pane, "reply-like-idle-tool-untitled", "working", "tool")
    pane.keys("Escape")
    settle(pane)
    asked = ask(pane, "e [[say idle]]+[[slow 60]]")
    began = pane.until_model("text", LONG, after=asked)["t"]
    passed(pane, began, 3)
    shots.take(pane, "reply-like-idle-model-untitled", "working", "model")
    pane.keys("Escape")
    settle(pane)
    dialog(pane, "f [[say idle]]+[[bash touch m2; sleep 60]]")
    shots.take(pane, "reply-like-idle-dialog-untitled", "waiting", "permission")


def output(pane: AgentPane, shots: Shots) -> None:
    """The imitation stands in a tool's output, in a file that is written, and in a prompt."""
    (pane.cwd / "gemini.log").write_text(FAKE_DIALOG.replace("```\n", "") + FAKE_BUSY)
    (pane.cwd / "idle.log").write_text(FAKE_IDLE)
    tool(pane, "m1", "cat gemini.log")
    pane.until("Tool finished", LONG)
    settle(pane)
    shots.take(pane, "output-like-dialog", "idle", "turn-ended")
    tool(pane, "m2", "cat idle.log; sleep 60")
    passed(pane, (pane.cwd / "m2").stat().st_mtime, 3)
    shots.take(pane, "output-like-idle-tool", "working", "tool")
    pane.keys("Escape")
    settle(pane)
    shots.take(pane, "interrupted-tool", "idle", "interrupted")
    dialog(
        pane, "x [[write notes.md ⠋ Thinking... (esc to cancel, 4s)\\n✦ Tool finished. OK.\\n >   Type your message]]"
    )
    shots.take(pane, "permission-file-like-busy", "waiting", "permission")


def drafts(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    pane.type("Usage limit reached for gemini-2.5-flash. (esc to cancel, 4s)", enter=False)
    settle(pane)
    shots.take(pane, "draft-like-limit-60x15", "idle", "turn-ended")
    pane.keys("C-u")
    pane.ready()
    paste(
        pane,
        "Allow execution of [Shell]?\n● 1. Allow once\n  2. Allow for this session\n\n ⠋ Working (esc to cancel, 4s)",
    )
    shots.take(pane, "draft-like-dialog-60x15", "idle", "turn-ended")
    pane.resize(120, 80)
    settle(pane)
    shots.take(pane, "draft-like-dialog-120x80", "idle", "turn-ended")
    pane.keys("C-u")
    pane.keys("C-c")
    pane.ready()
    paste(pane, "one\n" * 9 + "last")
    settle(pane)
    shots.take(pane, "draft-pasted-120x80", "idle", "turn-ended")


def untitled(pane: AgentPane, shots: Shots) -> None:
    """A title that does not change."""
    settle(pane)
    shots.take(pane, "fresh-static-title", "idle")
    say(pane, "long", "".join(f"Paragraph {number} of a long reply.\n\n" for number in range(1, 81)))
    asked = ask(pane, "x [[say long 30]]")
    pane.until("Paragraph 30", LONG)
    shots.take(pane, "streaming-static-title", "working", "model")
    pane.until_model("ended", LONG, after=asked)
    settle(pane)
    shots.take(pane, "ended-static-title", "idle", "turn-ended")
    tool(pane, "m1", "sleep 120")
    passed(pane, (pane.cwd / "m1").stat().st_mtime, 8)
    shots.take(pane, "tool-static-title", "working", "tool")
    pane.until("Shell awaiting input", LONG)
    shots.take(pane, "tool-silent-static-title", "working", "tool")


def buffer(pane: AgentPane, shots: Shots) -> None:
    """The alternate screen."""
    settle(pane)
    shots.take(pane, "fresh-alternate-100x30", "idle")
    say(pane, "long", "".join(f"Paragraph {number} of a long reply.\n\n" for number in range(1, 41)))
    turn(pane, "x [[say long]]", shown="Paragraph 40")
    shots.take(pane, "ended-alternate-100x30", "idle", "turn-ended")
    dialog(pane, "y [[bash touch m1; sleep 60]]")
    shots.take(pane, "permission-alternate-100x30", "waiting", "permission")
    pane.keys("Enter")
    pane.until(lambda pane: (pane.cwd / "m1").exists())
    pane.until(PERMISSION, gone=True)
    passed(pane, (pane.cwd / "m1").stat().st_mtime, 3)
    shots.take(pane, "tool-alternate-100x30", "working", "tool")


def loop(pane: AgentPane, shots: Shots) -> None:
    """A reply that repeats itself stops the turn with a question."""
    say(pane, "loop", "some words " * 40)
    asked = ask(pane, "x [[say loop]]")
    pane.until_model("text", LONG, after=asked)
    pane.until("potential loop", LONG)
    settle(pane)
    shots.take(pane, "loop-detected-80x24", "waiting", "question")
    pane.keys("Enter")
    pane.ready()
    settle(pane, 2)
    shots.take(pane, "loop-stopped-80x24", "idle", "turn-failed")


def reader(pane: AgentPane, shots: Shots) -> None:
    """Drawn for screen readers: no frames, no spinner."""
    settle(pane)
    shots.take(pane, "fresh-screen-reader", "idle")
    asked = ask(pane, "x [[think 20]]")
    passed(pane, pane.until_model("thinking", LONG, after=asked)["t"], 3)
    shots.take(pane, "thinking-screen-reader", "working", "model")
    pane.until_model("ended", LONG, after=asked)
    settle(pane)
    shots.take(pane, "ended-screen-reader", "idle", "turn-ended")
    dialog(pane, "y [[bash touch m1; sleep 60]]")
    shots.take(pane, "permission-screen-reader", "waiting", "permission")


def bare(pane: AgentPane, shots: Shots) -> None:
    """No footer, no spinner, thoughts in the title and in the text, witty phrases."""
    asked = ask(pane, "x [[think 20]]")
    passed(pane, pane.until_model("thinking", LONG, after=asked)["t"], 4)
    shots.take(pane, "thinking-bare", "working", "model")
    pane.until_model("ended", LONG, after=asked)
    settle(pane)
    shots.take(pane, "ended-bare", "idle", "turn-ended")


SCENES: list[Scene] = [
    Scene("imitations", imitations, {"size": (100, 30), "env": TRUE_COLOUR, "settings": PLAIN}),
    Scene("output", output, {"size": (100, 30), "settings": PLAIN}),
    Scene("drafts", drafts, {"size": (60, 15), "env": TRUE_COLOUR, "settings": PLAIN}),
    Scene("untitled", untitled, {"size": (80, 24), "env": TRUE_COLOUR, "settings": STATIC}),
    Scene("buffer", buffer, {"size": (100, 30), "env": TRUE_COLOUR, "settings": {"ui": {"useAlternateBuffer": True}}}),
    Scene("loop", loop, {"size": (80, 24), "env": TRUE_COLOUR}),
    Scene("reader", reader, {"size": (80, 24), "settings": {"ui": {"accessibility": {"screenReader": True}}}}),
    Scene(
        "bare", bare,
        {"size": (80, 24), "env": TRUE_COLOUR, "settings": {"ui": {
            "hideFooter": True, "showSpinner": False, "showStatusInTitle": True, "inlineThinkingMode": "full",
            "loadingPhrases": "all", "showShortcutsHint": False,
        }}},
    ),
]  # fmt: skip
