"""What tests of watching share: work that blocks until it is told to go on, and calls that must or must not end."""

import contextlib
import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from midwatch.system import procfs
from tests.conftest import PATIENCE, Box, Done, until

SOON = ("--stale", "1s", "--grace", "1s")
"""Thresholds short enough to be lived through in a test."""
LONG_ENOUGH = "3.5s"
"""Time in which work that hangs would have been called stuck."""
SOON_BY_ENV = {"MIDWATCH_STALE": "1s", "MIDWATCH_GRACE": "1s"}
KEYS = [
    "schema",
    "name",
    "kind",
    "state",
    "final",
    "cause",
    "reason",
    "exit_code",
    "signal",
    "elapsed_s",
    "result",
    "log",
    "next",
]


class Gate:
    """A pipe that work reads from: it blocks there, using nothing, until the test says a line."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = str(path)
        self._fd = os.open(path, os.O_RDWR)

    def say(self, line: str = "") -> None:
        os.write(self._fd, f"{line}\n".encode())

    def close(self) -> None:
        os.close(self._fd)


@pytest.fixture
def gate(box: Box) -> Iterator[Gate]:
    found = Gate(box.cwd / "gate")
    yield found
    found.close()


def start_gated(box: Box, gate: Gate, name: str, script: str, *options: str) -> None:
    """Start a job that runs a script as soon as the gate says a line (which it finds in $line)."""
    begun = box("run", "-d", "--name", name, *options, "--", "sh", "-c", f"read -r line < {gate.path}; {script}")
    assert begun.code == 0, begun


def start(box: Box, name: str, *command: str, options: tuple[str, ...] = ()) -> None:
    begun = box("run", "-d", "--name", name, *options, "--", *command)
    assert begun.code == 0, begun


def allowed(seconds: float) -> float:
    """A limit of so many seconds, as it is for a machine that is busy: who runs beside us shares its cores.

    Only where nothing else runs it is kept to the letter.
    """
    minute, _, _, running, *_ = Path("/proc/loadavg").read_text().split()
    busy = max(float(minute), float(running.partition("/")[0])) / (os.cpu_count() or 1)
    return seconds * max(1.0, 2 * busy)


def finish(process: subprocess.Popen[str], seconds: float = PATIENCE) -> Done:
    """The outcome of a call that was started earlier and must end by itself."""
    watch = Stopwatch()
    while True:
        try:
            out, err = process.communicate(timeout=min(seconds, 1.0))
            break
        except subprocess.TimeoutExpired:
            if watch.seconds < allowed(seconds):
                continue
        process.kill()
        process.communicate()
        pytest.fail(f"{process.args!r} did not end within {watch.seconds:g} s")
    return Done(subprocess.CompletedProcess(process.args, process.returncode, out, err))


def within(box: Box, seconds: float, *arguments: str, **env: str) -> Done:
    """Run `midwatch ARGUMENTS…`, which must come to its end in that time."""
    with box.start(*arguments, env=env) as process:
        return finish(process, seconds)


def silent_for(process: subprocess.Popen[str], seconds: float) -> bool:
    """Whether a call says nothing (and so does not end) for a while."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], seconds)
    return not ready


def listening(process: subprocess.Popen[str]) -> bool:
    """Whether a waiter has come to the point where file events wake it."""
    try:
        links = [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{process.pid}/fd")]
    except OSError:
        return False
    return any("inotify" in link for link in links)


@contextlib.contextmanager
def waiter(box: Box, *arguments: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """A `midwatch wait ARGUMENTS… --json` that has begun to listen."""
    with box.start("wait", *arguments, "--json", env=env or {}) as process:
        try:
            until(lambda: listening(process) or process.poll() is not None)
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def planted_pipe(path: Path) -> Iterator[None]:
    """A pipe where a file should be; taken away at the end, because the sweep after a test reads records."""
    os.mkfifo(path)
    try:
        yield
    finally:
        path.unlink()


def forge(box: Box, name: str, **changes: Any) -> None:
    """Change fields of a job's record, as another machine, a bug or an enemy might."""
    box.path(f"{name}.json").write_text(json.dumps(box.record(name) | changes))


def recycle(box: Box, name: str, which: str, pid: int) -> None:
    """Let the record of a job name a pid that another process has by now.

    The real start of the work would not do: a process that is started right after it may have begun in the same tick
    (10 ms), and the two are then the same process to every reader.
    """
    forge(box, name, **{which: {"pid": pid, "start": procfs.start_time(pid) - 1}})


def states(box: Box, name: str) -> list[str]:
    """The states that the shim has written down, oldest first."""
    return [state for state, _ in box.record(name)["states"]]


def listed(box: Box, *arguments: str, **env: str) -> dict[str, dict[str, Any]]:
    """What `ls` says of each job."""
    done = box("ls", "--json", *arguments, **env)
    assert done.code == 0, done
    return {row["name"]: row for row in map(json.loads, done.out.splitlines())}


class Stopwatch:
    def __init__(self) -> None:
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began
