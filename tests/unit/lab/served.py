"""The scripted model on a port of its own, watched: what it noted, and that it is through, can be waited for."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.conftest import PATIENCE
from tests.lab.server.__main__ import ModelServer
from tests.lab.server.journal import CLOSING, Journal

Entry = dict[str, Any]


class Watched(ModelServer):
    """The real server; the thread that answers tells when it is through, and a problem in it is kept for the test."""

    def __init__(self, replies: Path, bodies: Path) -> None:
        self.news = threading.Condition()
        super().__init__(0, Witness(self.news), replies, bodies)
        self.problems: list[str] = []
        self._under_way: Counter[Any] = Counter()
        self._sessions: defaultdict[str, list[Entry]] = defaultdict(list)
        self._read = 0

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        # Counted, not kept as a set: ports are used again.
        with self.news:
            self._under_way[client_address] += 1
        super().process_request_thread(request, client_address)
        with self.news:
            self._under_way[client_address] -= 1
            self.news.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        self.problems.append(repr(sys.exception()))

    def entries(self, session: str) -> list[Entry]:
        with self.news:
            lines = self.journal.text().split("\n")[:-1]
            for entry in map(json.loads, lines[self._read :]):
                self._sessions[entry["session"]].append(entry)
            self._read = len(lines)
            return list(self._sessions[session])

    def until_noted(self, session: str, event: str) -> None:
        self._until(lambda: any(entry["event"] == event for entry in self.entries(session)), f"{event} was not noted")

    def until_through(self, client_address: Any) -> None:
        """Wait until a connection that was heard is through: whatever will be in the journal is in it."""
        self._until(lambda: not self._under_way[client_address], "the connection was not given up")
        problems, self.problems = self.problems, []
        assert not problems, problems

    def _until(self, true: Callable[[], bool], otherwise: str) -> None:
        with self.news:
            assert self.news.wait_for(true, PATIENCE), otherwise


class Witness(Journal):
    def __init__(self, news: threading.Condition) -> None:
        super().__init__()
        self._news = news

    def note(self, seq: int, session: str, event: str, **details: Any) -> None:
        super().note(seq, session, event, **details)
        with self._news:
            self._news.notify_all()


@contextlib.contextmanager
def serving(server: ModelServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="model")
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def checked(entries: list[Entry]) -> list[Entry]:
    """The entries of one request, after the promises that hold for every one of them."""
    events = [entry["event"] for entry in entries]
    assert events[0] == "began", events
    assert events[-1] in CLOSING, events
    assert sum(event in CLOSING for event in events) == 1, events
    assert all(events.count(once) <= 1 for once in ("began", "first-byte", "text", "hang")), events
    times = [entry["t"] for entry in entries]
    assert times == sorted(times), times
    assert len({(entry["seq"], entry["main"]) for entry in entries}) == 1
    return entries
