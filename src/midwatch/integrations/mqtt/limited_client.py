"""The MQTT library with a connection of ours: one that stands already, and that keeps no payload that is too large."""

from __future__ import annotations

import ssl

import paho.mqtt.client as paho

from midwatch.integrations.mqtt.codec.packets import PacketStream

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

LARGEST = 1 << 18
"""Bytes of a packet that are kept: more than any event has."""
PIECE, PIECES = 1 << 16, 64
"""Bytes that are read from a connection at once, and how often: a payload that is dropped keeps nobody waiting."""


class LimitedConnection:
    """A connection as the library uses it, without payloads that are too large."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._frames = connection, PacketStream(LARGEST)
        self._arrived = bytearray()
        self.fileno, self.send, self.close = connection.fileno, connection.send, connection.close
        self.setblocking = connection.setblocking

    def recv(self, size: int) -> bytes:
        for _ in range(PIECES):
            if self._arrived:
                found = bytes(self._arrived[:size])
                del self._arrived[:size]
                return found
            data = self._connection.recv(PIECE)
            if not data:
                return b""
            self._arrived += self._frames.feed(data)
        raise BlockingIOError

    def take_dropped(self) -> int:
        """Payloads that were dropped since the last call."""
        found, self._frames.dropped = self._frames.dropped, 0
        return found

    def pending(self) -> int:
        """Bytes that have arrived and that no poll tells of."""
        hidden = self._connection.pending() if isinstance(self._connection, ssl.SSLSocket) else 0
        return len(self._arrived) + hidden


class LimitedClient(paho.Client):
    """Takes a connection that stands already: the library's own would wait for it."""

    ready: LimitedConnection | None = None

    def _create_socket_connection(self) -> socket.socket:
        assert self.ready is not None
        return self.ready  # type: ignore[return-value]  # it has all that the library calls
