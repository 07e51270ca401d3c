"""The connection to one agent: bytes out, and notice at once when the agent goes away."""

from __future__ import annotations

import json
import select
import socket
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.lab.server.dialect import token


class ClientGone(Exception):  # noqa: N818
    """The agent has closed the connection."""


class Wire:
    """The answer to one request. Whoever streams gets chunks, so that a cut can be told from an end."""

    def __init__(self, handler: BaseHTTPRequestHandler, first_byte: Callable[[], None]) -> None:
        self._handler = handler
        self._first_byte = first_byte
        self.started = False

    def answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """A whole answer at once."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self._head(status, {"content-type": "application/json", "content-length": str(len(data))} | (headers or {}))
        self._write(b"" if self._handler.command == "HEAD" else data)

    def stream(self, headers: dict[str, str]) -> None:
        kind = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        self._head(200, kind | {"transfer-encoding": "chunked", "connection": "close"} | headers)
        self._handler.close_connection = True

    def send(self, data: bytes) -> None:
        if data:
            self._write(b"%x\r\n%s\r\n" % (len(data), data))

    def finish(self) -> None:
        self._write(b"0\r\n\r\n")

    def cut(self) -> None:
        self._handler.close_connection = True
        try:
            self._handler.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other side was quicker

    def rest(self, seconds: float) -> None:
        """Let time pass; raises ClientGone as soon as the agent closes the connection."""
        deadline = time.monotonic() + seconds
        connection = self._handler.connection
        while (left := deadline - time.monotonic()) > 0:
            readable, _, _ = select.select([connection], [], [], left)
            if readable:
                try:
                    early = connection.recv(1, socket.MSG_PEEK)
                except OSError:
                    early = b""
                if not early:
                    raise ClientGone
                time.sleep(min(left, 0.05))  # a request sent ahead hides the end of the connection

    def _head(self, status: int, headers: dict[str, str]) -> None:
        self._handler.send_response(status)
        for key, value in (headers | {"request-id": token("req_")}).items():
            self._handler.send_header(key, value)
        try:
            self._handler.end_headers()
        except OSError as problem:
            raise ClientGone from problem
        if not self.started:
            self.started = True
            self._first_byte()

    def _write(self, data: bytes) -> None:
        try:
            self._handler.wfile.write(data)
            self._handler.wfile.flush()
        except OSError as problem:
            raise ClientGone from problem
