"""A broker of its own for each test, and a client that is driven as a loop would do it."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.config.model import MqttSettings
from midwatch.integrations.mqtt.client import BrokerConnection, BrokerMessage
from tests.conftest import PATIENCE
from tests.lab.mosquitto import Mosquitto


class Driven:
    """A client with everything that it was given."""

    def __init__(self, where: MqttSettings, *topics: str) -> None:
        self.broker = BrokerConnection(where, topics)
        self.heard: list[BrokerMessage] = []
        self.broker.connect()

    def once(self, longest: float = 0.1) -> None:
        """One turn of a loop."""
        poll, fd = select.poll(), self.broker.fileno()
        if fd >= 0:
            poll.register(fd, select.POLLIN | (select.POLLOUT if self.broker.wants_write() else 0))
        rest = max(0.0, min(longest, self.broker.due() - time.monotonic()))
        if poll.poll(rest * 1000) or time.monotonic() >= self.broker.due():
            self.heard += self.broker.read()

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"it did not come: {self.broker.trouble}"
            self.once()

    def until_connected(self) -> None:
        self.until(lambda: self.broker.connected)

    def texts(self) -> list[bytes]:
        return [message.payload for message in self.heard]


def where(broker: Mosquitto, **more: Any) -> MqttSettings:
    return MqttSettings("127.0.0.1", broker.port, client_id="midwatch-test")._replace(**more)


@pytest.fixture
def mosquitto(tmp_path: Path) -> Iterator[Mosquitto]:
    found = Mosquitto(tmp_path / "broker")
    found.start()
    yield found
    found.kill()


@pytest.fixture
def driven() -> Iterator[Callable[..., Driven]]:
    """Makes clients, and takes leave of them in the end."""
    made: list[Driven] = []

    def make(settings: MqttSettings, *topics: str) -> Driven:
        made.append(Driven(settings, *topics))
        return made[-1]

    yield make
    for each in made:
        each.broker.close()
