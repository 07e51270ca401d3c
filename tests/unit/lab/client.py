"""Asks the scripted model as an agent does, and hands back both sides: what came over the wire, and the journal."""

from __future__ import annotations

import http.client
import json
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from tests.conftest import PATIENCE
from tests.lab.server.__main__ import key
from tests.unit.lab.served import Entry, Watched, checked
from tests.unit.lab.speakers.speaker import Event, Said, Speaker, events_of


class Answer:
    """What came for one request, read as its protocol demands."""

    def __init__(self, speaker: Speaker) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.raw = b""
        self.cut = False
        self.journal: list[Entry] = []
        self._speaker = speaker

    @property
    def streamed(self) -> bool:
        return self.headers.get("content-type", "").startswith("text/event-stream")

    @property
    def body(self) -> Any:
        assert self.headers["content-type"] == "application/json"
        return json.loads(self.raw)

    @property
    def events(self) -> list[Event]:
        assert self.streamed
        return events_of(self.raw)

    @property
    def said(self) -> Said:
        return self._speaker.hear(self.events) if self.streamed else self._speaker.see(self.body)

    @property
    def error(self) -> tuple[str, str]:
        """Type and message of a refusal."""
        return self._speaker.refused(self.body)

    @property
    def noted(self) -> list[str]:
        """The journal's events, in order."""
        return [entry["event"] for entry in self.journal]

    def note(self, event: str) -> Entry:
        (found,) = (entry for entry in self.journal if entry["event"] == event)
        return found

    def seconds(self, first: str, then: str) -> float:
        """Time between two events, by the journal; a little more, as its clocks are two and its times rounded."""
        passed: float = self.note(then)["t"] - self.note(first)["t"]
        return passed + 0.005


class Exchange:
    """A request under way; leaving the block is going away, and after that the answer's journal is whole."""

    def __init__(self, client: Client, body: dict[str, Any]) -> None:
        self.answer = Answer(client.speaker)
        self._client = client
        self._body = body
        self._noted = len(client.server.entries(client.session))
        self._connection = http.client.HTTPConnection("127.0.0.1", client.server.server_port, timeout=PATIENCE)
        self._response: http.client.HTTPResponse | None = None

    def __enter__(self) -> Self:
        self._connection.connect()
        self._address = self._connection.sock.getsockname()
        speaker = self._client.speaker
        header, prefix = speaker.header
        headers = {"content-type": "application/json", header: prefix + key(self._client.session)}
        path = speaker.path(stream=self._client.stream)
        self._connection.request("POST", path, json.dumps(self._body), headers)
        return self

    def until_noted(self, event: str) -> None:
        self._client.server.until_noted(self._client.session, event)

    def read(self, until: bytes | None = None) -> None:
        """Read to the end, or until something has come."""
        if self._response is None:
            self._response = self._connection.getresponse()
            self.answer.status = self._response.status
            self.answer.headers = {name.lower(): value for name, value in self._response.getheaders()}
        try:
            while until is None or until not in self.answer.raw:
                piece = self._response.read1()
                self.answer.raw += piece
                if not piece:
                    return
        except http.client.IncompleteRead as torn:
            self.answer.raw += torn.partial
            self.answer.cut = True

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._response is not None:
            self._response.close()
        self._connection.close()
        if problem is None:
            server = self._client.server
            server.until_through(self._address)
            self.answer.journal = checked(server.entries(self._client.session)[self._noted :])


class Client:
    """Asks in one dialect, streaming or not, in one session."""

    def __init__(self, server: Watched, speaker: Speaker, session: str, *, stream: bool) -> None:
        self.server = server
        self.speaker = speaker
        self.session = session
        self.stream = stream

    def ask(self, prompt: str, *, results: int = 0, tools: Sequence[str] | None = None) -> Answer:
        """Send a prompt, after which so many tools have given their results, and read the answer to its end."""
        with self.asking(prompt, results=results, tools=tools) as exchange:
            exchange.read()
        return exchange.answer

    def course(self, *middle: str, last: str = "ended") -> list[str]:
        """What the journal notes of an answer: who does not stream gets the first byte when all is made."""
        return ["began", "first-byte", *middle, last] if self.stream else ["began", *middle, "first-byte", last]

    def asking(self, prompt: str, *, results: int = 0, tools: Sequence[str] | None = None) -> Exchange:
        offered = self.speaker.tools if tools is None else tools
        return self.sending(self.speaker.request(prompt, results=results, tools=offered, stream=self.stream))

    def sending(self, body: dict[str, Any]) -> Exchange:
        return Exchange(self, body)
