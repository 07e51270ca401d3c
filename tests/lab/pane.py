"""A pane in which an agent runs, and all that a person could do with it or see of it."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.server import journal

PATIENCE = 30.0
HAND = 0.2
"""Seconds between typed words and the key after them: agents take what comes faster than a hand for a paste."""

_FACTS = {
    name: name
    for name in (
        "pane_title", "pane_current_command", "pane_pid", "pane_dead", "pane_dead_status", "alternate_on", "cursor_x",
        "cursor_y", "cursor_flag", "pane_width", "pane_height", "pane_current_path", "mouse_any_flag", "history_size",
        "window_name",
    )
} | {"bell": "window_bell_flag"}  # fmt: skip
_SEPARATOR = "@@@"
_FORMAT = _SEPARATOR.join(f"#{{{name}}}" for name in _FACTS.values())
_MARK = "@@@ next @@@"


class NeverShown(AssertionError):  # noqa: N818
    """What was waited for did not come; the message holds the screen."""


class Tmux:
    """A private tmux server, reached by its socket."""

    def __init__(self, socket: Path) -> None:
        self.arguments = ["-S", str(socket)]

    def __call__(self, *command: str) -> str:
        """Run a command; raises CalledProcessError, with tmux's own words, when tmux refuses."""
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm-256color"}
        call = subprocess.run(
            ["tmux", *self.arguments, *command], env=env, capture_output=True, timeout=PATIENCE, check=False
        )
        # A server that ends with its last session may be gone before it answers.
        ended = command[0].startswith("kill-") and call.stderr.startswith((b"server exited", b"lost server"))
        if call.returncode and not ended:
            raise subprocess.CalledProcessError(call.returncode, command, call.stdout, call.stderr.decode())
        return call.stdout.decode(errors="replace")


class Snapshot(NamedTuple):
    """Text, colours and facts of one and the same moment."""

    screen: str
    ansi: str
    facts: dict[str, Any]


class AgentPane:
    def __init__(
        self, *, tmux: Tmux, pane_id: str, session: str, agent: str, version: str, home: Path, cwd: Path, lab: Path,
        prompt: str,
    ) -> None:  # fmt: skip
        self.tmux = tmux
        self.pane_id = pane_id
        self.session = session
        self.agent = agent
        self.version = version
        self.home = home
        self.cwd = cwd
        self.prompt = prompt
        self._lab = lab

    @property
    def server_args(self) -> list[str]:
        return self.tmux.arguments

    @property
    def pid(self) -> int:
        """The shell in which the agent was started."""
        return int(self.tmux("display-message", "-p", "-t", self.pane_id, "#{pane_pid}"))

    # What a person does

    def type(self, text: str, *, enter: bool = True) -> None:
        """Type words, see them appear, and press Enter."""
        # The first letter goes ahead: to some agents a key is a shortcut as long as they show an empty line.
        before = self.ansi()
        self.tmux("send-keys", "-t", self.pane_id, "-l", "--", text[:1])
        self.until(lambda pane: pane.ansi() != before, what=f"typed {text[:1]!r}")
        # Codex 0.169 loses a question mark among keys that it has not drawn yet: it takes its line for an empty one.
        pieces = re.split(r"(?=\?)", text[1:])
        for number, piece in enumerate(pieces, 1):
            if piece:
                self.tmux("send-keys", "-t", self.pane_id, "-l", "--", piece)
            tail = _bare(text[:1] + "".join(pieces[:number]))[-12:]
            self.until(partial(_shows, tail), what=f"typed {tail!r}")
        if enter:
            time.sleep(HAND)
            self.keys("Enter")

    def keys(self, *names: str) -> None:
        self.tmux("send-keys", "-t", self.pane_id, *names)

    def answer(self, *names: str) -> None:
        """Press keys as one does who has just read a question: some agents take none at the moment they show it."""
        time.sleep(HAND)
        self.keys(*names)

    def resize(self, width: int, height: int) -> None:
        self.tmux("resize-window", "-t", self.pane_id, "-x", str(width), "-y", str(height))

    # What a person sees

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p", "-t", self.pane_id)

    def ansi(self) -> str:
        return self.tmux("capture-pane", "-pe", "-t", self.pane_id)

    def title(self) -> str:
        return self.tmux("display-message", "-p", "-t", self.pane_id, "#{pane_title}").rstrip("\n")

    def facts(self) -> dict[str, Any]:
        return self.snapshot().facts

    def snapshot(self) -> Snapshot:
        at = ("-t", self.pane_id)
        mark = (";", "display-message", "-p", _MARK, ";")
        seen = self.tmux(
            "capture-pane", "-p", *at, *mark, "capture-pane", "-pe", *at, *mark, "display-message", "-p", *at, _FORMAT
        )
        screen, ansi, values = seen.split(_MARK + "\n")
        facts: dict[str, Any] = dict(zip(_FACTS, values.rstrip("\n").split(_SEPARATOR), strict=True))
        facts["tree"] = tree(int(facts["pane_pid"]))
        facts["time"] = time.strftime("%H:%M:%S")
        return Snapshot(screen, ansi, facts)

    def until(
        self,
        wanted: str | Callable[[AgentPane], object],
        timeout: float = PATIENCE,
        *,
        gone: bool = False,
        what: str = "",
    ) -> AgentPane:
        """Wait until a regular expression is found on the screen (or is not), or until a condition holds."""
        deadline = time.monotonic() + timeout
        while bool(re.search(wanted, self.screen()) if isinstance(wanted, str) else wanted(self)) == gone:
            if time.monotonic() > deadline:
                told = what or (wanted if isinstance(wanted, str) else "a condition")
                raise NeverShown(f"{self.session}: waited {timeout:.0f} s for {told}; the screen:\n{self.screen()}")
            time.sleep(0.05)
        return self

    def ready(self, timeout: float = 60.0) -> AgentPane:
        """Wait until the agent takes a prompt."""
        return self.until(self.prompt, timeout, what="the prompt")

    # What the model did

    def journal(self) -> list[dict[str, Any]]:
        """What the model did for this session (see server/journal.py)."""
        entries = journal.read(self._lab / "journal.jsonl")
        return [entry for entry in entries if entry["session"] == self.home.name]

    def until_model(
        self, event: str, timeout: float = PATIENCE, *, after: float = 0.0, **details: Any
    ) -> dict[str, Any]:
        """Wait until the model has done something (later than a time of the wall clock), and tell what it was."""
        found: list[dict[str, Any]] = []

        def done(_: AgentPane) -> bool:
            found[:] = [
                entry
                for entry in self.journal()
                if entry["event"] == event and entry["t"] > after and details.items() <= entry.items()
            ]
            return bool(found)

        self.until(done, timeout, what=f"the model's {event} {details or ''}")
        return found[0]

    def hooks(self) -> list[dict[str, Any]]:
        """What the lab's own hook command was told: event, pid of its parent, pane, time, payload."""
        return journal.read(self.home / "hooks.jsonl")

    # For the corpus

    def capture(
        self, directory: Path, turn: str, detail: str = "", agent: str | None = None, version: str | None = None
    ) -> Snapshot:
        """Write what is seen now as a labelled case; names of this machine are replaced by neutral ones."""
        seen = self.snapshot()
        directory.mkdir(parents=True, exist_ok=True)
        expected = {"agent": agent or self.agent.partition("-")[0], "version": version or self.version, "turn": turn}
        if detail:
            expected["detail"] = detail
        (directory / "screen.txt").write_text(self._neutral(seen.screen))
        (directory / "screen.ansi.txt").write_text(self._neutral(seen.ansi))
        facts = json.dumps(seen.facts, indent=1, ensure_ascii=False)
        (directory / "facts.json").write_text(self._neutral(facts) + "\n")
        (directory / "expected.json").write_text(json.dumps(expected, ensure_ascii=False) + "\n")
        return seen

    def _neutral(self, text: str) -> str:
        from tests.lab import installs  # noqa: PLC0415

        text = text.replace(str(self.home), "/home/developer").replace(str(installs.root()), "/home/developer/agents")
        return text.replace(str(self._lab), "/home/developer/lab")


def tree(pid: int) -> list[str]:
    """A process and all below it, a line each, children indented."""
    listing = subprocess.run(
        ["ps", "-e", "-o", "pid,ppid,stat,comm,args", "--no-headers", "-ww"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split(None, 4) for line in listing.splitlines()]
    found = {int(row[0]): row for row in rows}
    children: dict[int, list[int]] = {}
    for row in rows:
        children.setdefault(int(row[1]), []).append(int(row[0]))

    def lines(at: int, depth: int) -> list[str]:
        if at not in found:
            return []
        _, _, stat, comm, *args = found[at]
        own = f"{'  ' * depth}{at} stat={stat} comm={comm} args={args[0][:150] if args else ''}"
        return [own, *(line for child in children.get(at, []) for line in lines(child, depth + 1))]

    return lines(pid, 0)


def _shows(tail: str, pane: AgentPane) -> bool:
    screen = pane.screen()
    return tail in _bare(screen) or "Pasted" in screen


def _bare(text: str) -> str:
    """Words without what wrapping and drawing add to them."""
    return re.sub(r"[\s│┃|▌▐❯›>]+", "", text)  # noqa: RUF001
