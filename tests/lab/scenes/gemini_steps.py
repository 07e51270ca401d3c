"""Steps that scenes of Gemini CLI and of its offspring Qwen Code share."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

from tests.lab import processes
from tests.lab.pane import AgentPane

TRUE_COLOUR = {"COLORTERM": "truecolor"}
"""Most terminals say so; Gemini then draws its prompts on a background, between half blocks."""
PERMISSION = r"1\. (?:Allow once|Yes, allow once)"
LONG = 60.0


def say(pane: AgentPane, name: str, text: str) -> None:
    """What the model says for `[[say NAME]]`."""
    (pane.home.parent / "replies" / name).write_text(text, encoding="utf-8")


def settle(pane: AgentPane, seconds: float = 1.2) -> None:
    """Wait until nothing has moved for a while: spinners and timers move all the time."""
    seen, since = pane.ansi(), time.monotonic()

    def still(pane: AgentPane) -> bool:
        nonlocal seen, since
        now = pane.ansi()
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since > seconds

    pane.until(still, LONG, what="a screen at rest")


def ask(pane: AgentPane, prompt: str) -> float:
    """Send a prompt; the time of the wall clock at which it was sent."""
    asked = time.time()
    pane.type(prompt)
    return asked


def turn(pane: AgentPane, prompt: str, event: str = "ended", shown: str = "") -> None:
    """A whole turn of one model call, until the words that end it are there."""
    asked = ask(pane, prompt)
    pane.until_model(event, LONG, after=asked, main=True)
    pane.until(shown, LONG)
    settle(pane, 2)


def dialog(pane: AgentPane, prompt: str, shown: str = PERMISSION) -> None:
    """Ask for a tool call that needs leave, and wait for the dialog."""
    asked = ask(pane, prompt)
    pane.until_model("tool-call", LONG, after=asked, main=True)
    pane.until(shown, LONG)
    settle(pane, 0.6)


def allow(pane: AgentPane, mark: str) -> float:
    """Allow a tool that touches a file as its first deed, and wait until it has."""
    time.sleep(0.5)  # a dialog takes no key at once
    pane.keys("Enter")
    made = pane.cwd / mark
    pane.until(lambda _: made.exists(), LONG, what=f"the file {mark}")
    return time.time()


def tool(pane: AgentPane, mark: str, command: str, before: str = "", shown: str = PERMISSION) -> None:
    """Have a shell command run that touches a file and then does what is said."""
    dialog(pane, f"{before}[[bash touch {mark}; {command}]]", shown)
    allow(pane, mark)
    pane.until(shown, LONG, gone=True)


def passed(pane: AgentPane, since: float, seconds: float) -> None:
    pane.until(lambda _: time.time() - since > seconds, seconds + LONG, what=f"{seconds} s")


def menu(pane: AgentPane, command: str, shown: str) -> None:
    """Open what a slash command opens."""
    pane.type(command, enter=False)
    settle(pane, 0.5)
    pane.keys("Enter")
    pane.until(shown)
    settle(pane, 0.6)


def close(pane: AgentPane) -> None:
    pane.keys("Escape")
    pane.ready()
    settle(pane, 0.6)


def clear(pane: AgentPane) -> None:
    """Empty the input line."""
    pane.keys("C-u")
    pane.ready()


def paste(pane: AgentPane, text: str) -> None:
    pane.tmux("set-buffer", "-b", "scene", text)
    pane.tmux("paste-buffer", "-p", "-b", "scene", "-t", pane.pane_id)
    tail = text.splitlines()[-1].split()[-1]
    pane.until(lambda pane: tail in pane.screen() or "Pasted" in pane.screen(), what="the pasted text")


def escape(pane: AgentPane, asked: float) -> None:
    """Interrupt while the model is answering, and wait until it is left."""
    pane.keys("Escape")
    pane.until_model("client-gone", LONG, after=asked)
    settle(pane)


def agents(pane: AgentPane) -> list[int]:
    """Processes of the agent itself, without its tools."""
    found = []
    for pid in processes.below(pane.pid):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
        except OSError:
            continue
        if re.search(r"/node\b|^node\b", command):
            found.append(pid)
    return found


def kill(pane: AgentPane, number: signal.Signals) -> None:
    """Send a signal to the agent and wait for the shell."""
    for pid in agents(pane):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
    gone(pane)


def gone(pane: AgentPane) -> None:
    pane.until(lambda pane: not agents(pane), LONG, what="the end of the agent")
    settle(pane)


def shell(pane: AgentPane, command: str, foreground: str) -> None:
    """Type a command into the shell that is left, and wait until it is in the foreground."""
    pane.keys("-l", command)
    pane.keys("Enter")
    pane.until(lambda pane: pane.facts()["pane_current_command"] == foreground, what=foreground)
    settle(pane)
