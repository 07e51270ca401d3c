"""Scenes of Gemini CLI: turns, tools, errors and limits; the other modules have dialogs, imitations and deaths."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_dead import SCENES as DEAD
from tests.lab.scenes.gemini_dialogs import SCENES as DIALOGS
from tests.lab.scenes.gemini_steps import (
    LONG,
    PERMISSION,
    TRUE_COLOUR,
    ask,
    clear,
    dialog,
    escape,
    menu,
    passed,
    paste,
    say,
    settle,
    tool,
    turn,
)
from tests.lab.scenes.gemini_tricks import SCENES as TRICKS
from tests.lab.scenes.gemini_views import SCENES as VIEWS

BUSY = r"esc to cancel"
WORDS = " ".join(f"item{number}" for number in range(1, 241))


def small(pane: AgentPane, shots: Shots) -> None:
    """A pane of the least size: what counts soon scrolls away or wraps."""
    settle(pane)
    shots.take(pane, "fresh-46x14", "idle")
    asked = ask(pane, "x [[think 30]]")
    began = pane.until_model("thinking", LONG, after=asked)["t"]
    passed(pane, began, 2)
    shots.take(pane, "thinking-46x14", "working", "model")
    escape(pane, asked)
    shots.take(pane, "interrupted-46x14", "idle", "interrupted")
    asked = ask(pane, f"y [[stream 24 {WORDS}]]")
    pane.until("item100", LONG)
    shots.take(pane, "streaming-scrolled-46x14", "working", "model")
    pane.until_model("ended", LONG, after=asked)
    settle(pane)
    shots.take(pane, "ended-scrolled-46x14", "idle", "turn-ended")
    dialog(pane, "z [[bash touch m1; sleep 40]]")
    shots.take(pane, "permission-46x14", "waiting", "permission")
    pane.keys("Escape")
    settle(pane)
    shots.take(pane, "rejected-46x14", "idle", "interrupted")


def tools(pane: AgentPane, shots: Shots) -> None:
    """A tool that prints more than fits, then one that is silent for so long that Gemini takes it for a question."""
    tool(pane, "m1", "echo one; exit 3")
    pane.until("Tool finished", LONG)
    settle(pane, 2)
    shots.take(pane, "tool-failed-ended-60x15", "idle", "turn-ended")
    tool(pane, "m2", "for i in {1..900}; do echo row $i; sleep 0.2; done")
    pane.until(r"\d+ hidden[^$]*no sandbox", LONG)
    shots.take(pane, "tool-printing-60x15", "working", "tool")
    pane.keys("Escape")
    pane.until("esc to cancel", LONG, gone=True)
    settle(pane, 2)
    shots.take(pane, "interrupted-printing-60x15", "idle", "interrupted")
    tool(pane, "m3", "sleep 90")
    began = (pane.cwd / "m3").stat().st_mtime
    passed(pane, began, 10)
    pane.until(r"sleep 90[^$]*no sandbox", LONG)
    shots.take(pane, "tool-silent-10s-60x15", "working", "tool")
    pane.type("another thing for later")
    pane.until("Queued")
    pane.type("Allow execution of [Shell]: 1. Allow once", enter=False)
    pane.until(r"Queued[^$]*esc to cancel[^$]*no sandbox", LONG)
    shots.take(pane, "queued-and-draft-tool-60x15", "working", "tool")
    passed(pane, began, 40)
    pane.until(r"Queued[^$]*Shell awaiting input[^$]*no sandbox", LONG)
    shots.take(pane, "tool-silent-40s-60x15", "working", "tool")


def silence(pane: AgentPane, shots: Shots) -> None:
    asked = ask(pane, "x [[hang]]")
    hung = pane.until_model("hang", LONG, after=asked)["t"]
    passed(pane, hung, 20)
    shots.take(pane, "hang-20s-200x50", "working", "model")
    escape(pane, asked)
    shots.take(pane, "interrupted-before-output-200x50", "idle", "interrupted")
    asked = ask(pane, "y [[hangmid]]")
    hung = pane.until_model("hang", LONG, after=asked)["t"]
    passed(pane, hung, 8)
    shots.take(pane, "hang-mid-stream-200x50", "working", "model")
    paste(pane, "ℹ Request cancelled.\n\n✦ Tool finished. OK.\n\n> Type your message or @path/to/thing")  # noqa: RUF001
    shots.take(pane, "hang-mid-stream-pasted-draft-200x50", "working", "model")
    escape(pane, asked)
    shots.take(pane, "interrupted-mid-stream-draft-200x50", "idle", "interrupted")


def errors(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "a [[status 401]]", "error")
    shots.take(pane, "failed-401", "idle", "turn-failed")
    turn(pane, "b all is well now")
    shots.take(pane, "good-after-failed", "idle", "turn-ended")
    asked = ask(pane, "c [[streamerr overloaded_error]]")
    pane.until_model("stream-error", LONG, after=asked)
    pane.until(BUSY, LONG, gone=True)
    settle(pane)
    shots.take(pane, "failed-stream-error", "idle", "turn-failed")
    asked = ask(pane, "d [[retryafter 429 25]]")
    refused = pane.until_model("error", LONG, after=asked)["t"]
    passed(pane, refused, 6)
    shots.take(pane, "retrying-429-after-25s", "working", "retrying")
    pane.keys("Escape")
    settle(pane)
    shots.take(pane, "interrupted-retrying", "idle", "interrupted")


def retrying(pane: AgentPane, shots: Shots) -> None:
    """Nothing on the screen tells of the attempts."""
    asked = ask(pane, "a [[status 503]]")
    pane.until(lambda pane: errors_since(pane, asked) == 2, LONG, what="the second attempt")
    shots.take(pane, "retrying-503-80x24", "working", "retrying")


def errors_since(pane: AgentPane, asked: float) -> int:
    return sum(entry["event"] == "error" and entry["t"] > asked for entry in pane.journal())


def limits(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "first a good turn")
    asked = ask(pane, "a [[limit 7200]]")
    pane.until_model("error", LONG, after=asked)
    pane.until("Keep trying", LONG)
    settle(pane)
    shots.take(pane, "limit-menu", "waiting", "menu")
    pane.keys("Down")
    settle(pane)
    shots.take(pane, "limit-menu-stop-chosen", "waiting", "menu")
    pane.keys("Enter")
    pane.ready()
    settle(pane)
    shots.take(pane, "limit-stopped", "idle", "turn-failed")
    asked = ask(pane, "c [[retryafter 429 7200]]")
    pane.until_model("error", LONG, after=asked)
    pane.until("Access resets at", LONG)
    settle(pane)
    shots.take(pane, "limit-menu-with-time", "limited", "plan")
    pane.keys("Down", "Enter")
    pane.ready()
    settle(pane)
    shots.take(pane, "limit-with-time-stopped", "limited", "plan")
    turn(pane, "and again a good turn")
    shots.take(pane, "good-after-limit", "idle", "turn-ended")
    dialog(pane, "b [[bash touch m1; echo hi]] [[limit 3600]]")
    pane.keys("Enter")
    pane.until("Keep trying", LONG)
    settle(pane)
    shots.take(pane, "limit-menu-after-tool", "waiting", "menu")


def compress(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    menu(pane, "/clear", r"Type your message")
    shots.take(pane, "cleared-120x80", "idle")
    clear(pane)
    say(pane, "long", "".join(f"Paragraph {number} of a long reply.\n\n" for number in range(1, 91)))
    turn(pane, "x [[say long]]", shown="Paragraph 90")
    shots.take(pane, "ended-long-reply-120x80", "idle", "turn-ended")


def subagent(pane: AgentPane, shots: Shots) -> None:
    asked = ask(
        pane,
        'a [[tool invoke_agent {"agent_name":"generalist","prompt":"sub job ((hang))"}]] [[text all done]]',
    )
    pane.until_model("tool-call", LONG, after=asked)
    try:
        pane.until(PERMISSION, 5)
        pane.keys("Enter")
    except AssertionError:
        pass
    hung = pane.until_model("hang", LONG, after=asked)["t"]
    passed(pane, hung, 5)
    shots.take(pane, "subagent-100x30", "working", "tool")


SCENES: list[Scene] = [
    Scene("small", small, {"size": (46, 14), "env": TRUE_COLOUR}),
    Scene("tools", tools, {"size": (60, 15), "env": TRUE_COLOUR}),
    Scene("silence", silence, {"size": (200, 50), "env": TRUE_COLOUR}),
    Scene("errors", errors, {"size": (120, 40), "env": TRUE_COLOUR}),
    Scene("retrying", retrying, {"size": (80, 24)}),
    Scene("limits", limits, {"size": (100, 30), "env": TRUE_COLOUR}),
    Scene("compress", compress, {"size": (120, 80)}),
    Scene("subagent", subagent, {"size": (100, 30), "env": TRUE_COLOUR}),
    *DIALOGS,
    *TRICKS,
    *DEAD,
    *VIEWS,
]
