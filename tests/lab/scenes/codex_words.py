"""Conversations with Codex whose words look like states: of Codex itself, of other agents, of a shell."""

# ruff: noqa: RUF001  # Codex draws with such characters
from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do

QUIET = {"tui.animations": False}


def idle(pane: AgentPane, shots: Shots) -> None:
    """The turn is over; its last words say otherwise."""
    words = {"status": do.STATUS, "dialog": do.DIALOG, "others": do.OTHERS, "shell": do.SHELL}
    for name, text in words.items():
        do.reply(pane, name, text)
        do.finish(pane, do.send(pane, f"how does it look? [[say {name}]]"))
        shots.take(pane, f"words-{name}", "idle", "turn-ended")
        pane.type("/clear")
        do.rest(pane)
    asked, _, options = do.DIALOG.partition("› ")
    do.reply(pane, "asked", f"Then you see:\n\n{asked}")
    do.finish(pane, do.send(pane, "how does it look? [[say asked]]"))
    do.paste(pane, options)
    shots.take(pane, "words-draft-options", "idle", "turn-ended")


def mid(pane: AgentPane, shots: Shots) -> None:
    """The stream hangs, or a tool runs; the last words say that all is over."""
    do.reply(pane, "closing", f"All is done.\n\n{do.CLOSING}\n\n")
    do.send(pane, f"go [[say closing]]+[[bash {do.held('a')}]]")
    do.running(pane, "a")
    shots.take(pane, "words-closing-tool", "working", "tool")
    pane.keys("Escape")
    pane.until("interrupted")
    do.rest(pane)
    since = do.send(pane, "go [[say closing]]+[[hang]]")
    pane.until_model("hang", after=since)
    pane.until("Worked for")
    do.passed(pane, since, 4)
    shots.take(pane, "words-closing-streaming", "working", "model")


def mid_idle(pane: AgentPane, shots: Shots) -> None:
    do.reply(pane, "prompt", f"It shows:\n\n{do.CLOSING}\n\n› Ask Codex to do anything\n\n  gpt-5.1 default\n\n")
    since = do.send(pane, "go [[say prompt]]+[[hang]]")
    pane.until_model("hang", after=since)
    pane.until("It shows")
    do.passed(pane, since, 4)
    shots.take(pane, "words-prompt-streaming", "working", "model")


def prompts(pane: AgentPane, shots: Shots) -> None:
    """What the user says looks like a state."""
    do.paste(pane, f"what is this?\n\n■ Conversation interrupted\n\n{do.CLOSING}\n[[hang]]")
    since = do.enter(pane, 0.0)
    do.passed(pane, since, 4)
    shots.take(pane, "words-prompt-closing-busy", "working", "model")
    pane.keys("Escape")
    pane.until_model("client-gone", main=True)
    do.rest(pane)
    do.paste(pane, f"and this?\n\n◦ {do.STATUS}\n\n[[text It is a status row.]]")
    do.finish(pane, do.enter(pane, since))
    shots.take(pane, "words-prompt-status", "idle", "turn-ended")


def files(pane: AgentPane, shots: Shots) -> None:
    """Tool output and diffs hold the words."""
    (pane.cwd / "screen.txt").write_text(f"› fix it\n\n• {do.STATUS}\n\n{do.DIALOG}\n")
    do.finish(pane, do.send(pane, "go [[bash cat screen.txt; sleep 1]] [[text That is all.]]"), 2)
    shots.take(pane, "words-file-shown", "idle", "turn-ended")
    added = "\\n".join(["› fix it", f"◦ {do.STATUS}", *do.DIALOG.splitlines()[-4:]])
    do.finish(pane, do.send(pane, f"go [[write new.txt {added}]] [[text Written.]]"), 2)
    shots.take(pane, "words-diff", "idle", "turn-ended")


SCENES = [
    Scene("words-idle", idle, {"size": (80, 24)}),
    Scene("words-narrow-mid", mid, {"size": (60, 15)}),
    Scene("words-mid-prompt", mid_idle, {"size": (80, 24)}),
    Scene("words-said", prompts, {"size": (80, 24)}),
    Scene("words-files", files, {"size": (80, 24)}),
]
