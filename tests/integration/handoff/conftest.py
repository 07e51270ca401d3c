"""Fixtures for `handoff`: a session with a worker's shell and a stand-in for the controller's agent."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Box, Done
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent


class Swarm:
    """One tmux session: pane 0 is a worker's shell, pane 1 the controller."""

    def __init__(self, box: Box, private: Private, directory: Path, name: str = "swarm") -> None:
        self.box = box
        self.private = private
        box.env["PATH"] = f"{Path(sys.executable).parent}:{box.env['PATH']}"
        self.worker = private.start("bash --norc -i", name, size=(120, 50), cwd=str(directory))
        self.controller = Agent(private, directory / "controller", name)
        self.controller.directory.mkdir()
        command = self.controller._command
        self.controller.pane = self.split(f"cd {self.controller.directory} && exec {command}")
        private.until_shows(self.controller.pane, "? for shortcuts")

    def split(self, command: str = "bash --norc -i") -> str:
        made = self.private("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", self.worker, command)
        return made.strip()

    def title(self, pane: str, words: str) -> None:
        self.private("select-pane", "-t", pane, "-T", words)

    def within(self, pane: str) -> dict[str, str]:
        """What tmux tells those who run in a pane."""
        return {"TMUX": f"{self.private.socket},1,0", "TMUX_PANE": pane}

    def handoff(self, *words: str, stdin: str = "", **env: str) -> Done:
        """As the worker runs it in its pane."""
        return self.box("handoff", *words, stdin=stdin, **self.within(self.worker) | env)

    def mail(self) -> list[dict[str, Any]]:
        listed = self.box("mail", "inbox", "--json").out.splitlines()
        return [self.box("mail", "show", json.loads(line)["id"], "--json").json for line in listed]


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TMUX", "TMUX_PANE", "MIDWATCH_CONTROLLER", "MIDWATCH_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".local/state"))


@pytest.fixture
def private(alone: None, tmp_path: Path) -> Iterator[Private]:  # noqa: ARG001
    found = Private(tmp_path / "s")
    yield found
    found.end()


@pytest.fixture
def swarm(box: Box, private: Private, tmp_path: Path) -> Swarm:
    return Swarm(box, private, tmp_path)
