"""A place in which sessions are started: a private tmux server, a box, and a stand-in for Claude Code in PATH."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.sessions import conversation_lease
from tests.conftest import PATIENCE, Box, Done, until, until_gone
from tests.integration.panes.private import Private

STAND_IN = Path(__file__).with_name("claude_stand_in.py")


class Office:
    """What people do there, and what they can see."""

    def __init__(self, box: Box, private: Private, home: Path) -> None:
        self.box = box
        self.tmux = private
        self.home = home
        self.notes = home / "notes"
        self.cwd = home / "project"
        self.watchers: list[Watcher] = []
        self.conversation = str(uuid.uuid4())
        """Of an agent that a person starts; who has one open is looked for on the whole machine."""
        self.temporary = Path(tempfile.mkdtemp())
        """Not below our home: the path of a socket must be short."""
        for directory in (self.notes, self.cwd, home / "bin"):
            directory.mkdir()
        self.install("claude")
        box.cwd = self.cwd
        box.env |= {
            "PATH": f"{home / 'bin'}:{os.environ['PATH']}", "TMUX_TMPDIR": str(home), "TMPDIR": str(self.temporary),
            "XDG_STATE_HOME": str(home / "state"), "CLAUDE_CONFIG_DIR": str(home / "claude"),
            "STAND_IN": str(self.notes), "SHELL": "/bin/sh",
        }  # fmt: skip

    def install(self, name: str) -> Path:
        program = self.home / "bin" / name
        program.write_text(f'#!/bin/bash\nexec -a {name} {sys.executable} -I -S {STAND_IN} "$@"\n')
        program.chmod(0o755)
        return program

    # What people do

    def spawn(self, name: str = "api", *more: str, prompt: str = "", stdin: str | None = None) -> Done:
        given = ["--prompt", prompt] if prompt else []
        return self.box(
            "spawn", name, "--agent", "claude", "--socket", str(self.tmux.socket), *given, *more, stdin=stdin
        )

    def spawned(self, name: str = "api", *more: str, prompt: str = "") -> dict[str, Any]:
        """A session that has begun well, at work on its prompt if it has one; its record."""
        before = len(self.starts())
        done = self.spawn(name, *more, prompt=prompt)
        assert done.code == 0, (done, self.shown(name))
        until(lambda: len(self.starts()) > before)
        return self.box.record(name)

    def monitor(self, target: str = "api", *more: str, **env: str) -> Watcher:
        return self.watching("monitor", target, *more, **env)

    def wait(self, *words: str, **env: str) -> Watcher:
        return self.watching("wait", *words, **env)

    def watching(self, verb: str, *words: str, **env: str) -> Watcher:
        self.watchers.append(found := Watcher(self.box, [verb, *words], env))
        return found

    def begin(self, *lines: str) -> None:
        """What the stand-in does at its next starts."""
        (self.notes / "begin").write_text("\n".join(lines))

    def resumed(self, *lines: str) -> None:
        """What it does with its prompts, once it was resumed."""
        (self.notes / "resumed").write_text("\n".join(lines))

    def go(self, then: str = "") -> None:
        """Have it go on with what it is working on, or do something else."""
        (self.notes / "new").write_text(then)
        (self.notes / "new").rename(self.notes / "go")

    @contextlib.contextmanager
    def attached(self, name: str = "api") -> Iterator[int]:
        """Somebody at a terminal."""
        leader, follower = pty.openpty()
        call = [self.tmux.program, *self.tmux.server, "attach", "-t", f"={name}"]
        client = subprocess.Popen(
            call, stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
            env=os.environ | {"TERM": "xterm-256color"},
        )  # fmt: skip
        os.close(follower)
        try:
            yield leader
        finally:
            client.kill()
            client.wait()
            os.close(leader)

    # What can be seen

    def starts(self) -> list[dict[str, Any]]:
        """How the stand-in was started, each time."""
        path = self.notes / "starts"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def start(self, number: int) -> dict[str, Any]:
        """How it was started that time; it may be about to be."""
        until(lambda: len(self.starts()) >= number)
        return self.starts()[number - 1]

    def typed(self) -> bytes:
        path = self.notes / "typed"
        return path.read_bytes() if path.exists() else b""

    def state(self, name: str = "api") -> dict[str, Any]:
        return self.box("why", name, "--json").json

    def listed(self) -> dict[str, str]:
        """What `ls` says."""
        found = map(json.loads, self.box("ls", "--json").out.splitlines())
        return {each["name"]: each["state"] for each in found}

    def until_state(self, wanted: str, name: str = "api") -> dict[str, Any]:
        found: list[dict[str, Any]] = []

        def there() -> bool:
            found[:] = [self.state(name)]
            return bool(found[0]["state"] == wanted)

        until(there)
        return found[0]

    def sessions(self) -> list[str]:
        """Names of the sessions of the server, none where there is no server."""
        call = [self.tmux.program, *self.tmux.server, "list-sessions", "-F", "#{session_name}"]
        done = subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, check=False)
        return sorted(done.stdout.split())

    def shown(self, name: str = "api") -> str:
        call = [self.tmux.program, *self.tmux.server, "capture-pane", "-p", "-t", f"={name}:"]
        return subprocess.run(call, capture_output=True, text=True, timeout=PATIENCE, check=False).stdout

    def pane(self, form: str, name: str = "api") -> str:
        return self.tmux("display-message", "-p", "-t", self.box.record(name)["pane"]["id"], form).strip()

    def holders(self, conversation: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Processes that hold the lease of a conversation."""
        monkeypatch.setenv("XDG_STATE_HOME", str(self.home / "state"))
        return conversation_lease.find_holders("claude", conversation, ())

    def watch(self, name: str = "api") -> dict[str, Any]:
        """The notes of its monitor."""
        found: dict[str, Any] = json.loads(self.box.path(f"{name}.watch").read_text())
        return found

    def until_watched(self, turn: str = "", name: str = "api", **fields: object) -> None:
        """Wait until its monitor has seen this turn, and has noted these."""

        def holds(text: str) -> bool:
            watch = json.loads(text)
            seen = (watch["memory"] or {}).get("turn", "")
            return turn in ("", seen) and all(watch[key] == value for key, value in fields.items())

        self.box.until_file(f"{name}.watch", holds)

    def end(self) -> None:
        for watcher in self.watchers:
            watcher.close()
        shutil.rmtree(self.temporary)


class Watcher:
    """A monitor or a wait at work."""

    def __init__(self, box: Box, words: list[str], env: dict[str, str]) -> None:
        self.process = box.start(*words, "--json", env=env)
        self.pid = self.process.pid
        self.said: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)

    def until_said(self, words: str) -> None:
        until(lambda: words in "".join(self.said))

    def end(self) -> dict[str, Any]:
        """What it came to, with its exit code."""
        assert self.process.stdout is not None
        self.process.wait(2 * PATIENCE)
        self._reader.join(PATIENCE)
        out = self.process.stdout.read()
        assert out, (self.process.returncode, self.said)
        return {**json.loads(out), "code": self.process.returncode}

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join(PATIENCE)
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


def make(box: Box, home: Path) -> Iterator[Office]:
    found = Office(box, Private(home / "s"), home)
    yield found
    found.end()
    for record in box.dir.glob("*.json"):
        shim = json.loads(record.read_text())["shim"]["pid"]
        if record.with_suffix(".status").exists():
            until_gone(shim)
    box.sweep()
    found.tmux.end()


@pytest.fixture
def office(box: Box, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Office]:
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))
    yield from make(box, tmp_path)
