"""Codex in less usual situations: notices behind a turn, folded steps, goals, a side conversation, refused commands."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do
from tests.lab.scenes.codex_views import calm, command

HELLO = "hello [[text Hello. How can I help?]]"
QUIET = {"tui.animations": False}
"""Without animations the title tells nothing."""
NOTICES = {"pwd": "Current working directory", "goal": "Usage: /goal", "approve": "No recent auto-review"}


def notices(pane: AgentPane, shots: Shots) -> None:
    """Answers to commands are drawn like words of the model; behind turns that ended well, badly and by Esc."""
    for name, shown in NOTICES.items():
        do.finish(pane, do.send(pane, HELLO))
        command(pane, name)
        pane.until(shown, do.LONG)
        do.rest(pane)
        shots.take(pane, f"notice-{name}", "idle", "turn-ended")
    since = do.send(pane, "go [[status 400]]")
    pane.until_model("error", after=since, main=True)
    pane.until("■", do.LONG)
    do.rest(pane)
    command(pane, "pwd")
    do.rest(pane)
    shots.take(pane, "notice-after-failed", "idle", "turn-failed")
    do.passed(pane, do.send(pane, "go [[hang]]"), 3)
    pane.keys("Escape")
    pane.until("Conversation interrupted", do.LONG)
    do.rest(pane)
    command(pane, "pwd")
    do.rest(pane)
    shots.take(pane, "notice-after-interrupted", "idle", "interrupted")


def refused(pane: AgentPane, shots: Shots) -> None:
    """A command that is refused while a turn runs closes nothing; words of the keys' row in a draft open nothing."""
    do.finish(pane, do.send(pane, HELLO))
    do.reply(pane, "half", "One moment.\n\nIt is\n\n")
    since = do.send(pane, "go [[slow 6]]+[[say half]]+[[slow 40]]")
    do.passed(pane, since, 2)
    pane.type("/memories", enter=False)
    do.passed(pane, since, 4)
    pane.keys("Enter")
    pane.until("disabled while a task", do.LONG)
    do.passed(pane, pane.until_model("text", do.LONG, after=since, main=True)["t"], 3)
    shots.take(pane, "command-refused-streaming", "working", "model")
    pane.keys("Escape")
    pane.until("Conversation interrupted", do.LONG)
    do.rest(pane)
    do.finish(pane, do.send(pane, HELLO))
    do.paste(pane, "first\n\ntab to queue message · Pursuing goal (3s)")
    calm(pane)
    shots.take(pane, "ended-draft-keys", "idle", "turn-ended")


def folded(pane: AgentPane, shots: Shots) -> None:
    """The steps of a turn are folded when it ends, into a row above its last words."""
    since = do.send(pane, f"go [[bash {do.held('a')}]] [[text All is done.]]")
    do.running(pane, "a")
    shots.take(pane, "folded-tool", "working", "tool")
    do.release(pane, "a")
    do.finish(pane, since, 2)
    shots.take(pane, "folded-ended", "idle", "turn-ended")


def goal(pane: AgentPane, shots: Shots) -> None:
    """A goal: turns follow each other without a prompt, until it is paused."""
    do.finish(pane, do.send(pane, HELLO))
    pane.type("/goal fix all of it")
    pane.until(r"Pursuing goal \([4-9]s", do.LONG)
    shots.take(pane, "goal-pursued", "working", "model")
    pane.keys("Escape")
    pane.until("Goal paused", do.LONG)
    do.rest(pane)
    shots.take(pane, "goal-paused", "idle", "interrupted")


def side(pane: AgentPane, shots: Shots) -> None:
    """A conversation beside the main one, whose turn goes on unseen."""
    do.finish(pane, do.send(pane, HELLO))
    command(pane, "side")
    pane.until("Side from main thread", do.LONG)
    do.rest(pane)
    shots.undecided(pane, "side-main-idle", "idle", "turn-ended")
    pane.keys("C-c")
    pane.until("Side from main thread", do.LONG, gone=True)
    do.rest(pane)
    do.passed(pane, do.send(pane, "go [[slow 60]]"), 3)
    command(pane, "side")
    pane.until("Side from main thread", do.LONG)
    calm(pane)
    shots.undecided(pane, "side-main-busy", "working", "model")


def over(pane: AgentPane, shots: Shots) -> None:
    """A menu in the middle of the conversation; browsing past prompts; Ctrl-C while a tool runs."""
    do.finish(pane, do.send(pane, HELLO))
    command(pane, "memories")
    pane.until("Enable memories", do.LONG)
    calm(pane)
    shots.take(pane, "menu-memories", "waiting", "menu")
    pane.keys("Escape")
    pane.until("Enable memories", do.LONG, gone=True)
    calm(pane)
    do.send(pane, f"go [[bash {do.held('a')}]]")
    do.running(pane, "a")
    pane.keys("C-c")
    pane.until("Task is still running", do.LONG)
    calm(pane)
    shots.take(pane, "ctrl-c-tool", "working", "tool")


SCENES = [
    Scene("rare-notices", notices, {"size": (80, 40), "settings": QUIET}),
    Scene("rare-refused", refused, {"size": (80, 30), "settings": QUIET}),
    Scene("rare-folded", folded, {"size": (80, 30), "settings": QUIET | {"tui.collapse_turn_details": True}}),
    Scene("rare-goal", goal, {"size": (80, 30), "settings": QUIET}),
    Scene("rare-side", side, {"size": (80, 30)}),
    Scene("rare-over", over, {"size": (80, 30), "settings": QUIET}),
]
