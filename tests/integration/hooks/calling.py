"""Calls of the hook as agents make them: each must end soon, with 0, and in silence."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import midwatch
from midwatch.core.pane_model import Pane, RunningAgent
from midwatch.system import procfs
from tests.conftest import PATIENCE, tool

AGENTS = Path(midwatch.__file__).parent / "agents"
SCRIPT = AGENTS / "hooks" / "hook.sh"
PLUGIN = AGENTS / "opencode" / "plugin.js"
SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}
SOCKET = "/tmp/midwatch-test/default"
PANE = "%3"


class Spool:
    """A spool of its own, and a shell that runs the hook on it."""

    def __init__(self, path: Path, shell: str, *, sockets: bool = False) -> None:
        self.path = path
        self.sockets = sockets
        self.shell = [tool(SHELLS[shell][0]), *SHELLS[shell][1:]]
        self.env = {"PATH": os.environ["PATH"], "TMUX": f"{SOCKET},12,0", "TMUX_PANE": PANE, "LANG": "C.UTF-8"}

    @property
    def file(self) -> Path:
        return self.path / f"claude{SOCKET.replace('/', ',')}{PANE}.events"

    def start(self, *more: str, agent: str = "claude", **popen: Any) -> "subprocess.Popen[bytes]":
        how: dict[str, Any] = {"stdin": subprocess.PIPE, "env": self.env} | popen
        command = [*self.shell, str(SCRIPT), str(self.path), agent, *more]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=False, **how)

    def call(self, payload: bytes | dict[str, Any], *more: str, **popen: Any) -> None:
        """Call the hook with a payload on its standard input. Raises BrokenPipeError as an agent would meet it."""
        ours, theirs = self.ends()
        process = self.start(*more, **{"stdin": theirs} | popen)
        os.close(theirs)
        with open(ours, "wb") as pipe:
            pipe.write(payload if isinstance(payload, bytes) else json.dumps(payload).encode())
        ended_well(process)

    def ends(self) -> tuple[int, int]:
        """What an agent writes its payload to, and what the hook reads: agents use pipes, or sockets."""
        if self.sockets:
            ours, theirs = socket.socketpair()
            return ours.detach(), theirs.detach()
        theirs_too, ours_too = os.pipe()
        return ours_too, theirs_too

    def lines(self) -> list[bytes]:
        return [line for line in self.file.read_bytes().split(b"\n") if line]


def ended_well(process: "subprocess.Popen[bytes]") -> None:
    """It ends by itself with 0, and has said nothing."""
    try:
        out, err = process.communicate(timeout=PATIENCE) if process.stdin is None else _read(process)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail("the hook does not end")
    assert (process.returncode, out, err) == (0, b"", b"")


def _read(process: "subprocess.Popen[bytes]") -> tuple[bytes, bytes]:
    """Like `communicate`, but leaves standard input alone."""
    assert process.stdout is not None
    assert process.stderr is not None
    process.wait(timeout=PATIENCE)
    with process.stdout as out, process.stderr as err:
        return out.read(), err.read()


def this_process(agent: str = "claude", **more: Any) -> RunningAgent:
    """The test itself as an agent: whoever calls a hook is its parent."""
    pid = os.getpid()
    start = procfs.start_time(pid)
    started = time.time() - float(procfs.read_text("/proc/uptime").split()[0]) + start / procfs.TICKS
    return RunningAgent(agent, pid, start, started, "/proj", (agent,), {})._replace(**more)


def pane(name: str = PANE, socket: str = SOCKET) -> Pane:
    return Pane(
        server=("-S", socket), id=name, session="s", pid=1, title="", command="", path="", width=80, height=24,
        cursor_x=0, cursor_y=0, cursor_visible=True, alternate=False, dead=False, dead_status="", activity=0,
    )  # fmt: skip


@pytest.fixture(params=SHELLS)
def spool(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Spool]:
    path = tmp_path / "it's a spool"
    path.mkdir(0o700)
    found = Spool(path, request.param)
    if request.param == "busybox":  # all of it
        tools = tmp_path / "tools"
        tools.mkdir()
        for name in ("dd", "timeout", "tail", "find", "mv", "rm", "sleep"):
            (tools / name).symlink_to(found.shell[0])
        found.env["PATH"] = f"{tools}:{found.env['PATH']}"
    yield found
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(params=["pipe", "socket"])
def either(spool: Spool, request: pytest.FixtureRequest) -> Spool:
    """A spool whose hook is called over a pipe, and over a socket."""
    spool.sockets = request.param == "socket"
    return spool
