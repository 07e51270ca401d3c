"""Fixtures for `send`: a private server, and a stand-in for an agent that writes down what is typed to it."""

from __future__ import annotations

import json
import os
import pty
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midwatch.system import procfs
from tests.conftest import Box, until
from tests.integration.panes.private import Private

STAND_IN = Path(__file__).with_name("stand_in.py")
MARKS = (b"\x1b[200~", b"\x1b[201~")


class Agent:
    """The stand-in in its pane."""

    def __init__(self, private: Private, directory: Path, name: str) -> None:
        self.private = private
        self.directory = directory
        self.name = name
        self.pane = ""

    def start(self, *, shell: bool = False) -> Agent:
        """As the pane's own process, or from a shell in it."""
        self.directory.mkdir(exist_ok=True)
        first = "bash --norc -i" if shell else f"exec {self._command}"
        self.pane = self.private.start(first, self.name, size=(100, 24), cwd=str(self.directory))
        if shell:
            self.start_in(self.pane)
        self.private.until_shows(self.pane, "? for shortcuts")
        return self

    def start_in(self, pane: str) -> None:
        """By typing its command to the shell of a pane."""
        self.directory.mkdir(exist_ok=True)
        self.private("send-keys", "-t", pane, "-l", f"cd {self.directory}; {self._command}")
        self.private("send-keys", "-t", pane, "Enter")

    @property
    def _command(self) -> str:
        words = shlex.join([sys.executable, str(STAND_IN), str(self.directory)])
        return f"env CLAUDE_CONFIG_DIR={self.directory}/home bash -c 'exec -a claude {words}'"

    def mood(self, name: str, content: str = "") -> None:
        (self.directory / name).write_text(content)

    def state(self, status: str, conversation: str = "8d7f2c1e") -> None:
        """Have it say of itself what it does, and in which conversation."""
        pid = int(self.private("display-message", "-p", "-t", self.pane, "#{pane_pid}"))
        about = {"pid": pid, "procStart": str(procfs.start_time(pid)), "sessionId": conversation, "status": status}
        place = self.directory / "home" / "sessions"
        place.mkdir(parents=True, exist_ok=True)
        (place / "new").write_text(json.dumps(about))
        (place / "new").rename(place / f"{pid}.json")

    def calm(self, name: str) -> None:
        (self.directory / name).unlink()

    @property
    def typed(self) -> bytes:
        path = self.directory / "typed"
        return path.read_bytes() if path.exists() else b""

    @property
    def box(self) -> str:
        rows = self.private.screen(self.pane)
        edges = [number for number, row in enumerate(rows) if row.startswith("──")]
        return "\n".join(row.replace("\xa0", " ").rstrip() for row in rows[edges[0] + 1 : edges[1]])

    @property
    def buffers(self) -> str:
        return self.private("list-buffers")

    def pasted(self, text: str) -> bytes:
        """The bytes that a paste is."""
        return MARKS[0] + text.encode() + MARKS[1]


@contextmanager
def attached(private: Private, *arguments: str) -> Iterator[int]:
    """Somebody at a terminal of the server; its keyboard."""
    leader, follower = pty.openpty()
    call = [private.program, "-u", "-f", os.devnull, *private.server, *arguments]
    before = private("list-clients")
    env = os.environ | {"TERM": "xterm"}
    client = subprocess.Popen(call, stdin=follower, stdout=follower, stderr=follower, env=env, start_new_session=True)
    os.close(follower)
    try:
        until(lambda: private("list-clients") != before)
        yield leader
    finally:
        client.kill()
        client.wait()
        os.close(leader)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def private(alone: None, tmp_path: Path) -> Iterator[Private]:  # noqa: ARG001
    found = Private(tmp_path / "s")
    yield found
    found.end()


@pytest.fixture
def agent(private: Private, tmp_path: Path) -> Agent:
    return Agent(private, tmp_path / "agent", "work").start()


class Gate:
    """A `tmux` before the real one in PATH, which notes its arguments and can be made to wait."""

    def __init__(self, box: Box, program: str, directory: Path) -> None:
        self.notes = directory / "notes"
        self.closed = directory / "closed"
        self.at = directory / "at"
        wrapper = directory / "tmux"
        wrapper.write_text(
            f"""#!/bin/bash
printf '%s ' "$@" >> {self.notes}
echo >> {self.notes}
if [ -e {self.closed} ] && [[ " $* " == *"$(cat {self.closed})"* ]]; then
    touch {self.at}
    while [ -e {self.closed} ]; do read -t 0.02 < <(:) || :; done
fi
exec {program} "$@"
"""
        )
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
        box.env["PATH"] = f"{directory}:{box.env['PATH']}"

    def close(self, word: str) -> None:
        """Hold whoever asks for something with that word in it."""
        self.closed.write_text(word)

    def open(self) -> None:
        self.closed.unlink()

    def reached(self) -> None:
        until(self.at.exists, self.at.parent)

    @property
    def asked(self) -> str:
        return self.notes.read_text() if self.notes.exists() else ""


@pytest.fixture
def gate(box: Box, private: Private, tmp_path: Path) -> Gate:
    directory = tmp_path / "gate"
    directory.mkdir()
    return Gate(box, private.program, directory)
