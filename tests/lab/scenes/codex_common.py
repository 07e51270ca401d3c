"""What the scenes of Codex have in common: things a person does, and words that look like what they are not."""

# ruff: noqa: RUF001  # Codex draws with such characters
from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path

from tests.lab import processes
from tests.lab.pane import AgentPane, NeverShown

LONG = 60.0

STATUS = "Working (5s • esc to interrupt)"
CLOSING = "Worked for 12s • 20:12"
DIALOG = """Would you like to run the following command?

$ rm -rf build

› 1. Yes, proceed (y)
  2. No, and tell Codex what to do differently (esc)

  Press enter to confirm or esc to cancel"""
LIMIT = "■ You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage or try again at 10:33 PM."
OTHERS = """Claude shows `✻ Brewed for 12s`, `✢ Percolating… (9s · esc to interrupt)` and, before a tool:

Do you want to proceed?
❯ 1. Yes
  2. No

You've hit your session limit · resets 10:29pm (UTC)
⬝■■■■■■⬝  esc interrupt
⠋ Thinking... (esc to cancel, 4s)
△ Permission required   Allow once   Allow always   Reject"""
SHELL = """The last lines of the pane were:

Killed
bash-5.2# codex resume 019b
Token usage: total=20,042 input=20,000 output=42
To continue this session, run codex resume 019b2c5e
bash-5.2#"""


def send(pane: AgentPane, text: str) -> float:
    """Give a prompt, and wait until the model was asked; when that was."""
    before = time.time()
    pane.type(text, enter=False)
    return enter(pane, before)


def enter(pane: AgentPane, before: float) -> float:
    """Press Enter until the model is asked: keys that follow typed words at once count as a paste."""

    def asked(seen: AgentPane) -> bool:
        return any(e["event"] == "began" and e["main"] and e["t"] > before for e in seen.journal())

    press(pane, "Enter", asked)
    return float(pane.until_model("began", after=before, main=True)["t"])


def press(pane: AgentPane, key: str, done: Callable[[AgentPane], object]) -> None:
    """Press a key until it has been taken."""
    for attempt in range(4):
        time.sleep(0.3 * (attempt + 1))
        pane.keys(key)
        try:
            pane.until(done, 6)
        except NeverShown:
            continue
        return
    raise NeverShown(f"{key} was never taken; the screen:\n{pane.screen()}")


def reply(pane: AgentPane, name: str, text: str) -> None:
    """Words for `[[say NAME]]`."""
    (pane.home.parent / "replies" / name).write_text(text, encoding="utf-8")


def paste(pane: AgentPane, text: str) -> None:
    """Paste as a terminal does, and see the end of it appear."""
    before = pane.screen()
    pane.tmux("set-buffer", "-b", "scene", text)
    pane.tmux("paste-buffer", "-p", "-d", "-b", "scene", "-t", pane.pane_id)
    changed(pane, before)


def changed(pane: AgentPane, before: str) -> None:
    pane.until(lambda seen: seen.screen() != before, what="a change")


def finish(pane: AgentPane, since: float, count: int = 1) -> None:
    """Wait until the model has given so many whole answers, and until the turn is over on the screen."""
    pane.until(
        lambda seen: (
            len([e for e in seen.journal() if e["event"] == "ended" and e["main"] and e["t"] > since]) >= count
        ),
        LONG,
        what="the end of the turn",
    )
    rest(pane)


def rest(pane: AgentPane, calm: float = 1.5) -> None:
    """Wait until nothing on the screen moves: with the model done, that is an idle Codex, not a slow one."""
    still(pane, calm, lambda seen: re.sub(r"\d+", "0", seen.screen()) + seen.title())


def still(pane: AgentPane, calm: float, look: Callable[[AgentPane], str]) -> None:
    shown, since = "", 0.0

    def unmoved(seen: AgentPane) -> bool:
        nonlocal shown, since
        now, what = time.monotonic(), look(seen)
        if what != shown:
            shown, since = what, now
        return now - since > calm

    pane.until(unmoved, LONG, what="stillness")


def passed(pane: AgentPane, since: float, seconds: float) -> None:
    """Wait until so much time has passed since a moment of the journal."""
    pane.until(lambda _: time.time() - since > seconds, seconds + LONG, what="time")


def held(name: str, before: str = "") -> str:
    """A command that leaves a file and then runs until a file ends it."""
    return f"touch {name}-on; {before}while [ ! -e {name}-off ]; do sleep 0.2; done"


def running(pane: AgentPane, name: str) -> None:
    """Wait until the tool is running, and until the screen has been drawn since."""
    pane.until(lambda seen: (seen.cwd / f"{name}-on").exists(), LONG, what=f"the tool {name}")
    passed(pane, (pane.cwd / f"{name}-on").stat().st_mtime, 2)


def release(pane: AgentPane, name: str) -> None:
    (pane.cwd / f"{name}-off").touch()


def command(pane: AgentPane) -> str:
    return "codex --no-daemon" if pane.agent == "codex-nodaemon" else "codex"


def started(pane: AgentPane) -> None:
    """Wait until it has left the shell. Its starter runs on Node, and in newer releases becomes Codex itself."""
    pane.until(lambda seen: seen.facts()["pane_current_command"] in ("node", "codex"), what="Codex or its starter")


def front(pane: AgentPane) -> int:
    """The process of Codex itself, below its starter."""
    found = [pid for pid in _below(pane.pid) if Path(f"/proc/{pid}/comm").read_text().strip() == "codex"]
    own = [pid for pid in found if "app-server" not in processes.command(pid)]
    assert own, f"no codex below {pane.pid}"
    return own[0]


def kill(pane: AgentPane, sign: signal.Signals = signal.SIGKILL) -> None:
    """End Codex itself by a signal, and wait for the shell."""
    os.kill(front(pane), sign)
    shell(pane)


def shell(pane: AgentPane) -> None:
    pane.until(lambda seen: seen.facts()["pane_current_command"] == "bash", LONG, what="the shell")
    still(pane, 1.0, lambda seen: seen.screen())


def _below(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *_below(child)]
    return found
