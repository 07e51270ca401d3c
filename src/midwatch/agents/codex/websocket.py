"""The client's end of a WebSocket (RFC 6455) over a Unix socket.

Written out because a library would have to be imported at every look, and all that is needed is a text message each
way. Whatever cannot be done before its deadline is an error.
"""

from __future__ import annotations

import os
import socket
import struct
import time

from midwatch.core.errors import MidwatchError

LARGEST = 1 << 24
"""Bytes of a message beyond which we no longer listen."""
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10
LAST, MASKED, SHORT, LONG = 0x80, 0x80, 126, 127
HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: ZG9nd2F0Y2ggd2F0Y2hlcw==\r\n\r\n"
)
"""The key should be new each time, to outwit caches; between two processes there are none."""


class ConnectionLostError(MidwatchError):
    """The other side is not there, does not answer in time, or says what we do not understand.

    The message goes on with a sentence that begins with its name.
    """


class WebSocket:
    def __init__(self, path: str, deadline: float) -> None:
        """Connect. Deadlines are on the monotonic clock."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._data = b""
        try:
            self._begin(path, deadline)
        except ConnectionLostError:
            self.close()
            raise

    @property
    def peer(self) -> int:
        """Pid of the process that listens; 0 if it is in another pid namespace."""
        return self._peer()[0]

    def _begin(self, path: str, deadline: float) -> None:
        try:
            self._wait(deadline)
            self._socket.connect(path)
            if os.geteuid() not in (0, self._peer()[1]):
                raise ConnectionLostError("belongs to another user")
            self._socket.sendall(HANDSHAKE)
        except OSError as error:
            raise ConnectionLostError(f"cannot be reached: {error.strerror or error}") from error
        while b"\r\n\r\n" not in self._data:
            self._more(deadline)
        head, _, self._data = self._data.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101 "):
            raise ConnectionLostError(f"speaks no WebSocket: {head[:30]!r}")

    def _peer(self) -> tuple[int, int, int]:
        size = struct.calcsize("3i")
        pid, uid, gid = struct.unpack("3i", self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return pid, uid, gid

    def send(self, data: bytes, deadline: float, kind: int = TEXT) -> None:
        size = bytes([MASKED | len(data)]) if len(data) < SHORT else struct.pack(">BH", MASKED | SHORT, len(data))
        mask = os.urandom(4)
        body = bytes([byte ^ mask[at % 4] for at, byte in enumerate(data)])
        try:
            self._wait(deadline)
            self._socket.sendall(bytes([LAST | kind]) + size + mask + body)
        except OSError as error:
            raise ConnectionLostError(f"no longer listens: {error.strerror or error}") from error

    def receive(self, deadline: float) -> bytes:
        """The next message, put together from its frames; pings are answered on the way."""
        whole = b""
        while True:
            first, data = self._frame(deadline)
            kind = first & 0x0F
            if kind == CLOSE:
                raise ConnectionLostError("has closed the connection")
            if kind == PING:
                self.send(data, deadline, PONG)
            elif kind != PONG:
                whole += data
                if len(whole) > LARGEST:
                    raise ConnectionLostError("says more than we can hear")
                if first & LAST:
                    return whole

    def close(self) -> None:
        self._socket.close()

    def _frame(self, deadline: float) -> tuple[int, bytes]:
        first, size = self._take(2, deadline)
        if size >= SHORT:
            size = int.from_bytes(self._take(8 if size == LONG else 2, deadline), "big")
        if size > LARGEST:
            raise ConnectionLostError("says more than we can hear")
        return first, self._take(size, deadline)

    def _take(self, size: int, deadline: float) -> bytes:
        while len(self._data) < size:
            self._more(deadline)
        found, self._data = self._data[:size], self._data[size:]
        return found

    def _more(self, deadline: float) -> None:
        try:
            self._wait(deadline)
            data = self._socket.recv(1 << 16)
        except OSError as error:
            raise ConnectionLostError(f"does not answer: {error.strerror or error}") from error
        if not data:
            raise ConnectionLostError("has closed the connection")
        self._data += data

    def _wait(self, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0:
            raise ConnectionLostError("does not answer in time")
        self._socket.settimeout(left)
