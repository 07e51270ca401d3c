"""The HTTP server around the scripted model."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.lab.server import script
from tests.lab.server.anthropic import Anthropic
from tests.lab.server.chat import Chat
from tests.lab.server.dialect import Dialect, Json
from tests.lab.server.gemini import Gemini
from tests.lab.server.journal import Journal
from tests.lab.server.play import Player
from tests.lab.server.responses import Responses
from tests.lab.server.wire import ClientGone, Wire

KEY = "sk-ant-lab-"
"""A dummy key is this and the name of the session that uses it, padded with dashes: so the journal knows who asked."""


def key(session: str) -> str:
    return KEY + session.rjust(20, "-")


class ModelServer(ThreadingHTTPServer):
    """Listens on loopback; port 0 takes a free one, `server_port` tells which."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int, journal: Journal, replies: Path, bodies: Path | None = None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.journal = journal
        self.replies = replies
        self.bodies = bodies
        self._failures: Counter[tuple[str, str]] = Counter()
        self._lock = threading.Lock()

    def failures(self, session: str, prompt: str) -> int:
        """How often a prompt of a session has been failed before, and count one more."""
        with self._lock:
            self._failures[session, prompt] += 1
            return self._failures[session, prompt] - 1

    def otherwise(self) -> list[str]:
        """What prompts that script nothing are answered with, each with the words that it is for."""
        return [path.read_text(encoding="utf-8") for path in sorted(self.replies.glob("otherwise-*"))]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "fake/1"
    server: ModelServer

    def log_message(self, *_: object) -> None:
        """The journal tells all."""

    def do_HEAD(self) -> None:
        self._other(200, {})

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/__log":
            Wire(self, lambda: None).answer(200, self.server.journal.text().encode())
        elif path.endswith("/models"):
            model = {"id": "fake-model", "object": "model", "type": "model", "display_name": "Fake", "owned_by": "fake"}
            self._other(200, {"object": "list", "models": [], "data": [model], "has_more": False})
        else:
            self._other(404, _missing(path))

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.partition("?")[0]
        if path.endswith("/messages/count_tokens"):
            self._other(200, {"input_tokens": 1234})
        elif ":countTokens" in path:
            self._other(200, {"totalTokens": 1234})
        elif (dialect := _dialect(path)) is None:
            self._other(404, _missing(path))
        else:
            self._answer(dialect(body, path))

    def _answer(self, dialect: Dialect) -> None:
        seq, session, asked = self.server.journal.number(), self._session(), dialect.asked
        note = partial(self.server.journal.note, seq, session, main=asked.main)
        reply = script.reply(script.meant(asked.prompt, self.server.otherwise()), asked.step) if asked.main else ()
        if self.server.bodies:
            kept = self.server.bodies / f"{seq:04}-{session}-{dialect.name}.json"
            kept.write_text(json.dumps(dialect.body, indent=1))
        note(
            "began", api=dialect.name, step=asked.step, reply=[str(act) for act in reply],
            prompt=asked.prompt[-1000:], stream=asked.stream, model=asked.model, tools=len(asked.tools),
        )  # fmt: skip
        player = Player(
            Wire(self, partial(note, "first-byte")), dialect, note, replies=self.server.replies,
            failures=partial(self.server.failures, session, asked.prompt),
        )  # fmt: skip
        try:
            if asked.main:
                player.perform(reply)
            else:
                player.aside()
        except ClientGone:
            self.close_connection = True
            note("client-gone")

    def _other(self, status: int, body: Json) -> None:
        journal = self.server.journal
        journal.note(journal.number(), self._session(), "other", method=self.command, path=self.path, status=status)
        Wire(self, lambda: None).answer(status, body)

    def _session(self) -> str:
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        given = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or bearer
        return given.removeprefix(KEY).lstrip("-") if given.startswith(KEY) else ""

    def _body(self) -> Json:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        body: Json = json.loads(raw or b"{}")
        return body


def _dialect(path: str) -> Callable[[Json, str], Dialect] | None:
    if path.endswith("/messages"):
        return Anthropic
    if path.endswith("/responses"):
        return Responses
    if path.endswith("/chat/completions"):
        return Chat
    return Gemini if ":streamGenerateContent" in path or ":generateContent" in path else None


def _missing(path: str) -> Json:
    return {"type": "error", "error": {"type": "not_found_error", "message": f"fake: {path}"}}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.server", description=script.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--port", type=int, default=8765)
    parser.add_argument("--journal", type=Path, help="file to append the journal to (also at /__log)")
    parser.add_argument("--replies", type=Path, default=Path(os.devnull), help="directory of the texts for [[say]]")
    parser.add_argument("--bodies", type=Path, help="directory to keep every request in")
    asked = parser.parse_args()
    server = ModelServer(asked.port, Journal(asked.journal), asked.replies, asked.bodies)
    print(f"listening on {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
