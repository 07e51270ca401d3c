"""A real broker: Mosquitto with a port, a configuration and a directory of its own, on loopback only."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from tests.conftest import PATIENCE, tool, until

LOWEST, PORTS = 20000, 10000
"""Below those that the kernel gives away to whoever connects: while a broker is down, its port stays its own."""
_taken = 0


class Mosquitto:
    """Started by `start`, killed by `kill`; what was queued and kept for clients outlives it."""

    def __init__(self, home: Path, *lines: str) -> None:
        """``lines`` go into its configuration; without any, everybody may come in."""
        self.program = shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin") or tool("mosquitto")
        self.home = home
        self.home.mkdir(parents=True, exist_ok=True)
        self.lines = lines or ("allow_anonymous true",)
        self.port = 0
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Come back once it takes connections: on the port that it had, or at first on one that is free."""
        while not self._started(self.port or _free()):
            assert not self.port, self.log()

    def _started(self, port: int) -> bool:
        config, log = self.home / "mosquitto.conf", self.home / "log"
        log.unlink(missing_ok=True)
        config.write_text(
            f"listener {port} 127.0.0.1\nlog_dest file {log}\nlog_type all\npersistence true\n"
            f"persistence_location {self.home}/\nautosave_interval 1\nautosave_on_changes true\nuser {_user()}\n"
            + "\n".join(self.lines) + "\n"
        )  # fmt: skip
        process = subprocess.Popen(
            [self.program, "-c", str(config)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until(lambda: " running" in self.log() or process.poll() is not None, self.home)
        if process.poll() is not None:
            return False
        self.port, self.process = port, process
        return True

    def log(self) -> str:
        log = self.home / "log"
        return log.read_text(errors="replace") if log.exists() else ""

    def until_logged(self, words: str) -> None:
        until(lambda: words in self.log(), self.home)

    def signal(self, number: int) -> None:
        assert self.process is not None
        os.kill(self.process.pid, number)

    def kill(self) -> None:
        """At once, as a power failure would."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)
            self.process = None

    def save(self) -> None:
        """Have it write down what it keeps for clients, so that a `kill` does not cost that."""
        before = self._database()
        self.signal(signal.SIGUSR1)
        until(lambda: self._database() != before, self.home)

    def _database(self) -> int:
        path = self.home / "mosquitto.db"
        return path.stat().st_ino if path.exists() else 0

    def stop(self) -> None:
        """As its administrator would: it writes down what it keeps."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(PATIENCE)
        self.process = None


class Listener:
    """`mosquitto_sub`: what a broker gives to somebody who is not Midwatch."""

    def __init__(self, broker: Mosquitto, topic: str, *options: str) -> None:
        self.out = broker.home / f"heard{len(list(broker.home.glob('heard*')))}"
        with self.out.open("wb") as file:
            self.process = subprocess.Popen(
                [tool("mosquitto_sub"), *_where(broker), "-v", "-t", topic, *options],
                stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        name = options[options.index("-i") + 1] if "-i" in options else "auto-"
        until(lambda: f"Sending SUBACK to {name}" in broker.log(), broker.home)

    def lines(self) -> list[str]:
        return self.out.read_text().splitlines()

    def until(self, count: int) -> list[str]:
        """The first so many messages, each with its topic in front."""
        until(lambda: len(self.lines()) >= count, self.out.parent)
        return self.lines()

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


def publish(broker: Mosquitto, topic: str, payload: bytes, *options: str) -> None:
    """`mosquitto_pub` at QoS 1."""
    subprocess.run(
        [tool("mosquitto_pub"), *_where(broker), "-t", topic, "-s", *options],
        input=payload, check=True, timeout=PATIENCE, capture_output=True,
    )  # fmt: skip


def _where(broker: Mosquitto) -> tuple[str, ...]:
    return "-h", "127.0.0.1", "-p", str(broker.port), "-q", "1"


def _free() -> int:
    global _taken  # noqa: PLW0603
    while True:
        _taken += 1
        port = LOWEST + (os.getpid() * 37 + _taken) % PORTS
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if trial.connect_ex(("127.0.0.1", port)):
                return port


def _user() -> str:
    import pwd  # noqa: PLC0415

    return pwd.getpwuid(os.getuid()).pw_name
