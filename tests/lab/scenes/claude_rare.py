"""Claude Code in less usual situations: refusals of every kind, words of its own in odd places, an editor, a daemon."""

from __future__ import annotations

import functools

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.claude_common import (
    FREE,
    LONG,
    TASKS,
    alive,
    over,
    passed,
    press,
    send,
    steady,
    there,
    turn,
)
from tests.lab.scenes.claude_limits import rest

PLAIN = "printf 'proj | opus'"
"""A status line: with it newer releases say less of themselves below the box."""
BUSY_WORDS = "printf 'esc to interrupt'"
REFUSALS = {
    "too-long": "400 prompt is too long: 210000 tokens > 200000 maximum",
    "no-credit": "400 Your credit balance is too low to access the Anthropic API.",
    "disabled": "400 This organization has been disabled.",
    "no-model": "404 model: claude-nope",
}


def draft(pane: AgentPane) -> None:
    pane.type("a draft", enter=False)
    steady(pane)


def clear(pane: AgentPane) -> None:
    """Take out a draft, whatever Claude Code puts in its place."""
    pane.keys("C-u")
    pane.until("a draft", LONG, gone=True)
    steady(pane, 0.8)


def refused(pane: AgentPane, shots: Shots) -> None:
    """What the service refuses is drawn like an answer or like a result; nothing closes such a turn."""
    for name, words in REFUSALS.items():
        moment = send(pane, f"[[refuse {words}]]")
        pane.until_model("error", LONG, after=moment)
        rest(pane)
        shots.take(pane, f"s80x24-refused-{name}", "idle", "turn-failed")
        draft(pane)
        shots.take(pane, f"s80x24-refused-{name}-draft", "idle", "turn-failed")
        clear(pane)


def full_context(pane: AgentPane, shots: Shots, name: str) -> None:
    """The limit of the context is none of the plan."""
    turn(pane, "[[text fine]]")
    turn(pane, "[[text fine]]")
    moment = send(pane, f"[[refuse {REFUSALS['too-long']}]]")
    pane.until_model("error", LONG, after=moment)
    rest(pane)
    shots.take(pane, f"s80x24-{name}", "idle", "turn-failed")
    draft(pane)
    shots.take(pane, f"s80x24-{name}-draft", "idle", "turn-failed")


def task_name(pane: AgentPane, shots: Shots) -> None:
    """The task at hand stands in the status row, and reads like the row that closes a turn."""
    task = '{"subject":"Find bugs","description":"d","activeForm":"Searching for 3 bugs"}'
    begun = '[[tool TaskUpdate {"taskId":"1","status":"in_progress"}]]'
    moment = send(pane, f"[[tool TaskCreate {task}]] {begun} [[slow 25]]")
    pane.until_model("began", LONG, after=moment, step=2)
    pane.until(r"(?m)^[·✢*✶✻✽✳] Searching for 3 bugs…", LONG)
    shots.take(pane, "s80x24-task-name-busy", "working", "model")
    pane.type("a draft", enter=False)
    pane.until(r"(?m)^✻ Searching for 3 bugs…", LONG)  # the sign of the closing row, too
    shots.take(pane, "s80x24-task-name-busy-draft", "working", "model")


def status_line(pane: AgentPane, shots: Shots) -> None:
    """A status line that is nothing but the words of the busy footer."""
    turn(pane, "[[text fine]]")
    shots.take(pane, "s80x24-statusline-words-idle", "idle", "turn-ended")
    draft(pane)
    shots.take(pane, "s80x24-statusline-words-draft", "idle")
    clear(pane)
    moment = send(pane, "[[slow 30]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 3)
    shots.take(pane, "s80x24-statusline-words-busy", "working", "model")


def editor(pane: AgentPane, shots: Shots) -> None:
    """The prompt in an editor, in the place of Claude Code: what stands there is not Claude Code's."""
    turn(pane, "[[text fine]]")
    pane.keys("C-g")
    pane.until(lambda _: alive(pane, "vim"), LONG, what="the editor")
    steady(pane)
    pane.keys("i")
    question = ("Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", "Esc to cancel")  # noqa: RUF001
    for line in question:
        pane.tmux("send-keys", "-t", pane.pane_id, "-l", "--", f"{line}\r")
    pane.until("Esc to cancel", LONG)
    steady(pane)
    shots.undecided(pane, "s80x24-editor-idle", "idle", "turn-ended")
    pane.keys("Escape")
    pane.type(":q!")
    pane.until(lambda _: not alive(pane, "vim"), LONG, what="the end of the editor")
    steady(pane)
    send(pane, "[[slow 60]]")
    pane.until("esc to interrupt", LONG)
    pane.keys("C-g")
    pane.until(lambda _: alive(pane, "vim"), LONG, what="the editor")
    steady(pane)
    shots.undecided(pane, "s80x24-editor-busy", "working", "model")


def daemon(pane: AgentPane, shots: Shots) -> None:
    """A session in the background has a daemon, and that has agents of its own below the one in the pane."""
    turn(pane, "[[text fine]]")
    pane.type("/fork", enter=False)
    steady(pane, 0.7)
    pane.keys("Enter")
    pane.until(lambda _: any(" bg-spare " in line for line in pane.facts()["tree"]), LONG, what="a session behind")
    steady(pane)
    shots.take(pane, "s100x30-daemon-idle", "idle")
    press(pane, "C-z", until="Stopped|suspended")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane)
    shots.take(pane, "s100x30-daemon-suspended", "exited", "suspended")


def queued(pane: AgentPane, shots: Shots) -> None:
    """Esc sends a message that was queued behind a tool; Esc again, before the first word, takes it back."""
    moment = send(pane, "[[bash touch one; sleep 60]]")
    there(pane, "one")
    pane.until("Running", LONG)
    pane.type("next [[hang]]")
    pane.until("queued messages|Press up|to send now", LONG)
    pane.keys("Escape")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    shots.take(pane, "s80x24-queued-sent", "working", "model")
    pane.keys("Escape")
    rest(pane)
    shots.take(pane, "s80x24-queued-taken-back", "idle", "interrupted")


def interrupts(pane: AgentPane, shots: Shots) -> None:
    """Esc and Ctrl-C in the middle of thought, of words and of two tools, below a turn that ended well."""
    turn(pane, "[[text All of it is fine.]]")
    cases = {"thought": ("[[think 30]]", "thinking"), "words": ("[[text half a]]+[[slow 30]]", "text")}
    for name, (script, event) in cases.items():
        moment = send(pane, f"again {script}")
        passed(pane, pane.until_model(event, LONG, after=moment)["t"], 3)
        pane.keys("Escape")
        rest(pane)
        shots.take(pane, f"s80x24-esc-in-{name}", "idle", "interrupted")
        pane.keys("C-u")
        steady(pane)
    send(pane, "[[bash touch one; sleep 60]]+[[bash touch two; sleep 61]]")
    there(pane, "two")
    pane.until(lambda _: alive(pane, "sleep 61"), LONG)
    pane.keys("C-c")
    rest(pane)
    shots.take(pane, "s80x24-ctrl-c-in-tools", "idle", "interrupted")
    over(pane, send(pane, "[[text fine again]]"))
    shots.take(pane, "s80x24-good-after-ctrl-c", "idle", "turn-ended")


SMALL = (80, 24)
SCENES = [
    Scene("refused", refused, {"size": SMALL, "statusline": PLAIN}),
    Scene("context-full", functools.partial(full_context, name="context-full"), {"size": SMALL, "statusline": PLAIN}),
    Scene(
        "context-full-for-good",
        functools.partial(full_context, name="context-full-for-good"),
        {"size": SMALL, "env": {"DISABLE_COMPACT": "1"}},
    ),
    Scene("task-name", task_name, {"size": SMALL, "settings": FREE, "env": TASKS, "statusline": PLAIN}),
    Scene("statusline-words", status_line, {"size": SMALL, "statusline": BUSY_WORDS}),
    Scene("editor", editor, {"size": SMALL, "env": {"EDITOR": "vim", "VISUAL": "vim"}}),
    Scene("daemon", daemon, {"size": (100, 30)}),
    Scene("queued", queued, {"size": SMALL, "settings": FREE}),
    Scene("interrupts", interrupts, {"size": SMALL, "settings": FREE, "statusline": PLAIN}),
]
