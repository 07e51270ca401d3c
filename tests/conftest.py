"""Fixtures that give a test real jobs in a directory of its own, and ways to wait that are not sleeping."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from midwatch.system import atomic_files, inotify, processes, procfs

# A busy machine is no defect. CI plays the same examples each time: whether a change lands must not be left to chance.
hypothesis.settings.register_profile("midwatch", deadline=None, derandomize=os.environ.get("CI") == "true")
hypothesis.settings.load_profile("midwatch")

PR_SET_CHILD_SUBREAPER = 36
PATIENCE = 30.0
"""Seconds after which a test gives up on an event that must come."""


def pytest_configure() -> None:
    """A shell in the background and `nohup` ignore these for all below them; programs under test must not.

    A handler of our own is not inherited by a program that is started, so pytest itself still survives a hang-up.
    """
    heard = (
        (signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL), (signal.SIGHUP, lambda *_: None)
    )  # fmt: skip
    for number, handler in heard:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


class Done:
    """A finished `midwatch` call."""

    def __init__(self, call: subprocess.CompletedProcess[str]) -> None:
        self.code = call.returncode
        self.out = call.stdout
        self.err = call.stderr

    def __repr__(self) -> str:
        return f"exit {self.code}\n--- out\n{self.out}\n--- err\n{self.err}"

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out.splitlines()[-1])
        return found


class Box:
    """A sentinel directory of its own, and the program to be used on it."""

    def __init__(self, home: Path) -> None:
        self.dir = home / "jobs"
        self.env = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "MIDWATCH_HOME": str(self.dir),
        }
        self.cwd = home
        self.program = [sys.executable, "-m", "midwatch"]

    def __call__(self, *arguments: str, stdin: str | None = None, **env: str) -> Done:
        """Run `midwatch ARGUMENTS…` to its end."""
        return Done(
            subprocess.run(
                [*self.program, *arguments], env=self.env | env, cwd=self.cwd, input=stdin or "",
                capture_output=True, text=True, timeout=PATIENCE * 2, check=False, errors="replace",
            )
        )  # fmt: skip

    def start(self, *arguments: str, **popen: Any) -> subprocess.Popen[str]:
        """Start `midwatch ARGUMENTS…` and go on."""
        env = self.env | popen.pop("env", {})
        popen = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | popen
        return subprocess.Popen([*self.program, *arguments], env=env, cwd=self.cwd, text=True, **popen)

    def path(self, name: str) -> Path:
        return self.dir / name

    def drop(self, file: str) -> Path:
        """A file of a job in its drop box: `job.beat`."""
        return self.dir / "drop" / file.rpartition(".")[0] / file

    def record(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path(f"{name}.json").read_text())
        return found

    def pids(self, name: str) -> tuple[int, int]:
        """Pids of shim and work."""
        record = self.record(name)
        return record["shim"]["pid"], record["work"]["pid"]

    def events(self, name: str) -> list[dict[str, Any]]:
        """What the shim spooled for the newest run of a name."""
        spools = sorted(self.dir.glob(f"spool/{name}.*.jsonl"))
        return [json.loads(line) for line in spools[-1].read_text().splitlines()]

    def until_file(self, name: str, holds: Callable[[str], bool] = lambda _: True) -> str:
        """Wait (on file events) until a file of the directory is there and holds what is wanted."""
        path = self.path(name)
        found: list[str] = []

        def there() -> bool:
            if path.exists():
                found[:] = [path.read_text(errors="replace")]
            return bool(found) and holds(found[0])

        until(there, self.dir)
        return found[0]

    def sweep(self) -> None:
        """End every process that a job of this box left, by its mark, after checking that it is the one."""
        for record in self.dir.glob("*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                with open(atomic_files.open_plain(str(record)), encoding="utf-8", errors="replace") as file:
                    run = json.loads(file.read())
                for pid in {run["shim"]["pid"], *processes.find_run_processes(run["run"])}:
                    start = procfs.start_time(pid)
                    if pid != run["shim"]["pid"] or start == run["shim"]["start"]:
                        kill(pid, signal.SIGKILL)


def kill(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def until(condition: Callable[[], bool], directory: Path | None = None) -> None:
    """Wait for a condition: checked at every event of a directory, and now and then where nothing tells."""
    deadline = time.monotonic() + PATIENCE
    events = inotify.FileEvents()
    try:
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
            events.add(str(directory), inotify.NAMES | inotify.WRITES)
        while not condition():
            assert time.monotonic() < deadline, "the event did not come"
            select.select([events], [], [], 0.05 if directory is None else 0.5)
            events.read()
    finally:
        events.close()


def until_gone(pid: int) -> None:
    """Wait until a process has ended (pidfd)."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        ready, _, _ = select.select([pidfd], [], [], PATIENCE)
        assert ready, f"process {pid} did not end"
    finally:
        os.close(pidfd)


def reap(pid: int) -> None:
    """Wait for a child that must end, as its parent; with the fixture `heir` an orphan is a child too."""
    until_gone(pid)
    os.waitpid(pid, 0)


def alive(pid: int) -> bool:
    try:
        return procfs.stat_fields(pid)[0] not in "ZX"
    except (OSError, ValueError):
        return False


def letter(pid: int) -> str:
    """State of a process as the kernel names it."""
    return procfs.stat_fields(pid)[0]


def tool(name: str) -> str:
    """Path of a tool that a test needs: its lack is a failure under CI, a named skip elsewhere."""
    import shutil  # noqa: PLC0415

    found = shutil.which(name)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{name} is missing")
        pytest.skip(f"{name} is missing")
    return found


@pytest.fixture
def heir() -> Iterator[None]:
    """Orphans become children of this process: whether a dead one is waited for is up to the test."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Box]:
    found = Box(tmp_path)
    yield found
    found.sweep()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many of the commands in the docs were not run, where their tests ran."""
    reports = [one for each in terminalreporter.stats.values() for one in each if isinstance(one, pytest.TestReport)]
    if any("test_documented_commands" in report.nodeid for report in reports):
        from tests.documents import summary  # noqa: PLC0415 (only where the tests of the docs ran)

        terminalreporter.write_line(summary())
