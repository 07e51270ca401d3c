"""Claude Code refused: errors, retries, limits of the plan, and what comes after them; and words that only look so."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.claude_common import (
    ASKING,
    FREE,
    LONG,
    STATUSLINE,
    closed,
    over,
    passed,
    paste,
    press,
    reply,
    send,
    steady,
    told,
    turn,
)
from tests.lab.scenes.claude_texts import FAKE_BUSY, FAKE_DIALOG, FAKE_END, FAKE_LIMIT, OTHERS

CONTINUES = 400.0
"""Seconds within which a release that goes on by itself after a limit has done so."""
UNTITLED = {"CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1"}


def rest(pane: AgentPane) -> None:
    pane.until(lambda _: told(pane) == "idle", LONG, what="rest")
    steady(pane)


def empty(pane: AgentPane) -> None:
    """Delete a prompt that Esc has put back into the box."""
    pane.keys("C-u")
    pane.until(r"(?m)^❯\s*$", LONG, what="an empty box")  # noqa: RUF001
    steady(pane, 0.6)


def retries(pane: AgentPane, shots: Shots) -> None:
    """Retries in a narrow pane, given up by Esc; a stream that breaks; what is final at once."""
    moment = send(pane, "[[status 500]]")
    closed(pane, moment, 2)
    pane.until("[Rr]etrying in", LONG)
    shots.take(pane, "s46x14-retrying-500", "working", "retrying")
    pane.keys("Escape")
    rest(pane)
    shots.take(pane, "s46x14-retrying-interrupted", "idle")
    empty(pane)
    moment = send(pane, "[[status 529]]")
    closed(pane, moment, 3)
    rest(pane)
    shots.take(pane, "s46x14-error-529", "idle", "turn-failed")
    moment = send(pane, "[[status 400]]")
    closed(pane, moment)
    rest(pane)
    shots.take(pane, "s46x14-error-400", "idle", "turn-failed")
    turn(pane, "[[text fine again]]")
    shots.take(pane, "s46x14-error-then-good", "idle", "turn-ended")


def waits(pane: AgentPane, shots: Shots) -> None:
    """A retry that the server put off; a refusal after a tool; then an imitation of both."""
    moment = send(pane, "[[retryafter 529 40]]")
    closed(pane, moment)
    pane.until("[Rr]etrying in", LONG)
    shots.take(pane, "s80x24-retry-after-40", "working", "retrying")
    pane.keys("Escape")
    rest(pane)
    empty(pane)
    moment = send(pane, "[[bash true]] [[status 400]]")
    closed(pane, moment, 2)
    rest(pane)
    shots.take(pane, "s80x24-failed-after-tool", "idle", "turn-failed")
    moment = send(pane, "[[retryafter 429 3000]]")
    closed(pane, moment)
    rest(pane)
    shots.take(pane, "s80x24-429-hour", "idle", "turn-failed")
    reply(pane, "retry", "API Error: 529 Overloaded\n\n✻ API error · Retrying in 3s · attempt 2/10")
    turn(pane, "[[say retry]]")
    shots.take(pane, "s80x24-fake-retry-idle", "idle", "turn-ended")


def limits(pane: AgentPane, shots: Shots) -> None:
    """The plan's limit in the middle of a turn; its menu; dismissed; then a good turn; then the week's limit."""
    turn(pane, "[[util 93 5000]]")
    moment = send(pane, "[[bash true]] [[limit 4000]]")
    closed(pane, moment, 2)
    pane.until("Stop and wait", LONG)
    steady(pane)
    shots.take(pane, "s100x30-limit-after-tool-menu", "limited", "plan")
    press(pane, "Escape")
    steady(pane)
    shots.take(pane, "s100x30-limit-after-tool-dismissed", "limited", "plan")
    pane.type("a draft for later", enter=False)
    steady(pane)
    shots.take(pane, "s100x30-limit-draft", "limited", "plan")
    empty(pane)
    turn(pane, "[[text it works again]]")
    shots.take(pane, "s100x30-limit-then-good", "idle", "turn-ended")
    moment = send(pane, "[[slow 30]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 4)
    shots.take(pane, "s100x30-limit-then-busy", "working", "model")
    pane.keys("Escape")
    rest(pane)
    empty(pane)
    moment = send(pane, "[[limit 400000 weekly]]")
    closed(pane, moment)
    pane.until(r"weekly limit", LONG)
    steady(pane)  # newer ones open their menu again
    shots.take(pane, "s100x30-limit-weekly", "limited", "plan")


def limit_waited_out(pane: AgentPane, shots: Shots) -> None:
    """The plan's limit as newer releases take it by default: they go on by themselves, unless Esc is pressed."""
    moment = send(pane, "[[bash true]] [[limit 4000]]")
    closed(pane, moment, 2)
    rest(pane)
    shots.take(pane, "s80x24-limit-goes-on", "limited", "plan")
    pane.type("a draft for later", enter=False)
    steady(pane)
    shots.take(pane, "s80x24-limit-goes-on-draft", "limited", "plan")
    empty(pane)
    press(pane, "Escape")
    steady(pane)
    shots.take(pane, "s80x24-limit-goes-on-cancelled", "limited", "plan")


def limit_continued(pane: AgentPane, shots: Shots) -> None:
    """A limit that ends, in a narrow pane: newer releases wait some minutes more, then go on by themselves."""
    reply(pane, "otherwise-000", "usage limit has reset\n[[slow 12]]+[[text going on]]")
    moment = send(pane, "[[limit 30]]")
    closed(pane, moment)
    rest(pane)
    shots.take(pane, "s46x14-limit-goes-on", "limited", "plan")
    pane.until("Continuing shortly", LONG)
    steady(pane)
    shots.take(pane, "s46x14-limit-over-soon", "limited", "plan")
    refused = pane.until_model("error", after=moment)["t"]
    passed(pane, pane.until_model("first-byte", CONTINUES, after=refused, main=True)["t"], 4)
    shots.take(pane, "s46x14-limit-continued", "working", "model")
    over(pane, refused)
    shots.take(pane, "s46x14-limit-continued-idle", "idle", "turn-ended")


def talk(pane: AgentPane, shots: Shots) -> None:
    """The model's words are all that looks busy, asking, limited; at rest."""
    for name, text in {"busy": FAKE_BUSY, "dialog": FAKE_DIALOG, "others": OTHERS, "end": FAKE_END}.items():
        reply(pane, name, text)
        turn(pane, f"[[say {name}]]")
        shots.take(pane, f"untitled-fake-{name}-idle", "idle", "turn-ended")
    reply(pane, "limit", "It said so:\n\n" + FAKE_LIMIT)
    turn(pane, "[[say limit]]")
    shots.take(pane, "untitled-fake-limit-idle", "idle", "turn-ended")
    paste(pane, "✶ Percolating… (12s · esc to interrupt)")
    pane.until("Percolating", LONG)
    steady(pane)
    shots.take(pane, "untitled-draft-spinner", "idle", "turn-ended")


def work(pane: AgentPane, shots: Shots) -> None:
    """The same words while the model has not finished, with no title and a status line of one's own."""
    for name, text in {"dialog": FAKE_DIALOG, "limit": "It said so:\n\n" + FAKE_LIMIT, "end": FAKE_END}.items():
        reply(pane, name, text)
        moment = send(pane, f"[[say {name}]]+[[slow 9]]")
        passed(pane, pane.until_model("text", LONG, after=moment)["t"], 4)
        shots.take(pane, f"untitled-statusline-fake-{name}-busy", "working", "model")
        over(pane, moment)
    moment = send(pane, "[[say dialog]]+[[bash sleep 20]]")
    pane.until("Running", LONG)
    shots.take(pane, "untitled-statusline-fake-dialog-tool", "working", "tool")


def calm(pane: AgentPane, shots: Shots) -> None:
    """Reduced motion and no line that closes a turn."""
    moment = send(pane, "[[slow 7]]+[[text first part]]+[[slow 8]]")
    passed(pane, pane.until_model("first-byte", LONG, after=moment)["t"], 4)
    shots.take(pane, "calm-busy", "working", "model")
    passed(pane, pane.until_model("text", LONG, after=moment)["t"], 3)
    shots.take(pane, "calm-after-text", "working", "model")
    over(pane, moment)
    shots.take(pane, "calm-idle", "idle", "turn-ended")


SCENES = [
    Scene("retries", retries, {"size": (46, 14)}),
    Scene("waits", waits, {"size": (80, 24), "settings": FREE}),
    Scene("limits", limits, {"size": (100, 30), "settings": FREE | ASKING, "oauth": True}),
    Scene("limit-waited-out", limit_waited_out, {"size": (80, 24), "settings": FREE, "oauth": True}),
    Scene("limit-continued", limit_continued, {"size": (46, 14), "settings": FREE, "oauth": True}),
    Scene("talk", talk, {"size": (120, 80), "env": UNTITLED}),
    Scene("work", work, {"size": (80, 24), "env": UNTITLED, "statusline": STATUSLINE, "settings": FREE}),
    Scene("calm", calm, {"size": (100, 30), "settings": {"prefersReducedMotion": True, "showTurnDuration": False}}),
]
