"""Who may come in: passwords, certificates of the broker, certificates of ours; and that no secret is shown."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from midwatch.config.model import MqttSettings
from tests.conftest import PATIENCE, Box, tool, until
from tests.integration.mqtt.conftest import Driven, where
from tests.lab.mosquitto import Listener, Mosquitto

Make = Callable[..., Driven]
SECRET = "correct horse: battery staple#ü"


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[Mosquitto]:
    """A broker that wants a password."""
    home = tmp_path / "guarded"
    home.mkdir()
    subprocess.run(
        [tool("mosquitto_passwd"), "-b", "-c", str(home / "passwords"), "ann", SECRET], check=True, timeout=PATIENCE
    )
    (home / "passwords").chmod(0o600)
    found = Mosquitto(home, "allow_anonymous false", f"password_file {home}/passwords")
    found.start()
    yield found
    found.kill()


def test_a_password_lets_in(guarded: Mosquitto, driven: Make) -> None:
    client = driven(where(guarded, username="ann", password=SECRET))
    client.until_connected()


@pytest.mark.parametrize("given", [{}, {"username": "ann", "password": "wrong"}, {"username": "bob"}])
def test_who_has_none_is_told_what_to_do(guarded: Mosquitto, driven: Make, given: dict[str, str]) -> None:
    client = driven(where(guarded, **given))
    client.until(lambda: "refuses us" in client.broker.trouble)
    assert "username" in client.broker.trouble
    assert "password_file" in client.broker.trouble
    assert not client.broker.connected
    assert client.broker.fileno() == -1


def test_what_may_not_be_heard_is_trouble(driven: Make) -> None:
    """Mosquitto lets anybody subscribe and then sends nothing; others say no, which is spoken here by hand."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        client = driven(MqttSettings("127.0.0.1", other.getsockname()[1], client_id="me"), "others/#")
        client.until(lambda: client.broker._client.socket() is not None)
        peer, _ = other.accept()
        with peer:
            peer.recv(1000)
            peer.sendall(b"\x20\x02\x00\x00")
            client.until_connected()
            asked = peer.recv(1000)
            peer.sendall(b"\x90\x03" + asked[2:4] + b"\x80")
            client.until(lambda: "does not let us hear" in client.broker.trouble)
            assert client.broker.connected


def test_ends_are_published_with_the_password_of_a_file_and_no_secret_is_shown(guarded: Mosquitto, box: Box) -> None:
    (box.cwd / ".git").mkdir()
    config = box.cwd / ".config" / "midwatch"
    config.mkdir(parents=True)
    (config / "secret").write_text(SECRET + "\n")
    (config / "secret").chmod(0o600)
    (config / "config.toml").write_text(f'[mqtt]\nurl = "{guarded.url}"\nusername = "ann"\npassword_file = "secret"\n')
    listener = Listener(guarded, "midwatch/#", "-u", "ann", "-P", SECRET)
    try:
        done = box("run", "--name", "kept", "--", "true")
        assert done.code == 0, done
        [line] = listener.until(1)
    finally:
        listener.close()
    assert "/kept/event " in line
    until(lambda: not box.path("outbox/unpublished").exists(), box.path("outbox"))
    written = [path for path in box.dir.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]
    shown = box("notify")
    assert shown.code == 0
    assert SECRET not in shown.out + shown.err


def test_a_password_that_is_not_there_is_told_and_tried_again_when_it_is(guarded: Mosquitto, box: Box) -> None:
    (box.cwd / ".git").mkdir()
    config = box.cwd / ".config" / "midwatch"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f'[mqtt]\nurl = "{guarded.url}"\nusername = "ann"\npassword_env = "MY_WORD"\n')
    assert box("run", "--name", "early", "--", "true").code == 0
    until(lambda: "MY_WORD is not set" in _text(box.path("outbox/unpublished")), box.path("outbox"))
    left = box("notify", "--pending")
    assert left.code == 1
    assert "MY_WORD is not set" in left.out
    assert box("doctor").out.count("MY_WORD is not set") == 2  # why it cannot be used, and that something is left
    listener = Listener(guarded, "midwatch/#", "-u", "ann", "-P", SECRET)
    try:
        assert box("notify", "--pending", MY_WORD=SECRET).code == 0
        [line] = listener.until(1)
        assert "/early/event " in line
    finally:
        listener.close()


def test_variables_say_who_we_are(guarded: Mosquitto, box: Box) -> None:
    (box.cwd / ".git").mkdir()
    env = {"MIDWATCH_MQTT_URL": guarded.url, "MIDWATCH_MQTT_USERNAME": "ann"}
    assert box("notify", "--test", "hello", **env, MIDWATCH_MQTT_PASSWORD=SECRET).code == 0
    (box.cwd / "secret").write_text(SECRET)
    (box.cwd / "secret").chmod(0o600)
    assert box("notify", "--test", "hello", **env, MIDWATCH_MQTT_PASSWORD_FILE="secret").code == 0
    refused = box("notify", "--test", "hello", **env)
    assert refused.code == 1
    assert "refuses us" in refused.out


# Certificates


class Authority:
    """Whoever signs."""

    def __init__(self, home: Path, name: str) -> None:
        self.home = home
        self.name = name
        self._openssl(
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout",
            self.path("key"), "-out", self.path("crt"),
        )  # fmt: skip

    def path(self, kind: str, of: str = "") -> str:
        return str(self.home / f"{of or self.name}.{kind}")

    def sign(self, of: str, subject: str) -> tuple[str, str]:
        """Certificate and key of somebody."""
        request, more = self.path("csr", of), self.path("ext", of)
        Path(more).write_text("subjectAltName=IP:127.0.0.1\n")
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", subject, "-keyout", self.path("key", of), "-out",
                      request)  # fmt: skip
        self._openssl("x509", "-req", "-in", request, "-CA", self.path("crt"), "-CAkey", self.path("key"),
                      "-CAcreateserial", "-days", "2", "-extfile", more, "-out", self.path("crt", of))  # fmt: skip
        return self.path("crt", of), self.path("key", of)

    def _openssl(self, *arguments: str) -> None:
        subprocess.run([tool("openssl"), *arguments], check=True, timeout=PATIENCE, capture_output=True)


class Sealed:
    """A broker that speaks TLS and wants to see certificates."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.ours, self.theirs = Authority(home, "ours"), Authority(home, "theirs")
        cert, key = self.ours.sign("broker", "/CN=broker")
        self.mine, self.strange = self.ours.sign("me", "/CN=ann"), self.theirs.sign("stranger", "/CN=ann")
        self.broker = Mosquitto(
            home, f"certfile {cert}", f"keyfile {key}", f"cafile {self.ours.path('crt')}", "require_certificate true",
            "use_identity_as_username true", "allow_anonymous false",
        )  # fmt: skip

    def where(self, ca: str, cert: str = "", key: str = "") -> MqttSettings:
        return where(self.broker, tls=True, ca=ca, cert=cert, key=key)


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sealed]:
    found = Sealed(tmp_path_factory.mktemp("tls") / "sealed")
    found.broker.start()
    yield found
    found.broker.kill()


def test_a_certificate_lets_in_and_everything_comes_through(sealed: Sealed, driven: Make) -> None:
    client = driven(sealed.where(sealed.ours.path("crt"), *sealed.mine), "a/#")
    client.until_connected()
    client.until(lambda: "Sending SUBACK" in sealed.broker.log())
    for n in range(300):  # more than one record of TLS
        client.broker.publish("a/b", b"%d " % n + b"x" * 500)
    client.until(lambda: len(client.heard) == 300)
    assert [int(text.split()[0]) for text in client.texts()] == list(range(300))


def test_a_broker_that_nobody_vouches_for_is_not_spoken_to(sealed: Sealed, driven: Make) -> None:
    for ca in (sealed.theirs.path("crt"), ""):
        client = driven(sealed.where(ca, *sealed.mine))
        client.until(lambda client=client: "no trust between us" in client.broker.trouble)  # type: ignore[misc]
        assert "mend ca" in client.broker.trouble


def test_a_certificate_that_the_broker_does_not_know_is_trouble(sealed: Sealed, driven: Make) -> None:
    for given in (("", ""), sealed.strange):
        client = driven(sealed.where(sealed.ours.path("crt"), *given))
        client.until(lambda client=client: client.broker.fileno() == -1)  # type: ignore[misc]
        assert "cert and key" in client.broker.trouble
        assert not client.broker.connected


def test_files_that_cannot_be_read_are_trouble(sealed: Sealed, driven: Make) -> None:
    client = driven(sealed.where(str(sealed.broker.home / "nowhere.crt")))
    assert "ca, cert or key in [mqtt] cannot be used: No such file" in client.broker.trouble


def test_a_broker_that_wants_tls_says_so_to_who_speaks_without(sealed: Sealed, driven: Make) -> None:
    client = driven(where(sealed.broker))
    client.until(lambda: "mqtts://" in client.broker.trouble)


def test_ends_are_published_with_certificates(sealed: Sealed, box: Box) -> None:
    (box.cwd / ".git").mkdir()
    config = box.cwd / ".config" / "midwatch"
    config.mkdir(parents=True)
    cert, key = sealed.mine
    (config / "config.toml").write_text(
        f'[mqtt]\nurl = "mqtts://127.0.0.1:{sealed.broker.port}"\nca = "{sealed.ours.path("crt")}"\n'
        f'cert = "{cert}"\nkey = "{key}"\n'
    )
    tls = ("--cafile", sealed.ours.path("crt"), "--cert", cert, "--key", key, "-i", "hearing-ends")
    listener = Listener(sealed.broker, "midwatch/#", *tls)
    try:
        assert box("run", "--name", "sealed", "--", "true").code == 0
        assert "/sealed/event " in listener.until(1)[0]
    finally:
        listener.close()


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
