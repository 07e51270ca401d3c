"""The connection itself, with a real broker that is killed, frozen, restarted, or is none."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Callable

import pytest

from midwatch.config.model import MqttSettings
from midwatch.integrations.mqtt import client as mqtt_client
from tests.integration.mqtt.conftest import Driven, where
from tests.lab.mosquitto import Listener, Mosquitto, publish

Make = Callable[..., Driven]


def test_what_is_published_is_heard(mosquitto: Mosquitto, driven: Make) -> None:
    listener = driven(where(mosquitto, client_id="listener"), "a/#")
    listener.until(lambda: "Sending SUBACK to listener" in mosquitto.log())
    speaker = driven(where(mosquitto, client_id="speaker"))
    numbers = {speaker.broker.publish(f"a/{n}", b"%d" % n) for n in range(200)}
    assert speaker.broker.unacknowledged == numbers
    speaker.until(lambda: not speaker.broker.unacknowledged)
    listener.until(lambda: len(listener.heard) == 200)
    assert listener.texts() == [b"%d" % n for n in range(200)]
    assert listener.heard[7].topic == "a/7"
    assert listener.broker.trouble == speaker.broker.trouble == ""


def test_nothing_is_lost_while_a_listener_is_away(mosquitto: Mosquitto, driven: Make) -> None:
    first = driven(where(mosquitto), "a/#")
    first.until(lambda: "Sending SUBACK to midwatch-test" in mosquitto.log())
    first.broker.close()
    for n in range(30):
        publish(mosquitto, f"a/{n}", b"%d" % n)
    second = driven(where(mosquitto), "a/#")
    second.until(lambda: len(second.heard) == 30)
    assert second.texts() == [b"%d" % n for n in range(30)]


def test_what_a_killed_listener_had_read_but_not_come_back_for_is_given_again(
    mosquitto: Mosquitto, driven: Make
) -> None:
    first = driven(where(mosquitto), "a/#")
    first.until(lambda: "Sending SUBACK to midwatch-test" in mosquitto.log())
    publish(mosquitto, "a/b", b"once")
    first.until(lambda: first.texts() == [b"once"])
    assert first.broker.due() == 0.0  # it wants to be called at once, to acknowledge
    found = first.broker._client.socket()
    assert found is not None
    found.close()  # as the kernel does for who was killed
    second = driven(where(mosquitto), "a/#")
    second.until(lambda: second.texts() == [b"once"])


def test_a_broker_that_is_killed_and_comes_back_is_found_again(mosquitto: Mosquitto, driven: Make) -> None:
    both = driven(where(mosquitto), "a/#")
    both.until(lambda: "Sending SUBACK" in mosquitto.log())
    mosquitto.kill()
    both.until(lambda: not both.broker.connected)
    assert "lost" in both.broker.trouble
    both.until(lambda: "no broker at" in both.broker.trouble)
    assert "Connection refused" in both.broker.trouble
    assert both.broker.fileno() == -1
    assert both.broker.due() > time.monotonic()
    number = both.broker.publish("a/b", b"said while it was down")
    assert both.broker.unacknowledged == {number}
    mosquitto.start()
    both.until(lambda: both.texts() == [b"said while it was down"] and not both.broker.unacknowledged)
    assert both.broker.connected


def test_each_try_comes_later_than_the_one_before(mosquitto: Mosquitto, monkeypatch: pytest.MonkeyPatch) -> None:
    mosquitto.kill()
    now = [1000.0]
    monkeypatch.setattr("midwatch.integrations.mqtt.client.time.monotonic", lambda: now[0])
    broker = mqtt_client.BrokerConnection(where(mosquitto))
    broker.connect()
    rests = []
    for _ in range(9):
        while broker.fileno() >= 0:
            broker.read()
        rests.append(broker.due() - now[0])
        now[0] = broker.due()
        broker.read()
    full = [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert all(0.75 * most <= rest <= most for rest, most in zip(rests, full, strict=True)), rests
    broker.close()


def test_a_server_that_says_nothing_is_trouble_and_keeps_nobody_waiting(
    driven: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mqtt_client, "PATIENCE", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        for tls, words in ((False, "said nothing"), (True, "does not answer")):
            client = driven(MqttSettings("127.0.0.1", mute.getsockname()[1], tls=tls))
            client.until(lambda client=client, words=words: words in client.broker.trouble)  # type: ignore[misc]
            assert not client.broker.connected


@pytest.mark.parametrize(
    "said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x20\x02\x00", b"\x20\xff\xff\xff\xff\xff", b""]
)
def test_a_server_that_is_no_broker_is_trouble(said: bytes, driven: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        client = driven(MqttSettings("127.0.0.1", other.getsockname()[1]))
        client.until(lambda: client.broker._client.socket() is not None)
        peer, _ = other.accept()
        peer.sendall(said)
        peer.close()
        client.until(lambda: client.broker.fileno() == -1)
        assert client.broker.trouble
        assert not client.broker.connected


def test_a_frozen_broker_is_noticed(mosquitto: Mosquitto, driven: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt_client, "KEEPALIVE", 1)
    monkeypatch.setattr(mqtt_client, "TICK", 0.2)
    client = driven(where(mosquitto))
    client.until_connected()
    mosquitto.signal(signal.SIGSTOP)
    try:
        client.until(lambda: not client.broker.connected)
        assert "lost" in client.broker.trouble
    finally:
        mosquitto.signal(signal.SIGCONT)
    client.until_connected()


def test_a_name_that_nobody_knows_is_trouble() -> None:
    broker = mqtt_client.BrokerConnection(MqttSettings("no-such-host.invalid", 1883))
    broker.connect()
    assert "no broker at no-such-host.invalid:1883" in broker.trouble
    broker.close()


def test_what_is_published_is_what_others_hear(mosquitto: Mosquitto, driven: Make) -> None:
    listener = Listener(mosquitto, "x/#")
    try:
        speaker = driven(where(mosquitto))
        speaker.broker.publish("x/y", b"hello")
        speaker.until(lambda: not speaker.broker.unacknowledged)
        assert listener.until(1) == ["x/y hello"]
    finally:
        listener.close()
