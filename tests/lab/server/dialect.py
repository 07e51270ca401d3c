"""What every dialect does: read a request, and turn acts of the model into bytes. No I/O, no clock."""

from __future__ import annotations

import json
import uuid
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

Json = dict[str, Any]


class Call(NamedTuple):
    """A tool call; arguments that are text are the free-form input of a custom tool."""

    name: str
    arguments: Json | str


class Asked(NamedTuple):
    """What a request asks: main requests carry tools, the others are for titles and the like."""

    prompt: str
    step: int
    tools: tuple[str, ...]
    stream: bool
    model: str

    @property
    def main(self) -> bool:
        return bool(self.tools)


class Refusal(NamedTuple):
    status: int
    body: Json
    headers: dict[str, str]


class Plan(NamedTuple):
    """How much of a subscription is used, and when (since the epoch) it is given anew."""

    percent: float
    resets_at: int
    weekly: bool = False


class Dialect(ABC):
    """One answer in the making: the bytes of each act for a client that streams, `whole` for one that does not."""

    name: ClassVar[str]
    keep_alive: ClassVar[bytes] = b": keep-alive\n\n"

    def __init__(self, body: Json, path: str) -> None:
        self.body = body
        self.path = path
        self.asked = self.read()

    @abstractmethod
    def read(self) -> Asked: ...

    @abstractmethod
    def begin(self) -> bytes: ...

    @abstractmethod
    def think(self, words: str) -> bytes: ...

    @abstractmethod
    def text(self, words: str) -> bytes: ...

    @abstractmethod
    def call(self, call: Call) -> bytes: ...

    @abstractmethod
    def fail(self, kind: str) -> bytes: ...

    @abstractmethod
    def end(self) -> bytes: ...

    @abstractmethod
    def whole(self) -> Json: ...

    @abstractmethod
    def refusal(self, status: int, retry_after: int | None = None) -> Refusal: ...

    def rate_limit(self, seconds: int, now: float) -> Refusal:  # noqa: ARG002
        """An API key that has asked too often."""
        return self.refusal(429, seconds)

    def limit(self, plan: Plan, now: float) -> Refusal:
        """A subscription that is used up."""
        return self.refusal(429, int(plan.resets_at - now))

    def plan_headers(self, plan: Plan) -> dict[str, str]:  # noqa: ARG002
        return {}

    @abstractmethod
    def shell(self, command: str, *, escalated: bool) -> Call: ...

    @abstractmethod
    def write(self, path: str, content: str) -> Call: ...

    @abstractmethod
    def ask(self, question: str, options: Sequence[str]) -> Call: ...

    def aside(self) -> str:
        """The reply to a request that is not part of the conversation."""
        return "Fake aux reply"


def frame(data: Json | str, event: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


def token(prefix: str = "") -> str:
    return prefix + uuid.uuid4().hex[:24]


def text_of(content: Any) -> str:
    """The words of a message, whether it is one string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [part.get("text") if isinstance(part, dict) else part for part in content or []]
    return "\n".join(part for part in parts if isinstance(part, str))


def last_words(content: Any) -> str:
    """What a person said last in a message.

    Prompts of failed turns stay in the history and are merged into the next message: only the last part counts.
    """
    if isinstance(content, str):
        return content
    texts = [text_of([part]) for part in content or []]
    own = [text for text in texts if text.strip() and not text.lstrip().startswith("<system-reminder>")]
    return own[-1] if own else ""
