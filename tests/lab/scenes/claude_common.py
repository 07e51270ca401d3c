"""What the scenes of Claude Code have in common: how they send a prompt, and by which facts they know what goes on."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.lab import processes
from tests.lab.pane import PATIENCE, AgentPane
from tests.lab.server.journal import CLOSING

LONG = 90.0
"""Seconds of patience on a busy machine."""
FREE: dict[str, Any] = {"permissions": {"allow": ["Bash", "Write", "Edit", "Read", "WebFetch", "Agent", "Task"]}}
"""Settings in which no tool asks for leave."""
ASKING = {"autoContinueAtUsageLimit": False}
"""Settings in which newer releases ask what to do at a limit, as older ones always do."""
COUNTED = r"\(\d+s · \d+ lines\)"
"""What newer releases show of a tool's output while it runs."""
TASKS = {"CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}
"""Environment in which the model has a list of tasks: newer releases give it to older models only."""
STATUSLINE = "printf 'proj | opus | ctx(12%%) | esc to interrupt | %s' \"$(date +%T)\""
"""A custom status line that has the words of the busy footer, and a clock."""


def reply(pane: AgentPane, name: str, text: str) -> None:
    """Give the model words for `[[say NAME]]`."""
    (pane.home.parent / "replies" / name).write_text(text, encoding="utf-8")


def send(pane: AgentPane, words: str) -> float:
    """Type a prompt; the moment before it."""
    moment = time.time()
    pane.type(words)
    return moment


def passed(pane: AgentPane, moment: float, seconds: float) -> None:
    """Wait until so long after a moment of the wall clock."""
    pane.until(lambda _: time.time() > moment + seconds, seconds + PATIENCE, what=f"{seconds} s to pass")


def steady(pane: AgentPane, seconds: float = 1.2, timeout: float = LONG) -> None:
    """Wait until the screen has stood still for so long; a bullet may blink."""
    last, since = "", time.monotonic()

    def still(_: AgentPane) -> bool:
        nonlocal last, since
        now = pane.screen().replace("●", " ")
        if now != last:
            last, since = now, time.monotonic()
        return time.monotonic() - since > seconds

    pane.until(still, timeout, what="a screen that stands still")


def over(pane: AgentPane, moment: float, timeout: float = LONG, *, still: bool = True) -> None:
    """Wait until the turn that began after a moment is over: its last reply called no tool, and all is drawn."""

    def done(_: AgentPane) -> bool:
        own = [entry for entry in pane.journal() if entry["t"] > moment and entry.get("main")]
        last = [entry["event"] for entry in own if entry["seq"] == own[-1]["seq"]] if own else []
        return "ended" in last and "tool-call" not in last

    pane.until(done, timeout, what="the end of the turn")
    if still:
        steady(pane)


def turn(pane: AgentPane, words: str) -> None:
    """A whole turn, from prompt to rest."""
    over(pane, send(pane, words))


def closed(pane: AgentPane, moment: float, count: int = 1, timeout: float = LONG) -> None:
    """Wait until so many requests after a moment have been closed."""

    def done(_: AgentPane) -> bool:
        own = [entry for entry in pane.journal() if entry["t"] > moment and entry.get("main")]
        return sum(entry["event"] in CLOSING for entry in own) >= count

    pane.until(done, timeout, what=f"{count} closed requests")


def there(pane: AgentPane, name: str, timeout: float = LONG) -> Path:
    """Wait for a file in the project directory that a tool touches."""
    path = pane.cwd / name
    pane.until(lambda _: path.exists(), timeout, what=f"the file {name}")
    return path


def alive(pane: AgentPane, command: str) -> bool:
    """Whether a command runs below the pane's shell."""
    return any(f"args={command}" in line for line in pane.snapshot().facts["tree"])


def agent(pane: AgentPane) -> int:
    """The process of Claude Code."""
    own = [pid for pid in processes.below(pane.pid) if processes.command(pid).split(" ")[0].endswith("claude")]
    assert own, f"no agent below the shell {pane.pid}"
    return own[0]


def kill(pane: AgentPane, number: signal.Signals) -> None:
    """Signal the agent, and wait until it is gone and the shell has its terminal back."""
    pid = agent(pane)
    os.kill(pid, number)
    pane.until(lambda _: not os.path.exists(f"/proc/{pid}"), LONG, what="the end of the agent")
    pane.until(lambda _: pane.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    steady(pane, 0.6)


def paste(pane: AgentPane, text: str) -> None:
    pane.tmux("set-buffer", "-b", "scene", text)
    pane.tmux("paste-buffer", "-p", "-b", "scene", "-t", pane.pane_id)


def press(pane: AgentPane, *names: str, until: str | Callable[[AgentPane], object] = "") -> None:
    """Press keys, see that the screen changes, and wait for what they bring."""
    before = pane.screen()
    pane.keys(*names)
    pane.until(until or (lambda _: pane.screen() != before), LONG, what=f"what {names} brings: {until}")


def told(pane: AgentPane) -> str:
    """What Claude Code's own state file says: a status, and what it waits for."""
    try:
        state = json.loads((pane.home / f".claude/sessions/{agent(pane)}.json").read_text())
    except (OSError, ValueError):
        return ""
    return f"{state.get('status', '')} {state.get('waitingFor', '')}".strip()


def dialog(pane: AgentPane, shows: str, timeout: float = LONG) -> None:
    """Wait until Claude Code itself says that it waits for a person, and shows what it must show."""
    pane.until(lambda _: told(pane).startswith("waiting"), timeout, what="a wait for a person")
    pane.until(shows, timeout)
    steady(pane)
