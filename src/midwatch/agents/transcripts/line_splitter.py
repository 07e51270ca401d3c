"""A stream of bytes, cut into lines however it arrives."""

from __future__ import annotations

LONGEST = 1 << 26
"""Bytes of a line that are kept; a longer one (no agent is known to write any) is dropped whole."""


class LineSplitter:
    """Gives whole lines and keeps a half-written last one until the rest of it comes."""

    def __init__(self) -> None:
        self._half: list[bytes] = []
        self._length = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        first, *rest = chunk.split(b"\n")
        self._keep(first)
        if not rest:
            return []
        done = [b"".join(self._half)] if self._length <= LONGEST else []
        done += [line for line in rest[:-1] if len(line) <= LONGEST]
        self._half, self._length = [], 0
        self._keep(rest[-1])
        return done

    def _keep(self, part: bytes) -> None:
        self._length += len(part)
        if self._length <= LONGEST:
            self._half.append(part)
        else:
            self._half.clear()
