"""What every speaker does, and what an answer says whatever the protocol."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

Json = dict[str, Any]


class Event(NamedTuple):
    name: str
    data: Any


class Said(NamedTuple):
    """What an answer says, whatever the protocol."""

    text: str = ""
    thought: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str = ""
    """Why it ended; empty when it did not."""
    error: str = ""
    """Type of an error inside the stream."""


def events_of(raw: bytes) -> list[Event]:
    """Server-sent events; comments are events named `:`."""
    found = []
    *blocks, rest = raw.decode().split("\n\n")
    assert not rest, f"half an event: {rest!r}"
    for block in blocks:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        if "data" in fields:
            data = fields["data"]
            found.append(Event(fields.get("event", ""), data if data == "[DONE]" else json.loads(data)))
        else:
            assert list(fields) == [""], fields
            found.append(Event(":", fields[""]))
    return found


class Speaker(ABC):
    tools: ClassVar[tuple[str, ...]]
    """Tools that its agent offers."""
    header: tuple[str, str] = ("authorization", "Bearer ")
    """Where the key goes, and what stands before it."""

    @abstractmethod
    def path(self, *, stream: bool) -> str: ...

    @abstractmethod
    def request(self, prompt: str, *, results: int, tools: Sequence[str], stream: bool) -> Json: ...

    @abstractmethod
    def hear(self, events: list[Event]) -> Said: ...

    @abstractmethod
    def see(self, body: Json) -> Said: ...

    @abstractmethod
    def refused(self, body: Json) -> tuple[str, str]: ...
