"""Scenes of Qwen Code from 0.24 on: status rows that wrap, what lies over the input, and what Esc leaves behind."""

from __future__ import annotations

from collections.abc import Callable

from tests.lab.pane import AgentPane
from tests.lab.scenes import Scene, Shots
from tests.lab.scenes.gemini_steps import LONG, ask, clear, close, dialog, menu, passed, settle, shell, tool, turn
from tests.lab.timelines.stories import PHRASES

SIZES = ((80, 24), (100, 30), (140, 40))
PHRASED = {"settings": {"ui": {"customWittyPhrases": PHRASES[-1:]}}}
"""One phrase that is too long for 80 and for 100 columns."""


def wide(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


def phrases(at: str) -> Callable[[AgentPane, Shots], None]:
    def play(pane: AgentPane, shots: Shots) -> None:
        turn(pane, "hello there")
        asked = ask(pane, "a [[think 30]]")
        passed(pane, pane.until_model("thinking", LONG, after=asked)["t"], 2)
        shots.take(pane, f"phrase-thinking-{at}", "working", "model")
        pane.keys("/")
        pane.until(r"\(1/\d+\)")
        shots.take(pane, f"phrase-slash-list-{at}", "working", "model")
        pane.keys("BSpace")
        pane.type("one more thing", enter=False)
        pane.keys("C-q")
        pane.until(r"(?m)^  one more thing")
        shots.take(pane, f"phrase-queued-{at}", "working", "model")
        pane.keys("C-r")
        pane.until(r"\(r:\)")
        shots.take(pane, f"phrase-history-search-{at}", "working", "model")

    return play


def tools(at: str) -> Callable[[AgentPane, Shots], None]:
    def play(pane: AgentPane, shots: Shots) -> None:
        dialog(pane, f"a [[write {pane.cwd}/a.txt one\\ntwo\\nthree]]")
        shots.take(pane, f"wide-permission-{at}", "waiting", "permission")
        pane.keys("Escape")
        settle(pane)
        shots.take(pane, f"wide-rejected-{at}", "idle", "interrupted")
        clear(pane)
        dialog(pane, "b [[ask Which colour | Red | Blue]]", "Choose Blue")
        shots.take(pane, f"wide-question-{at}", "waiting", "question")
        pane.keys("Escape")
        settle(pane)
        clear(pane)
        tool(pane, "m1", "for i in {1..60}; do echo row $i; sleep 0.5; done", "c ")
        pane.until("row 3", LONG)
        shots.take(pane, f"phrase-tool-{at}", "working", "tool")
        pane.keys("C-f")
        pane.until(r"\(Focused\)")
        shots.take(pane, f"shell-focused-{at}", "working", "tool")

    return play


def menus(at: str) -> Callable[[AgentPane, Shots], None]:
    def play(pane: AgentPane, shots: Shots) -> None:
        turn(pane, "hello there")
        for command, shown, detail in (
            ("/auth", "Connect a Provider", "login"),
            ("/stats", "Session ID", "menu"),
            ("/help", "general", "menu"),
            ("/extensions", "Installed", "menu"),
            ("/skills", "Manage Skills", "menu"),
            ("/statusline", "Configure Status Line", "menu"),
        ):
            menu(pane, command, shown)
            shots.take(pane, f"menu{command.replace('/', '-')}-{at}", "waiting", detail)
            close(pane)
        pane.keys("C-r")
        pane.until(r"\(r:\)")
        settle(pane)
        shots.take(pane, f"history-search-{at}", "idle", "turn-ended")
        pane.keys("Escape")
        pane.until(r"\(r:\)", gone=True)
        pane.type("/nonsense")
        pane.until("Unknown command")
        settle(pane)
        shots.take(pane, f"unknown-command-{at}", "idle", "turn-ended")
        pane.type("/compress", enter=False)
        settle(pane, 0.5)
        pane.keys("Enter")
        pane.until("compressed from|not needed|ompress", LONG)
        settle(pane, 2)
        shots.take(pane, f"compressed-{at}", "idle", "turn-ended")

    return play


def escapes(pane: AgentPane, shots: Shots) -> None:
    """The prompt goes back into the box, and the turn before stands on the screen as if nothing had been since."""
    turn(pane, "hello there")
    asked = ask(pane, "a [[hang]]")
    passed(pane, pane.until_model("began", LONG, after=asked)["t"], 2)
    pane.keys("Escape")
    pane.until_model("client-gone", LONG, after=asked)
    settle(pane)
    shots.take(pane, "taken-back-80x24", "idle", "interrupted")
    clear(pane)
    asked = ask(pane, "b [[think 30]]")
    passed(pane, pane.until_model("thinking", LONG, after=asked)["t"], 2)
    pane.keys("Escape")
    pane.until_model("client-gone", LONG, after=asked)
    settle(pane)
    shots.take(pane, "taken-back-thinking-80x24", "idle", "interrupted")
    clear(pane)
    asked = ask(pane, "c [[stream 30]]")
    passed(pane, pane.until_model("text", LONG, after=asked)["t"], 2)
    pane.keys("Escape")
    pane.until_model("client-gone", LONG, after=asked)
    settle(pane)
    shots.take(pane, "interrupted-stream-80x24", "idle", "interrupted")


def cut(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    turn(pane, "a [[cut]]", "cut", "API Error")
    shots.take(pane, "failed-cut-80x24", "idle", "turn-failed")


def refused(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "a [[status 400]]", "error", "API Error")
    shots.take(pane, "failed-400-80x24", "idle", "turn-failed")


def retried(pane: AgentPane, shots: Shots) -> None:
    ask(pane, "a [[streamerr overloaded_error]]")
    pane.until("Retrying in", LONG)
    shots.take(pane, "retrying-in-80x24", "working", "retrying")


def own_shell(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    pane.type("!touch m1; sleep 30", enter=False)
    pane.keys("Enter")
    pane.until(lambda _: (pane.cwd / "m1").exists(), LONG, what="m1")
    pane.until("Shell Command touch")
    shots.take(pane, "user-shell-80x24", "working", "tool")


def login(pane: AgentPane, shots: Shots) -> None:
    pane.until("Connect a Provider", LONG)
    settle(pane)
    shots.take(pane, "login-80x30", "waiting", "login")
    pane.keys("Down", "Enter")
    pane.until("· Provider")
    settle(pane)
    shots.take(pane, "login-provider-80x30", "waiting", "login")
    pane.keys("Enter")
    pane.until(r"Step 1/\d[\s\S]*Esc to go back")
    shots.take(pane, "login-key-80x30", "waiting", "login")


def resumed(pane: AgentPane, shots: Shots) -> None:
    turn(pane, "hello there")
    pane.type("/quit", enter=False)
    settle(pane, 0.5)
    pane.keys("Enter")
    pane.until("To continue this session", LONG)
    settle(pane)
    shots.take(pane, "exited-quit-80x24", "exited")
    shell(pane, "qwen --resume", "node")
    pane.until("Resume Session", LONG)
    settle(pane)
    shots.take(pane, "resume-picker-80x24", "waiting", "menu")
    pane.keys("Enter")
    pane.until("Type your message", LONG)
    settle(pane, 2)
    shots.take(pane, "resumed-80x24", "idle", "turn-ended")


SCENES: list[Scene] = [
    *(Scene(f"phrases-{wide(size)}", phrases(wide(size)), {"size": size, **PHRASED}) for size in SIZES),
    *(Scene(f"tools-{wide(size)}", tools(wide(size)), {"size": size, **PHRASED}) for size in SIZES),
    *(Scene(f"menus-{wide(size)}", menus(wide(size)), {"size": size}) for size in SIZES),
    Scene("escapes", escapes, {"size": (80, 24)}),
    Scene("cut", cut, {"size": (80, 24)}),
    Scene("refused", refused, {"size": (80, 24)}),
    Scene("retried", retried, {"size": (80, 24), **PHRASED}),
    Scene("own-shell", own_shell, {"size": (80, 24)}),
    Scene("login", login, {"size": (80, 30), "onboarded": False, "ready": False, "env": {"OPENAI_API_KEY": ""}}),
    Scene("resumed", resumed, {"size": (80, 24)}),
]
