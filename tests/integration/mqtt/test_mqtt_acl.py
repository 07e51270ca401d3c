"""The rules for Mosquitto that the documents show: a real broker with them lets nobody speak for another host."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.integrations.mqtt.codec import messages
from tests.conftest import PATIENCE, tool
from tests.lab.mosquitto import Listener, Mosquitto, publish

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "mqtt.md"
HOSTS = ("desk", "lap.example", "other")


def shown(first: str) -> str:
    """The block of the page that begins with this line."""
    return PAGE.read_text().partition(f"\n```\n# /etc/mosquitto/{first}\n")[2].partition("\n```\n")[0]


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker with the rules of the page, and a user for each host."""
    rules, passwords = tmp_path / "acl", tmp_path / "passwords"
    rules.write_text(shown("midwatch.acl"))
    passwords.touch()
    for host in HOSTS:
        done = subprocess.run(
            [tool("mosquitto_passwd"), "-b", str(passwords), host, f"word of {host}"],
            check=False, timeout=PATIENCE, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done
    for file in (rules, passwords):
        file.chmod(0o600)
    given = shown("conf.d/midwatch.conf")
    files = {"password_file": passwords, "acl_file": rules}
    lines = [line for line in given.splitlines() if not line.startswith(("#", "listener", "cafile", "certfile", "key"))]
    placed = [f"{word} {files[word]}" if (word := line.split()[0]) in files else line for line in lines]
    assert len(placed) == 4
    broker = Mosquitto(tmp_path / "broker", *placed)
    broker.start()
    yield broker
    broker.kill()


def as_user(host: str) -> tuple[str, ...]:
    return "-u", host, "-P", f"word of {host}"


def topic(host: str) -> str:
    return messages.event_topic("midwatch", host, "/home/ann/shop", "build")


def test_a_host_speaks_for_itself_and_for_no_other(guarded: Mosquitto) -> None:
    listener = Listener(guarded, messages.subscription_topic("midwatch"), "-i", "reader", *as_user("desk"))
    try:
        publish(guarded, topic("desk"), b"forged", *as_user("other"))
        guarded.until_logged("Denied PUBLISH")
        publish(guarded, topic("other"), b"own", *as_user("other"))
        publish(guarded, topic("lap.example"), b"own", *as_user("lap.example"))
        assert listener.until(2) == [f"{topic('other')} own", f"{topic('lap.example')} own"]
    finally:
        listener.close()


def test_who_has_no_password_says_nothing(guarded: Mosquitto) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        publish(guarded, topic("desk"), b"forged")
    with pytest.raises(subprocess.CalledProcessError):
        publish(guarded, topic("desk"), b"forged", "-u", "desk", "-P", "guessed")
