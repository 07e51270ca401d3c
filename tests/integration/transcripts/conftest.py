"""Homes of agents on a real disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.pane_model import RunningAgent
from midwatch.system import procfs

SAMPLES = Path(__file__).parents[2] / "unit" / "agents" / "transcripts" / "samples"
STARTED = 1_794_773_000.0
CWD = "/home/developer/proj"


class Home:
    """An agent's home directory, and the agent that runs there."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.environment = {"HOME": str(top)}

    def write(self, path: str, content: bytes | str | object, at: float = STARTED + 60) -> Path:
        """Write a file whole, as if at that time."""
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, bytes | str) else json.dumps(content)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, (at, at))
        return file

    def running(self, agent: str, *args: str, **changed: Any) -> RunningAgent:
        own, start = os.getpid(), procfs.start_time(os.getpid())
        return RunningAgent(agent, own, start, STARTED, CWD, (agent, *args), self.environment)._replace(**changed)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def sample() -> Callable[[str], bytes]:
    return lambda name: (SAMPLES / name).read_bytes()
