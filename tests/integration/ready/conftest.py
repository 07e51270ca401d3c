"""Fixtures for `ready`: an office as for `spawn`, in which a person starts an agent from a shell of his own."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from midwatch.sessions.prompting import undelivered_store
from tests.conftest import Done, until
from tests.integration.spawn.office import Office, office

__all__ = ["Desk", "desk", "office"]

PROGRAM = Path(__file__).with_name("leaving.py")


class Desk:
    """A shell in a pane, and the agent that was started from it."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.tmux = office.tmux
        program = office.home / "bin" / "claude"
        program.write_text(f'#!/bin/bash\nexec -a claude {sys.executable} -I -S {PROGRAM} "$@"\n')
        names = ("PATH", "HOME", "CLAUDE_CONFIG_DIR", "STAND_IN")
        pairs = [f"{name}={office.box.env[name]}" for name in names]
        shell = shlex.join(["env", *pairs, "PS1=here$ ", "bash", "--norc", "--noprofile", "-i"])
        self.pane = self.tmux.start(shell, "desk", size=(100, 30), cwd=str(office.cwd))
        self.tmux.until_shows(self.pane, "here$")

    def run(self, line: str) -> None:
        """Type a line to the shell."""
        self.tmux("send-keys", "-t", self.pane, "-l", line)
        self.tmux("send-keys", "-t", self.pane, "Enter")

    def begin(self) -> Desk:
        """Start the agent, and give it a first prompt: before that, nothing is written of its conversation."""
        self.run(f"clear; claude --session-id {self.office.conversation}")
        self.tmux.until_shows(self.pane, "? for shortcuts")
        self.say("hello")
        self.tmux.until_shows(self.pane, "● Fine.")
        return self

    def say(self, text: str) -> None:
        self.tmux("send-keys", "-t", self.pane, "-l", text)
        self.tmux.until_shows(self.pane, f"❯\xa0{text}")  # noqa: RUF001
        self.tmux("send-keys", "-t", self.pane, "Enter")

    def leave(self) -> None:
        self.say("leave")
        until(lambda: self.command == "bash")
        self.tmux.until_shows(self.pane, "claude --resume")
        self.until_prompt()

    def until_prompt(self) -> None:
        """Wait until the shell has nothing to do."""
        until(lambda: [row.strip() for row in self.rows[-1:]] == ["here$"])

    def draft(self, text: str) -> None:
        self.tmux("send-keys", "-t", self.pane, "-l", text)
        self.tmux.until_shows(self.pane, f"❯\xa0{text}")  # noqa: RUF001

    def ready(self, *options: str, target: str = "") -> Done:
        """`ready`, with what it tells as JSON."""
        return self.office.box("ready", target or self.pane, *self.tmux.server, "--json", *options)

    def noted(self, text: str, monkeypatch: pytest.MonkeyPatch, *, left: bool = True) -> None:
        """A message of ours for that pane did not arrive."""
        monkeypatch.setenv("XDG_STATE_HOME", str(self.office.home / "state"))
        pid = int(self.tmux("display-message", "-p", "-t", self.pane, "#{pane_pid}"))
        undelivered_store.write_note(
            str(self.tmux.socket), self.pane, text, "Enter did not send it", left=left, pid=pid
        )

    def notes(self) -> list[str]:
        return [note.text for note in undelivered_store.read_notes(str(self.tmux.socket), self.pane)]

    @property
    def rows(self) -> list[str]:
        """What is on the screen, without the empty rows below."""
        return [row for row in self.tmux.screen(self.pane) if row.strip()]

    @property
    def command(self) -> str:
        return self.tmux("display-message", "-p", "-t", self.pane, "#{pane_current_command}").strip()

    @property
    def agent(self) -> int:
        """Pid of the agent that was started last."""
        return int(self.office.starts()[-1]["pid"])

    @property
    def typed(self) -> bytes:
        return self.office.typed()


def steps(done: Done) -> list[str]:
    """The steps that were taken, as they were said."""
    words = [line.split() for line in done.err.splitlines() if line.startswith("midwatch: recover ")]
    return [each[3].rstrip(":") for each in words if each[3].rstrip(":") in ("press", "wake", "resume")]


def told(done: Done) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.fixture
def desk(office: Office) -> Desk:
    return Desk(office)
