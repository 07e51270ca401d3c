"""Payloads that are larger than any event: nobody buffers them, and what comes after them arrives."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midwatch.config.model import MqttSettings
from tests.conftest import PATIENCE
from tests.integration.mqtt.conftest import Driven, where
from tests.lab.mosquitto import Mosquitto, publish

HUGE, TIMES = 250_000_000, 8
MOST_MB = 64
"""An interpreter with the client takes about 30 MB."""
SUBSCRIBER = """
import sys
from tests.integration.mqtt.conftest import Driven
from midwatch.config.model import MqttSettings
client = Driven(MqttSettings("127.0.0.1", int(sys.argv[1]), client_id="reader"), "a/#")
client.until_connected()
print("ready", flush=True)
while not client.heard or client.heard[-1].payload != b"the last one":
    client.once(1.0)
client.broker.close()
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(int(peak.split()[1]) // 1024, len(client.heard), client.broker.dropped, flush=True)
"""


@pytest.fixture
def unlimited(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker that takes payloads of any size, and keeps them in memory only."""
    lines = ("allow_anonymous true", "message_size_limit 0", "max_queued_bytes 0", "persistence false")
    broker = Mosquitto(tmp_path / "broker", *lines)
    broker.start()
    yield broker
    broker.kill()


def test_eight_huge_payloads_cost_no_memory_and_the_next_message_arrives(unlimited: Mosquitto) -> None:
    started = subprocess.Popen(
        [sys.executable, "-c", SUBSCRIBER, str(unlimited.port)], stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    with started as reader:
        try:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "ready\n"
            unlimited.until_logged("Sending SUBACK to reader")
            huge = bytes(HUGE)
            for _ in range(TIMES):
                publish(unlimited, "a/b", huge)
            publish(unlimited, "a/b", b"the last one")
            peak, heard, dropped = map(int, reader.stdout.readline().split())
            assert reader.wait(PATIENCE) == 0
        finally:
            reader.kill()
    assert (heard, dropped) == (TIMES + 1, TIMES)
    assert peak < MOST_MB, f"{peak} MB"


def test_a_message_that_is_too_large_is_dropped_and_acknowledged(
    mosquitto: Mosquitto, driven: Callable[..., Driven]
) -> None:
    client = driven(where(mosquitto), "a/#")
    client.until(lambda: "Sending SUBACK to midwatch-test" in mosquitto.log())
    publish(mosquitto, "a/large", bytes(1 << 20))
    publish(mosquitto, "a/small", b"x")
    client.until(lambda: len(client.heard) == 2)
    assert [(each.topic, each.payload) for each in client.heard] == [("a/large", b""), ("a/small", b"x")]
    assert client.broker.dropped == 1
    assert client.broker.connected
    client.broker.close()
    again = driven(where(mosquitto), "a/#")
    again.until_connected()
    publish(mosquitto, "a/small", b"y")
    again.until(lambda: bool(again.heard))
    assert again.texts() == [b"y"], "the large one was acknowledged, so the broker does not send it again"


@pytest.mark.parametrize("first", [b"\x20", b"\x90", b"\xd0"], ids=["CONNACK", "SUBACK", "PINGRESP"])
def test_a_broker_that_announces_a_huge_packet_of_another_kind_is_left(
    first: bytes, driven: Callable[..., Driven]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = driven(MqttSettings("127.0.0.1", server.getsockname()[1]))
        client.until(lambda: client.broker._client.socket() is not None)
        peer, _ = server.accept()
        with peer:
            peer.sendall(first + b"\xff\xff\xff\x7f" + bytes(10))
            client.until(lambda: client.broker.fileno() == -1)
        assert "268435455 bytes" in client.broker.trouble
        assert not client.broker.connected
        client.until(lambda: client.broker.fileno() >= 0)  # it is tried again, after a rest


def test_a_broker_that_never_ends_a_payload_costs_no_memory(driven: Callable[..., Driven]) -> None:
    """A hostile server sends one packet for as long as we read."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = driven(MqttSettings("127.0.0.1", server.getsockname()[1], client_id="x"), "a/#")
        client.until(lambda: client.broker._client.socket() is not None)
        peer, _ = server.accept()
        with peer:
            peer.sendall(b"\x20\x02\x00\x00" + b"\x30\xff\xff\xff\x7f" + b"\x00\x03a/b")
            client.until_connected()
            sender = threading.Thread(target=peer.sendall, args=(bytes(32 << 20),), daemon=True)
            sender.start()
            client.until(lambda: not sender.is_alive())
            assert len(client.broker._client._in_packet["packet"]) < 1 << 18
        assert [(each.topic, each.payload) for each in client.heard] == [("a/b", b"")]
