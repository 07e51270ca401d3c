"""Channels that a test can look into: a command that writes down what it was given, and a small server on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from midwatch.core.exit_codes import NEXT
from midwatch.core.verdict import FINAL
from midwatch.notifications.codec import outbox_file
from midwatch.notifications.model import Change, ChangeSubject
from midwatch.system import procfs
from tests.conftest import Box, kill, until

SCRIPT = """\
import json, os, sys
with open({out!r}, "a") as file:
    file.write(json.dumps(sys.argv[1:]) + "\\n")
{then}
"""


def timeless(text: str) -> str:
    """A text without the seconds for which it has been so."""
    return re.sub(r"\b\d+s\)", "0s)", text)


class Notices:
    """A box whose settings name channels."""

    def __init__(self, box: Box, home: Path) -> None:
        self.box = box
        self.home = home
        self.out = home / "delivered"
        self.user_file = home / ".config" / "midwatch" / "config.toml"
        self.project_file = home / "midwatch.toml"
        self.started: list[subprocess.Popen[str]] = []
        (home / ".git").mkdir()  # so that the project is here, whatever stands above

    # Settings

    def command(self, then: str = "", fields: str = '"{text}"') -> str:
        """A `command` line for a settings file: what it is given is appended to a file, then Python goes on."""
        script = self.home / f"deliver{len(list(self.home.glob('deliver*.py')))}.py"
        script.write_text(SCRIPT.format(out=str(self.out), then=then))
        return f'command = ["{sys.executable}", "{script}", {fields}]\n'

    def mine(self, text: str) -> None:
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text(f"[notify]\n{text}")

    def projects(self, text: str) -> None:
        self.project_file.write_text(f"[notify]\n{text}")
        self.project_file.chmod(0o644)

    # Telling

    def change(self, state: str = "waiting", reason: str = "it waits for a permission", **more: Any) -> Change:
        about = ChangeSubject("4711-1", agent="claude", pane="%3", where="shop")
        found = Change(
            "api", about, state, state in FINAL, reason, NEXT[state], time.monotonic(), procfs.boot_id(), time.time(),
            str(self.home), cause="permission",
        )  # fmt: skip
        return found._replace(**more)

    def start(self, change: Change | None = None, *arguments: str) -> subprocess.Popen[str]:
        """Have somebody told, as a watcher (with a change) or a shim (with arguments) would."""
        process = self.box.start(
            "_deliver", "--dir", str(self.box.dir), *arguments, stdin=subprocess.PIPE, stdout=None, stderr=None
        )
        self.started.append(process)
        assert process.stdin is not None
        process.stdin.write("" if change is None else outbox_file.encode_value(change))
        process.stdin.close()
        return process

    def tell(self, change: Change) -> None:
        """Tell, and wait until all was delivered."""
        process = self.start(change)
        until(lambda: process.poll() is not None)
        assert (process.returncode, self.pending()) == (0, [])

    # What came of it

    def delivered(self) -> list[list[str]]:
        """What the command was given, each time."""
        return [json.loads(line) for line in self.out.read_text().splitlines()] if self.out.exists() else []

    def pending(self) -> list[dict[str, Any]]:
        """The notices in the outbox, but for the reminders, which are nobody's business until they are due."""
        return [found for found in self.outbox() if found["kind"] != "reminder"]

    def reminders(self) -> list[dict[str, Any]]:
        return [found for found in self.outbox() if found["kind"] == "reminder"]

    def outbox(self) -> list[dict[str, Any]]:
        found = []
        for path in (self.box.dir / "outbox").glob("*.json"):
            with contextlib.suppress(FileNotFoundError):
                found.append(json.loads(path.read_text()))
        return found

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        found = [json.loads(line) for line in self.box("events", "--json").out.splitlines()]
        return [event for event in found if event["event"] in kinds]

    def tellers(self) -> list[int]:
        """Those who deliver for this box at the moment."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
                if "_deliver" in words and str(self.box.dir) in words:
                    found.append(int(pid))
        return found


class Server:
    """What Apprise's json:// is sent to. It can be told to refuse."""

    def __init__(self) -> None:
        self.code = 200
        self.got: list[dict[str, Any]] = []
        self.seen_on_command_lines: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.seen_on_command_lines += [line for line in command_lines() if "topsecret" in line]
                if server.code == 200:
                    server.got.append(body)
                self.send_response(server.code)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"json://127.0.0.1:{self.http.server_address[1]}/topsecret"
        self.thread = threading.Thread(target=self.http.serve_forever)
        self.thread.start()

    def close(self) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


def command_lines() -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
    return found


@pytest.fixture
def notices(box: Box, tmp_path: Path) -> Iterator[Notices]:
    found = Notices(box, tmp_path)
    yield found
    for process in found.started:  # some stay for what could not be delivered
        process.kill()
        process.wait()
    for pid in found.tellers():
        kill(pid, signal.SIGKILL)


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.close()
