"""The packets that a broker sends: large payloads are dropped while they arrive, before any of them is kept.

A client library buffers a packet until it is whole, and MQTT allows 256 MB. Here the header tells the length first. Of
a PUBLISH that is too large the topic and the number pass, without the payload: so it can be acknowledged, and the
broker does not send it again. Any other packet of that length comes from a server that is no broker.
"""

from __future__ import annotations

from midwatch.core.errors import FormatError

PUBLISH, KIND, QOS = 0x30, 0xF0, 0x06
MORE, DIGITS = 0x80, 4
"""Of the length: seven bits to a byte, the last of at most four without this bit."""


class PacketStream:
    """What has arrived goes in, in pieces of any size; what may be kept comes out."""

    def __init__(self, limit: int) -> None:
        """``limit``: bytes that may follow the header of a packet."""
        self.limit = limit
        self.dropped = 0
        """Payloads that were."""
        self._head = bytearray()
        """What has arrived of a packet until it is clear what becomes of it."""
        self._left, self._passes = 0, True
        """Bytes that are still to come of the packet, and whether they are kept."""

    def feed(self, data: bytes) -> bytes:
        """FormatError for what no broker sends; then nothing more can be made of the stream."""
        found, at = bytearray(), 0
        while at < len(data):
            if not self._left:
                self._head.append(data[at])
                at += 1
                found += self._begun()
                continue
            some = data[at : at + self._left]
            if self._passes:
                found += some
            at += len(some)
            self._left -= len(some)
        return bytes(found)

    def _begun(self) -> bytes:
        """What passes of the packet whose head grows: nothing until it is clear what becomes of it."""
        head = self._head
        size = next((count for count, byte in enumerate(head[1 : DIGITS + 1], 1) if not byte & MORE), 0)
        if not size:
            if len(head) > DIGITS:
                raise FormatError("a packet without a length")
            return b""
        length = sum((byte & ~MORE) << 7 * place for place, byte in enumerate(head[1 : size + 1]))
        if length <= self.limit:
            return self._decided(bytes(head), length, passes=True)
        if head[0] & KIND != PUBLISH:
            raise FormatError(f"a packet of {length} bytes that is no message")
        start = size + 1
        if len(head) < start + 2:
            return b""
        about = 2 + int.from_bytes(head[start : start + 2], "big") + (2 if head[0] & QOS else 0)
        if about > min(length, self.limit):
            raise FormatError(f"a message of {length} bytes whose topic does not end")
        if len(head) < start + about:
            return b""
        self.dropped += 1
        return self._decided(bytes(head[:1]) + _digits(about) + head[start:], length - about, passes=False)

    def _decided(self, passes_now: bytes, left: int, *, passes: bool) -> bytes:
        self._head.clear()
        self._left, self._passes = left, passes
        return passes_now


def _digits(length: int) -> bytes:
    found = bytearray()
    while length >= MORE:
        found.append(length & ~MORE & 0xFF | MORE)
        length >>= 7
    return bytes([*found, length])
