"""Scenes: what is done with a real agent to see it in every state, once per agent in a module of its own.

A scene drives one agent and says at each moment what is truly going on, from what the model's server and the driver
did. The same scenes make labelled screens (`python -m tests.lab.scenes AGENT --out DIR`) and labelled timelines.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.pane import AgentPane


class Shots:
    """Takes a labelled case of a pane whenever a scene says what is true, into a directory laid out as the goldens."""

    def __init__(self, directory: Path, prefix: str, agent: str) -> None:
        self.directory = directory
        self.prefix = prefix
        self.agent = agent
        self.taken: list[Path] = []

    def take(self, pane: AgentPane, name: str, turn: str, detail: str = "") -> None:
        self._take(pane, "screens", name, turn, detail)

    def undecided(self, pane: AgentPane, name: str, turn: str, detail: str = "") -> None:
        """Take one that the pane alone does not decide: it looks the same when something else is true."""
        self._take(pane, "undecidable", name, turn, detail)

    def _take(self, pane: AgentPane, kind: str, name: str, turn: str, detail: str) -> None:
        case = self.directory / kind / self.agent / f"{self.prefix}{name}"
        pane.capture(case, turn, detail)
        self.taken.append(case)


class Scene(NamedTuple):
    name: str
    play: Callable[[AgentPane, Shots], None]
    start: dict[str, Any]
    """How the agent is started: arguments of `Lab.start`."""
