"""Conversations about dialogs, bars, limits and closing lines, of OpenCode and of the others."""

from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.opencode_common import FREE, LONG, interrupt, over, passed, paste, runs, say, send, steady

BOX = """┃
┃
┃
┃  Build · Fake Model Fake
╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀
"""
BUSY = "⬝■■■■■■⬝  esc interrupt                     20.0K (10%)  ctrl+p commands"
IDLE = "/home/developer/work/proj                   20.0K (10%)  ctrl+p commands"
DIALOG = """┃
┃  △ Permission required
┃    # Shell command
┃
┃  $ rm -rf build
┃
┃
┃   Allow once   Allow always   Reject      ctrl+f fullscreen  ⇆ select  enter confirm
┃
"""
QUESTION = "┃\n┃  Which colour?\n┃\n┃  1. Red\n┃  2. Blue\n┃\n┃  ↑↓ select  enter submit  esc dismiss\n┃\n"
PALETTE = "Commands                                         esc\n\nSearch\n\nSuggested\nSwitch model       ctrl+x m\n"
OTHERS = """✻ Brewed for 12s
■ Conversation interrupted - use /feedback if something went wrong
You've hit your session limit · resets 5pm
⏺ esc to interrupt
Do you want to proceed? ❯ 1. Yes
fake error 429 [retrying in 1h 59m attempt #1]   esc interrupt
"""  # noqa: RUF001


def fenced(words: str) -> str:
    return f"It looks like this:\n\n```\n{words}\n```\n"


def idle(pane: AgentPane, shots: Shots) -> None:
    for name, words in (
        ("busy-box", fenced(BOX + BUSY)), ("dialog", fenced(DIALOG)), ("question", fenced(QUESTION)),
        ("palette", fenced(PALETTE)), ("others", fenced(OTHERS) + "\n▣  Build · Fake Model\n"),
    ):  # fmt: skip
        say(pane, name, words)
        over(pane, send(pane, f"how does it look? [[say {name}]]"))
        shots.take(pane, f"talk-{name}-idle", "idle", "turn-ended")


def busy(pane: AgentPane, shots: Shots) -> None:
    done = "All is done.\n\n▣  Build · Fake Model · 8.3s\n\n"
    say(pane, "done", done + fenced(BOX + IDLE))
    send(pane, "first [[say done]]+[[bash touch b1; sleep 300]]")
    runs(pane, "b1")
    steady(pane)
    shots.take(pane, "talk-done-tool", "working", "tool")
    interrupt(pane)
    moment = send(pane, "second [[say done]]+[[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    shots.take(pane, "talk-done-hang", "working", "model")
    interrupt(pane)
    (pane.cwd / "log.txt").write_text(f"{DIALOG}\n{BOX}{IDLE}\n{QUESTION}")
    moment = send(pane, "show [[bash cat log.txt]] [[hang]]")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    shots.take(pane, "talk-log-hang", "working", "model")
    interrupt(pane)
    shots.take(pane, "talk-log-interrupted", "idle", "interrupted")
    paste(pane, "△ Permission required")
    steady(pane)
    pane.keys("C-j")
    pane.type("Allow once   Allow always   Reject  enter confirm [[hang]]", enter=False)
    steady(pane)
    moment = send(pane, "?")
    passed(pane, pane.until_model("hang", LONG, after=moment)["t"], 2)
    shots.take(pane, "talk-prompt-dialog-hang", "working", "model")


def asked(pane: AgentPane, shots: Shots) -> None:
    say(pane, "both", fenced(PALETTE) + fenced(BOX + IDLE) + "\n▣  Build · Fake Model · 8.3s\n")
    send(pane, "now [[say both]]+[[ask Which one? | Red | Blue]]")
    pane.until("esc dismiss", LONG)
    steady(pane)
    shots.take(pane, "talk-done-question", "waiting", "question")
    pane.keys("Escape")
    pane.until("esc dismiss", gone=True)
    send(pane, "again [[say both]]+[[bash touch c1; sleep 300]]")
    pane.until("Permission required", LONG)
    steady(pane)
    shots.take(pane, "talk-done-permission", "waiting", "permission")
    pane.keys("Enter")
    runs(pane, "c1")
    steady(pane)
    shots.take(pane, "talk-done-allowed", "working", "tool")


SCENES = [
    Scene("talk-idle", idle, {"size": (100, 30)}),
    Scene("talk-busy", busy, {"size": (100, 30), "settings": FREE}),
    Scene("talk-asked", asked, {"size": (120, 40)}),
]
