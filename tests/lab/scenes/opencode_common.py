"""What the scenes of OpenCode have in common: how they send a prompt, and by which facts they know what goes on."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from typing import Any

from tests.lab import processes
from tests.lab.pane import AgentPane
from tests.lab.server.journal import CLOSING

LONG = 90.0
"""Seconds of patience on a busy machine."""
FREE: dict[str, Any] = {"permission": {"bash": "allow", "edit": "allow"}}
"""Settings in which no tool asks for leave."""


def say(pane: AgentPane, name: str, words: str) -> None:
    """Give the model words for `[[say NAME]]`."""
    (pane.home.parent / "replies" / name).write_text(words, encoding="utf-8")


def send(pane: AgentPane, words: str) -> float:
    """Type a prompt; the moment before it."""
    moment = time.time()
    pane.type(words)
    return moment


def steady(pane: AgentPane, seconds: float = 1.0, *, moving: str = "[⠁-⣿⬝■]") -> None:
    """Wait until the screen has stood still for so long, but for what shows that something lives."""
    last, since = "", time.monotonic()

    def still(_: AgentPane) -> bool:
        nonlocal last, since
        now = re.sub(moving, "", pane.screen())
        if now != last:
            last, since = now, time.monotonic()
        return time.monotonic() - since > seconds

    pane.until(still, LONG, what="a screen that stands still")


def rest(pane: AgentPane) -> None:
    """Wait until nothing moves any more: on a busy machine the screen comes seconds after the model's last word."""
    steady(pane, 2.5, moving="(?!)")


def passed(pane: AgentPane, moment: float, seconds: float) -> None:
    """Wait until so long after a moment of the wall clock."""
    pane.until(lambda _: time.time() > moment + seconds, seconds + LONG, what=f"{seconds} s to pass")


def over(pane: AgentPane, moment: float) -> None:
    """Wait until the turn that began after a moment is over: its last reply called no tool, and all is drawn."""

    def done(_: AgentPane) -> bool:
        own = [entry for entry in pane.journal() if entry["t"] > moment and entry.get("main")]
        last = {entry["event"] for entry in own if entry["seq"] == own[-1]["seq"]} if own else set()
        return bool(last & CLOSING) and "tool-call" not in last

    pane.until(done, LONG, what="the end of the turn")
    rest(pane)


def runs(pane: AgentPane, mark: str) -> float:
    """Wait until a tool has begun, by the file that its command touches; the moment."""
    pane.until(lambda _: (pane.cwd / mark).exists(), LONG, what=f"the tool's file {mark}")
    return time.time()


def tool(name: str, **arguments: Any) -> str:
    return f"[[tool {name} {json.dumps(arguments)}]]"


def leader(pane: AgentPane, key: str) -> None:
    """Its menus open by ctrl+x and a letter."""
    pane.keys("C-x")
    pane.keys(key)


def interrupt(pane: AgentPane) -> None:
    """Escape twice, the second after the first has been seen."""
    pane.keys("Escape")
    pane.until("again to", LONG)
    pane.keys("Escape")
    pane.until(lambda seen: not re.search("esc (?:again to )?interrupt", foot(seen)), LONG, what="its foot without Esc")
    rest(pane)


def foot(pane: AgentPane) -> str:
    """The last rows, where it says what Esc does; above them the conversation may say the same."""
    return "\n".join([row for row in pane.screen().splitlines() if row.strip()][-3:])


def paste(pane: AgentPane, words: str) -> None:
    pane.tmux("set-buffer", "-b", "scene", words)
    pane.tmux("paste-buffer", "-p", "-b", "scene", "-t", pane.pane_id)


def agent(pane: AgentPane) -> int:
    """The agent's own process, below the shell of the pane."""
    return next(pid for pid in processes.below(pane.pid) if "opencode" in processes.command(pid))


def end(pane: AgentPane, how: signal.Signals) -> None:
    """Send the agent a signal; wait until it is dead and the shell is back."""
    pid = agent(pane)
    os.kill(pid, how)
    pane.until(lambda _: pid not in processes.below(pane.pid), LONG, what="the agent's death")
    back(pane)


def back(pane: AgentPane) -> None:
    """Wait until the pane's shell is in front again."""
    pane.until(
        lambda _: pane.tmux("display-message", "-p", "-t", pane.pane_id, "#{pane_current_command}").strip() == "bash",
        LONG,
        what="the shell",
    )
    steady(pane)
