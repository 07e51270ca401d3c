"""Codex at work: thinking, speaking, running tools, silent; with drafts and queued messages."""

# ruff: noqa: RUF001  # Codex draws with such characters
from __future__ import annotations

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes import codex_common as do


def think(pane: AgentPane, shots: Shots) -> None:
    shots.take(pane, "fresh-46x14", "idle")
    since = do.send(pane, "why [[think 40]]")
    pane.until_model("thinking")
    do.passed(pane, since, 4)
    shots.take(pane, "thinking-46x14", "working", "model")
    pane.keys("Escape")
    pane.until_model("client-gone", main=True)
    do.rest(pane)
    shots.take(pane, "thinking-interrupted-46x14", "idle", "interrupted")


def stream(pane: AgentPane, shots: Shots) -> None:
    do.reply(pane, "long", "".join(f"{n}. Point number {n} of the long answer.\n" for n in range(1, 200)))
    do.send(pane, "list them [[say long 40]]")
    pane.until("Point number 60 ", do.LONG)
    shots.take(pane, "stream-scrolled", "working", "model")
    pane.type("and then?", enter=False)
    shots.take(pane, "stream-scrolled-draft", "working", "model")
    pane.keys("Escape")
    pane.until_model("client-gone", main=True)
    do.rest(pane)
    shots.take(pane, "stream-scrolled-interrupted", "idle", "interrupted")


def stream_silent(pane: AgentPane, shots: Shots) -> None:
    do.reply(pane, "half", "\n\n".join(f"Paragraph {n} of the answer." for n in range(1, 30)) + "\n\n")
    do.send(pane, "tell me [[say half]]+[[hang]]")
    hung = pane.until_model("hang", main=True)
    pane.until("Paragraph 29")
    do.passed(pane, hung["t"], 6)
    shots.take(pane, "stream-hangs-scrolled", "working", "model")


def hang(pane: AgentPane, shots: Shots) -> None:
    since = do.send(pane, "go [[hang]]")
    do.passed(pane, since, 65)
    shots.take(pane, "hang-over-a-minute", "working", "model")


def tool_prints(pane: AgentPane, shots: Shots) -> None:
    loop = "for i in $(seq 90); do echo line $i of the build; done; "
    do.send(pane, f"go [[bash {do.held('a', loop)}]]")
    do.running(pane, "a")
    shots.take(pane, "tool-printed", "working", "tool")
    do.paste(pane, "• Ran make\n  └ ok\n\n  Worked for 12s • 20:12")
    shots.take(pane, "tool-draft-closing", "working", "tool")


def tools(pane: AgentPane, shots: Shots) -> None:
    do.send(pane, f"go [[bash ls]]+[[bash {do.held('a')}]]+[[bash {do.held('b')}]]")
    do.running(pane, "a")
    shots.take(pane, "tools-several", "working", "tool")
    pane.keys("Escape")
    pane.until("interrupted")
    do.rest(pane)
    shots.take(pane, "tools-interrupted", "idle")  # the tools run on


def queued(pane: AgentPane, shots: Shots) -> None:
    do.send(pane, f"go [[bash {do.held('a')}]] [[text The end.]]")
    do.running(pane, "a")
    pane.type("then tell me more", enter=False)
    pane.keys("Tab")
    pane.until("(?i)queued")
    pane.type("stop now", enter=False)
    shots.take(pane, "queued-draft", "working", "tool")
    pane.keys("Enter")
    pane.until(r"(?m)^› (?!stop now)[^\n]*\n\n  gpt")
    shots.take(pane, "queued-and-steered", "working", "tool")


def background(pane: AgentPane, shots: Shots) -> None:
    script = f'{{"cmd": "{do.held("a")}", "yield_time_ms": 500}}'
    since = do.send(pane, f"go [[tool exec_command {script}]] [[text It runs in the background.]]")
    do.finish(pane, since, 2)
    shots.take(pane, "background-terminal", "idle", "background-work")
    since = do.send(pane, "more [[slow 30]]")
    do.passed(pane, since, 3)
    shots.take(pane, "background-terminal-busy", "working", "model")


def short_turn(pane: AgentPane, shots: Shots) -> None:
    do.finish(pane, do.send(pane, "hello [[text Hello. How can I help?]]"))
    shots.take(pane, "ended-short", "idle", "turn-ended")
    do.finish(pane, do.send(pane, "go [[bash echo one]] [[bash echo two]] [[text Both ran.]]"), 3)
    shots.take(pane, "ended-after-tools", "idle", "turn-ended")
    do.paste(pane, "  Would you like to run the following command?\n\n" + do.DIALOG)
    shots.take(pane, "ended-draft-dialog", "idle", "turn-ended")
    pane.keys("C-c")
    do.rest(pane)
    do.paste(pane, "x" * 20 + "\n" + "a long line of pasted text\n" * 80)
    shots.take(pane, "ended-draft-pasted", "idle", "turn-ended")
    pane.keys("C-c")
    do.rest(pane)
    pane.type("/clear")
    do.rest(pane)
    shots.take(pane, "cleared", "idle")


def user_shell(pane: AgentPane, shots: Shots) -> None:
    pane.type("!" + do.held("a"), enter=False)
    do.press(pane, "Enter", lambda seen: (seen.cwd / "a-on").exists())
    do.running(pane, "a")
    shots.take(pane, "user-shell", "working", "tool")
    do.release(pane, "a")
    do.rest(pane)
    shots.take(pane, "user-shell-ended", "idle")


def unanimated(pane: AgentPane, shots: Shots) -> None:
    do.send(pane, "go [[text All is done.]]+[[hang]]")
    hung = pane.until_model("hang", main=True)
    pane.until("All is done")
    do.passed(pane, hung["t"], 4)
    shots.take(pane, "noanim-stream-hangs", "working", "model")
    pane.keys("Escape")
    pane.until("interrupted")
    do.rest(pane)
    do.send(pane, f"go [[bash {do.held('a')}]]")
    do.running(pane, "a")
    shots.take(pane, "noanim-tool", "working", "tool")


QUIET = {"tui.animations": False}

SCENES = [
    Scene("think", think, {"size": (46, 14)}),
    Scene("stream-long", stream, {"size": (80, 24)}),
    Scene("stream-silent", stream_silent, {"size": (60, 15)}),
    Scene("hang", hang, {"size": (100, 30)}),
    Scene("tool-prints", tool_prints, {"size": (80, 24)}),
    Scene("tools", tools, {"size": (60, 15)}),
    Scene("queued", queued, {"size": (100, 30)}),
    Scene("background", background, {"size": (120, 40)}),
    Scene("short-turn", short_turn, {"size": (100, 30)}),
    Scene("user-shell", user_shell, {"size": (80, 24)}),
    Scene("unanimated", unanimated, {"size": (80, 24), "settings": QUIET}),
]
