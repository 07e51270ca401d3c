"""Fixtures for `answer`: a private tmux server, and an agent in it that asks for a permission."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Box, until
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Gate

ASKING = Path(__file__).with_name("asking.py")


class AskingAgent:
    """The stand-in in its pane."""

    def __init__(self, private: Private, directory: Path) -> None:
        self.private = private
        self.directory = directory
        self.pane = ""

    def start(self, question: str, name: str = "work") -> AskingAgent:
        self.directory.mkdir(exist_ok=True)
        self.put("question", question)
        words = shlex.join([sys.executable, str(ASKING), str(self.directory)])
        command = f"exec env CLAUDE_CONFIG_DIR={self.directory}/home bash -c 'exec -a claude {words}'"
        self.pane = self.private.start(command, name, size=(80, 24), cwd=str(self.directory))
        self.private.until_shows(self.pane, question)
        return self

    def put(self, name: str, text: str = "") -> None:
        new = self.directory / f"{name}.new"
        new.write_text(text)
        new.rename(self.directory / name)

    def ask(self, question: str) -> None:
        """Close the dialog that is open, and open another one."""
        self.put("question", question)
        os.kill(int(self.private("display-message", "-p", "-t", self.pane, "#{pane_pid}")), signal.SIGUSR1)
        self.private.until_shows(self.pane, question)

    def read(self, name: str) -> str:
        path = self.directory / name
        return path.read_bytes().decode() if path.exists() else ""

    def until_taken(self, text: str) -> None:
        until(lambda: self.read("taken") == text, self.directory)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TMUX", "TMUX_PANE", "MIDWATCH_NAME", "MIDWATCH_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def private(alone: None, tmp_path: Path) -> Iterator[Private]:  # noqa: ARG001
    found = Private(tmp_path / "s")
    yield found
    found.end()


@pytest.fixture
def asking(private: Private, tmp_path: Path) -> AskingAgent:
    return AskingAgent(private, tmp_path / "agent").start("touch marker")


@pytest.fixture
def gate(box: Box, private: Private, tmp_path: Path) -> Gate:
    directory = tmp_path / "gate"
    directory.mkdir()
    return Gate(box, private.program, directory)
