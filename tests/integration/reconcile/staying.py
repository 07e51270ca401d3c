"""A `midwatch reconcile` that goes on, and what it says."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from queue import Empty, Queue
from typing import Any

import pytest

from tests.conftest import PATIENCE
from tests.integration.reconcile.workspace import Workspace


class Stays:
    """A `midwatch reconcile` that goes on; what it says, line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: Queue[dict[str, Any]] = Queue()
        self.errors: Queue[str] = Queue()
        self._readers = [
            threading.Thread(target=self._read, args=(process.stdout, lambda line: self.lines.put(json.loads(line)))),
            threading.Thread(target=self._read, args=(process.stderr, self.errors.put)),
        ]
        for reader in self._readers:
            reader.start()

    @staticmethod
    def _read(stream: Any, put: Any) -> None:
        with stream:
            for line in stream:
                put(line)

    def said(self) -> dict[str, Any]:
        return self.lines.get(timeout=PATIENCE)

    def drift(self) -> dict[str, Any]:
        """The next drift that it tells."""
        while True:
            found = self.said()["drifts"]
            if found:
                assert len(found) == 1, found
                drift: dict[str, Any] = found[0]
                return drift

    def complains(self, of: str) -> str:
        while of not in (line := self.errors.get(timeout=PATIENCE)):
            pass
        return line

    def next(self) -> dict[str, Any] | None:
        """What it has said meanwhile, if anything."""
        try:
            return self.lines.get_nowait()
        except Empty:
            return None

    def silent(self, seconds: float) -> bool:
        """Whether it says nothing for so long."""
        try:
            self.lines.get(timeout=seconds)
        except Empty:
            return True
        return False

    def end(self, number: int = signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.ended()

    def ended(self) -> int:
        self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return self.process.returncode


@pytest.fixture
def stays(workspace: Workspace) -> Iterator[Callable[..., Stays]]:
    started: list[Stays] = []

    def start(*arguments: str, **env: str) -> Stays:
        arguments = ("reconcile", "--emit-diff", *arguments)
        started.append(found := Stays(workspace.box.start(*arguments, env=env)))
        return found

    yield start
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
        each.ended()
