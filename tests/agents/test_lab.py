"""The lab keeps its promises around real agents: no network, nothing left, and the home of the user untouched."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.agents.conftest import each, need
from tests.agents.guest import Guest
from tests.conftest import kill, until_gone
from tests.lab import node, processes
from tests.lab.homes import Wish
from tests.lab.keeper import PORT
from tests.lab.lab import Lab, LeftBehind

NOBODY = 65534
SLOW = 120.0

# What comes of knocking at several doors, and which interfaces there are.
_PROBE = """
import json, socket, sys
found = {"interfaces": [name for _, name in socket.if_nameindex()]}
for family, kind, host, port in json.loads(sys.argv[1]):
    with socket.socket(family, kind) as knock:
        knock.settimeout(20)
        found[f"{host} {port} {int(kind)}"] = knock.connect_ex((host, port))
print(json.dumps(found))
"""


class Running(NamedTuple):
    """A driver with an agent in its lab."""

    process: subprocess.Popen[str]
    mark: str
    root: str
    keeper: int
    uid: int
    pids: list[int]
    network: str

    def alive(self) -> list[int]:
        """Processes of the lab that live, by mark and by network."""
        return sorted({*processes.marked(self.mark), *processes.in_network(self.network)})

    def left(self) -> list[str]:
        return [f"{pid} {processes.command(pid)}" for pid in self.alive()]


class Stage:
    """Starts drivers in a place of its own; whatever still runs in the end, because a test failed, is killed."""

    def __init__(self, directory: Path) -> None:
        self.guest = Guest(directory)
        self._started: list[subprocess.Popen[str]] = []
        self._running: list[Running] = []

    def run(self, *arguments: str, uid: int | None = None) -> Running:
        process = self.guest.start([sys.executable, "-m", "tests.agents.driver", *arguments], uid=uid)
        self._started.append(process)
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate(timeout=SLOW)[1]
        self._running.append(Running(process, **json.loads(line)))
        return self._running[-1]

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=SLOW)
        for running in self._running:
            until_gone(running.keeper)
            for pid in running.alive():
                kill(pid, signal.SIGKILL)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    found = Stage(tmp_path)
    yield found
    found.close()


def is_expected(path: str) -> bool:
    """Codex's directory for the sockets of all daemons of a user: other sessions may be about to use it."""
    return path.startswith("/tmp/codex-daemon-") and path.count("/") == 2


# The network


@pytest.mark.claude
@pytest.mark.parametrize("rootless", [False, True], ids=["root", "rootless"])
def test_there_is_nothing_but_loopback(rootless: bool) -> None:
    need("claude")
    if not rootless and os.getuid():
        pytest.skip("only root makes a network namespace without a user namespace")
    with socket.create_server(("127.0.0.1", 0)) as ours, Lab(rootless=rootless) as lab:
        lab.start("claude")
        worlds = [world for pid in lab.alive() if (world := world_of(pid))]
        assert len(worlds) >= 4, "keeper, tmux, shell and agent"
        assert set(worlds) == {("lo", "")}
        stream, packets = socket.SOCK_STREAM, socket.SOCK_DGRAM
        doors = [
            (socket.AF_INET, stream, "192.0.2.1", 443), (socket.AF_INET, packets, "192.0.2.1", 53),
            (socket.AF_INET6, stream, "2001:db8::1", 443), (socket.AF_INET, stream, "127.0.0.1", PORT),
            (socket.AF_INET, stream, "127.0.0.1", ours.getsockname()[1]),
        ]  # fmt: skip
        probe = lab.run([sys.executable, "-c", _PROBE, json.dumps(doors)])
        assert probe.returncode == 0, probe.stderr
        found = json.loads(probe.stdout)
        assert found.pop("interfaces") == ["lo"]
        # Refused by the kernel itself, so at once; and the loopback of the machine is another one.
        assert list(found.values()) == [
            errno.ENETUNREACH, errno.ENETUNREACH, errno.ENETUNREACH, 0, errno.ECONNREFUSED,
        ]  # fmt: skip


def world_of(pid: int) -> tuple[str, str] | None:
    """Interfaces and routes that a process has; none when it has ended."""
    network = Path(f"/proc/{pid}/net")
    try:
        devices = (network / "dev").read_text().splitlines()[2:]
        routes = (network / "route").read_text().splitlines()[1:]
    except OSError:
        return None
    return " ".join(row.partition(":")[0].strip() for row in devices), " ".join(routes)


def shut(program: Path) -> Path | None:
    """A directory on the way to a program that others may not pass; the home is covered by the stage's own."""
    if program.is_relative_to(Path.home()):
        return None
    return next((place for place in program.parents if not place.stat().st_mode & 0o001), None)


@pytest.mark.claude
def test_any_user_can_have_a_lab(stage: Stage) -> None:
    """In a user namespace, as who has no rights at all."""
    need("claude")
    if os.getuid():
        pytest.skip("only root can become another user; the other tests have run as one")
    if closed := shut(Path(sys.executable).resolve()):
        pytest.skip(f"another user cannot come to this Python: {closed} is closed to others")
    running = stage.run("claude", uid=NOBODY)
    assert running.uid == NOBODY
    assert os.stat(f"/proc/{running.keeper}").st_uid == NOBODY
    assert {world_of(pid) for pid in running.pids} <= {("lo", ""), None}
    said = running.process.communicate(timeout=SLOW)
    assert (running.process.returncode, said) == (0, ("", ""))
    assert running.left() == []
    assert stage.guest.changes() == set()


# What is left


@pytest.mark.parametrize(("agent", "age"), each(previous=False))
def test_a_session_leaves_nothing(stage: Stage, agent: str, age: str) -> None:
    """Neither processes nor files: not in the home, nor where temporary files go, whatever the agent did there."""
    need(agent, age)
    running = stage.run(agent)
    during = stage.guest.sockets()
    assert f"{running.root}/tmux" in during, "the lab is not where we look"
    if agent == "codex":
        assert any("app-server" in processes.command(pid) for pid in running.pids), "no daemon, no test"
        assert any(not path.startswith(running.root) for path in during), "its sockets are not where we look"
    said = running.process.communicate(timeout=SLOW)
    assert (running.process.returncode, said) == (0, ("", ""))
    assert running.left() == []
    assert {path for path in stage.guest.changes() if not is_expected(path)} == set()


@pytest.mark.codex
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill-9"])
def test_an_ended_driver_leaves_nothing(stage: Stage, number: signal.Signals) -> None:
    """In the middle of a command that Codex runs in its sandbox, with its daemon there."""
    need("codex")
    running = stage.run("codex", "--busy")
    assert any("sleep 600" in processes.command(pid) for pid in running.pids)
    keeper = running.keeper
    os.killpg(running.process.pid, number)
    until_gone(keeper)
    _, said = running.process.communicate(timeout=SLOW)
    assert running.process.returncode == -number
    assert "LeftBehind" not in said
    assert running.left() == []
    assert {path for path in stage.guest.changes() if not is_expected(path)} == set()


@pytest.mark.claude
def test_what_is_left_is_told() -> None:
    """The lab's own check can fail: without its keeper, what it was to end lives on."""
    need("claude")
    lab = Lab().__enter__()
    lab.start("claude")
    kill(lab.keeper, signal.SIGKILL)
    with pytest.raises(LeftBehind) as told:
        lab.close()
    left = lab.alive()
    for pid in left:
        kill(pid, signal.SIGKILL)
    for pid in left:
        until_gone(pid)
    shutil.rmtree(lab.root)
    assert re.search(r"\d+ tmux -D", str(told.value))
    assert re.search(r"\d+ claude", str(told.value))
    assert len(left) >= 3


@pytest.mark.parametrize(("agent", "age"), each(previous=True))
def test_the_program_is_the_release_that_was_asked_for(lab: Lab, agent: str, age: str) -> None:
    """By its own word, and with the lab's Node: the machine's may be too old for it."""
    install = need(agent, age)
    _, launch, env = lab.settle(agent, Wish(), lab.root / "home", version=age)
    said = lab.run([launch.argv[0], "--version"], timeout=SLOW, **env)
    assert re.search(rf"(?<![\d.]){re.escape(install.version)}(?![\d.])", said.stdout), said
    assert lab.run(["node", "--version"], timeout=SLOW, **env).stdout == f"v{node.VERSION}\n"
