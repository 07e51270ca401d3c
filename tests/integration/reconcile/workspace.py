"""A workspace with a list of sessions: a tmux server that is the usual one there, and agents that do nothing."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from midwatch.agents.claude import files as claude_files
from midwatch.system import procfs
from tests.conftest import Box, Done, tool
from tests.integration.panes.private import Private

LONG_AGO = 3600.0
BEFORE = "boot: before"
"""A pane's field: it was lost with an earlier boot of the machine, so nobody has to wait for a tool that stops it."""


class Workspace:
    def __init__(self, box: Box, home: Path) -> None:
        self.box = box
        self.home = home
        self.root = home / "workspace"
        self.sockets = Path(tempfile.mkdtemp())
        """Not below our home: the path of a socket must be short."""
        usual = self.sockets / f"tmux-{os.getuid()}"
        usual.mkdir(mode=0o700)
        self.tmux = Private(usual / "default")
        self.servers = [self.tmux]
        self.registry = self.root / ".hermes" / "agent-sessions.yaml"
        self.registry.parent.mkdir(parents=True)
        self.agents = home / "bin"
        self.agents.mkdir()
        for agent in ("claude", "agy", "codex"):
            shutil.copy(tool("sleep"), self.agents / agent)
        box.cwd = self.root
        box.env |= {"TMUX_TMPDIR": str(self.sockets), "XDG_STATE_HOME": str(home / "state")}

    # What people do

    def write(self, text: str, *, age: float = LONG_AGO) -> None:
        """The list as a person has written it, some time ago."""
        self.registry.write_text(text)
        self.age(age)

    def age(self, seconds: float = LONG_AGO) -> None:
        then = self.registry.stat().st_mtime - seconds
        os.utime(self.registry, (then, then))

    def missed(self, *names: str, ago: float = 10.0) -> None:
        """A pass of some seconds ago, which was interrupted, did not find these sessions either."""
        path = self.root / ".cache" / "tmux-agent-orchestrate-monitor" / "workspace.state"
        path.parent.mkdir(parents=True, exist_ok=True)
        state = json.loads(path.read_text()) if path.exists() else {"schema": 1}
        since = time.monotonic() - ago
        path.write_text(
            json.dumps(state | {"boot": procfs.boot_id(), "missing": {f"A:{name}": since for name in names}})
        )

    def directory(self, name: str) -> Path:
        found = self.root / name
        found.mkdir(exist_ok=True)
        return found

    def session(self, name: str, agent: str = "claude", cwd: Path | None = None, tmux: Private | None = None) -> int:
        """A session with an agent in it that does nothing; the pid of its pane."""
        server = tmux or self.tmux
        command = f"exec env HOME={self.home} {self.agents / agent} 1000"
        pane = server.start(command, name, cwd=str(cwd or self.root))
        return int(server("display-message", "-p", "-t", pane, "#{pane_pid}"))

    def server(self, name: str) -> Private:
        """Another tmux server, by the name that `tmux -L` knows it under."""
        found = Private(self.tmux.socket.with_name(name))
        self.servers.append(found)
        return found

    def conversation(self, cwd: Path, *, agent: str = "claude", first: str = "") -> str:
        """A conversation that Claude Code has begun in a directory; its id."""
        assert agent == "claude"
        talk = str(uuid.uuid4())
        folder = self.home / ".claude" / "projects" / claude_files.keys(str(cwd))[0]
        folder.mkdir(parents=True, exist_ok=True)
        line = {"type": "user", "sessionId": talk, "cwd": str(cwd), "timestamp": "2026-01-01T00:00:00Z"}
        (folder / f"{talk}.jsonl").write_text(first + json.dumps(line) + "\n")
        return talk

    # What comes of it

    def __call__(self, *arguments: str, **env: str) -> Done:
        return self.box("reconcile", *arguments, **env)

    def diff(self, *arguments: str, **env: str) -> dict[str, Any]:
        done = self("--once", "--emit-diff", *arguments, **env)
        assert done.code == 0, done
        return done.json

    def drifts(self, *arguments: str, **env: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.diff(*arguments, **env)["drifts"]
        return found

    def rows(self) -> dict[str, dict[str, Any]]:
        """The list as any reader of YAML has it, by name."""
        found = yaml.safe_load(self.registry.read_text())["sessions"]
        return {row["name"]: row for row in found} if isinstance(found, list) else found

    def end(self) -> None:
        for server in self.servers:
            server.end()
        shutil.rmtree(self.sockets)


@pytest.fixture
def workspace(box: Box, tmp_path: Path) -> Iterator[Workspace]:
    found = Workspace(box, tmp_path)
    yield found
    found.end()
