"""The owner of a list of sessions: an office, the list, and agents that he has started without Midwatch."""

from __future__ import annotations

import json
import re
import shlex
import uuid
from pathlib import Path
from typing import Any

import pytest
import yaml

from midwatch.system import procfs
from tests.conftest import Done, until
from tests.integration.spawn.office import Office


class Desk:
    def __init__(self, office: Office) -> None:
        self.office = office
        self.path = office.cwd / "midwatch-sessions.yaml"
        self.socket = str(office.tmux.socket)
        (office.cwd / "midwatch.toml").touch()  # a project of its own, whatever lies above

    def __call__(self, *words: str, stdin: str | None = None, **env: str) -> Done:
        return self.office.box("session", *words, stdin=stdin, **env)

    def create(self, name: str = "api", *more: str) -> dict[str, Any]:
        """A session that has begun well; its row."""
        before = len(self.office.starts())
        done = self("create", name, "--agent", "claude", "--socket", self.socket, *more)
        assert done.code == 0, (done, self.office.shown(name))
        until(lambda: len(self.office.starts()) > before)
        return self.row(name)

    def rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = yaml.safe_load(self.path.read_text())["sessions"]
        return found

    def row(self, name: str = "api") -> dict[str, Any]:
        (found,) = [row for row in self.rows() if row["name"] == name]
        return found

    def write(self, *rows: dict[str, Any]) -> None:
        """The list as a person has it, who trusts it: it names a socket."""
        text = "# kept by hand\n" + yaml.safe_dump({"sessions": list(rows)}, sort_keys=False)
        self.path.write_text(text)
        trusted = self.office.box("trust", str(self.path), "--yes")
        assert trusted.code == 0, trusted

    def edit(self, name: str, **fields: object) -> None:
        rows = self.rows()
        next(row for row in rows if row["name"] == name).update(fields)
        self.write(*rows)

    def lines(self, *words: str) -> dict[str, dict[str, Any]]:
        """What is said as JSON, by name."""
        found = [json.loads(line) for line in self(*words, "--json").out.splitlines()]
        return {each["name"]: each for each in found}

    # Sessions that Midwatch does not know

    def opened(self, name: str = "work", *, shell: bool = False, does: str = "say", talk: str = "") -> dict[str, Any]:
        """Somebody starts an agent; the row that he writes for it."""
        office, talk = self.office, talk or str(uuid.uuid4())
        before = len(office.starts())
        variables = [f"{key}={value}" for key, value in office.box.env.items() if key != "TMUX_TMPDIR"]
        command = shlex.join(["env", *variables, "claude", "--session-id", talk])
        (office.notes / "begin").write_text("\n" * before + does)
        pane = office.tmux.start("sh" if shell else f"exec {command}", name, size=(100, 30), cwd=str(office.cwd))
        if shell:
            office.tmux("send-keys", "-t", pane, command, "Enter")
        until(lambda: len(office.starts()) > before and self.transcript(talk).exists())
        return self.listing(name, pane, talk)

    def listing(self, name: str, pane: str, talk: str | None, **more: object) -> dict[str, Any]:
        pid = int(self.office.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"))
        about = {"pid": pid, "cmd": "claude", "cwd": str(self.office.cwd), "id": pane, "start": procfs.start_time(pid)}
        return {
            "name": name, "status": "running", "agent": "claude", "tmux_socket": self.socket,
            "pane": about | {"boot": procfs.boot_id()}, "claude_session_id_own": talk, "resumable": True, **more,
        }  # fmt: skip

    def past(self, name: str = "old", talk: str = "", **more: object) -> dict[str, Any]:
        """The row of a session of which nothing but its conversation is left."""
        talk = talk or str(uuid.uuid4())
        line = {"type": "user", "cwd": str(self.office.cwd), "sessionId": talk, "message": {"content": "hello"}}
        self.transcript(talk).parent.mkdir(parents=True, exist_ok=True)
        self.transcript(talk).write_text(json.dumps(line) + "\n")
        return {
            "name": name, "status": "stopped", "agent": "claude", "tmux_socket": self.socket,
            "pane": {"cmd": "claude", "cwd": str(self.office.cwd)}, "claude_session_id_own": talk, **more,
        }  # fmt: skip

    def transcript(self, talk: str) -> Path:
        key = re.sub(r"[^0-9A-Za-z]", "-", str(self.office.cwd))
        return self.office.home / "claude" / "projects" / key / f"{talk}.jsonl"

    def agent(self, number: int = 1) -> int:
        """Pid of the stand-in of that start."""
        return int(self.office.start(number)["pid"])

    def argv(self, number: int) -> list[str]:
        found: list[str] = self.office.start(number)["argv"]
        return found


@pytest.fixture
def desk(office: Office) -> Desk:
    return Desk(office)
