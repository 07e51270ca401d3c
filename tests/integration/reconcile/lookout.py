"""Somebody who looks at the world of a workspace, and files that agents leave there."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog, file_locations
from midwatch.registry.model import RUNNING, RegistryRow, RowPane, TmuxPane, TmuxSnapshot
from midwatch.registry.observe import RegistryObserver
from midwatch.system import procfs
from tests.conftest import until
from tests.integration.reconcile.workspace import Workspace

NAME = "lab-creator-claude"
WHEN = "2026-11-15T20:05:05.000Z"


class Lookout:
    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.home = workspace.home
        self.world = RegistryObserver(catalog.load_all(), str(self.home / "spool"), workspace.tmux.server)

    def observe(self, *rows: RegistryRow) -> TmuxSnapshot:
        return self.world.observe(rows)

    def found(self, session: str = NAME, *rows: RegistryRow) -> TmuxPane:
        (pane,) = (pane for pane in self.observe(*rows).panes if pane.session == session)
        return pane

    def row(
        self, name: str = NAME, at: int = 0, status: str = RUNNING, agent: str = "claude", **more: Any
    ) -> RegistryRow:
        return RegistryRow(at, name, status, agent=agent, **more)

    def session(self, name: str = NAME, agent: str = "claude", cwd: Path | None = None) -> int:
        """A pane in which an agent is seen to run; its pid."""
        pid = self.workspace.session(name, agent, cwd)
        until(lambda: self.found(name).agent == agent)
        return pid

    def appeared(self, *rows: RegistryRow) -> dict[int, str]:
        return self.observe(*rows).appeared

    # What agents leave

    def file(self, path: str, content: str | object, *, age: float = 0.0) -> Path:
        """A file below the home, written so many seconds ago."""
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        aged(file, age)
        return file

    def state(self, pid: int, conversation: str) -> None:
        """What Claude Code says of itself."""
        start = str(procfs.start_time(pid))
        told = {"pid": pid, "procStart": start, "sessionId": conversation, "status": "idle"}
        self.file(f".claude/sessions/{pid}.json", told)

    def leave(self, agent: str, cwd: Path, *, age: float = 0.0, talk: str = "", folder: str = "") -> str:
        """A conversation of an agent that was begun in a directory; its id. ``folder``: as Gemini CLI calls that."""
        talk = talk or (f"ses_{uuid.uuid4().hex[:20]}" if agent == "opencode" else str(uuid.uuid4()))
        where = str(cwd)
        dashed = file_locations.dashed_path(where)
        line = {"type": "user", "sessionId": talk, "cwd": where, "timestamp": WHEN, "message": {"content": "go"}}
        if agent == "claude":
            self.file(f".claude/projects/{dashed}/{talk}.jsonl", json.dumps(line) + "\n", age=age)
        elif agent == "qwen":
            self.file(f".qwen/projects/{dashed}/chats/{talk}.jsonl", json.dumps(line) + "\n", age=age)
        elif agent == "codex":
            meta = {"timestamp": WHEN, "type": "session_meta", "payload": {"id": talk, "cwd": where}}
            day = time.strftime("%Y/%m/%d", time.localtime(time.time() - age))
            path = f".codex/sessions/{day}/rollout-2026-11-15T20-11-16-{talk}.jsonl"
            self.file(path, json.dumps(meta) + "\n", age=age)
        elif agent == "gemini":
            header = {
                "sessionId": talk,
                "projectHash": file_locations.directory_digest(where),
                "startTime": WHEN,
                "lastUpdated": WHEN,
            }
            place = folder or file_locations.directory_digest(where)
            path = f".gemini/tmp/{place}/chats/session-2026-11-15T20-26-{talk[:8]}.jsonl"
            self.file(path, json.dumps(header) + "\n", age=age)
        elif agent == "agy":
            top = ".gemini/antigravity-cli"
            self.file(f"{top}/cache/last_conversations.json", {where: talk}, age=age)
            self.file(f"{top}/conversations/{talk}.db", "", age=age)
        elif agent == "opencode":
            self._opencode(talk, where, time.time() - age)
        return talk

    def _opencode(self, talk: str, where: str, at: float) -> None:
        path = self.home / ".local/share/opencode/opencode.db"
        path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(path)
        database.execute(
            "CREATE TABLE IF NOT EXISTS session (id, directory, parent_id, time_created, time_updated, version)"
        )
        values = (talk, where, None, at * 1000, at * 1000, "1.18.33")
        database.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", values)
        database.commit()
        database.close()


def aged(file: Path, seconds: float) -> None:
    if seconds:
        then = time.time() - seconds
        os.utime(file, (then, then))


def pane_of(found: TmuxPane) -> RowPane:
    """A pane as a row has it that was written by Midwatch."""
    return RowPane(found.pid, found.command, found.cwd, found.id, found.start, procfs.boot_id())


@pytest.fixture
def lookout(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lookout]:
    for name in ("TMUX", "TMUX_PANE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(workspace.sockets))
    monkeypatch.setenv("HOME", str(workspace.home))
    found = Lookout(workspace)
    yield found
    found.world.close()
