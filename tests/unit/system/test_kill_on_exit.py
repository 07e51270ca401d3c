"""A program that is waited for does not outlive who waits, however that one ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.system import run_program
from midwatch.system.run_program import OutputCap, RunLimits
from tests.conftest import PATIENCE, alive, kill, until

RUN = """
import resource, signal, sys, threading
from midwatch.system import run_program
from midwatch.system.run_program import OutputCap, RunLimits
signal.signal(signal.SIGINT, signal.default_int_handler)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
how, line = sys.argv[1:]
def run():
    run_program.run_program(["/bin/sh", "-c", line], RunLimits(300, OutputCap(99), keeps_terminal=how == "alone"))
if how == "thread":
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
else:
    run()
"""
ENDS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL)


class Runner:
    """A process that runs a shell command, which writes down pids."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, line: str, how: str = "") -> subprocess.Popen[bytes]:
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, how, line], cwd=self.place, stderr=subprocess.DEVNULL
        )
        return self.process

    def pids(self, many: int) -> list[int]:
        path = self.place / "pids"
        until(lambda: path.exists() and len(path.read_text().splitlines()) == many, self.place)
        return [int(pid) for pid in path.read_text().split()]

    def sweep(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
        if (self.place / "pids").exists():
            for pid in (self.place / "pids").read_text().split():
                kill(int(pid), signal.SIGKILL)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    made = Runner(tmp_path)
    yield made
    made.sweep()


@pytest.mark.parametrize("number", ENDS)
@pytest.mark.parametrize("how", ["", "thread"])
def test_what_ends_us_ends_the_program_and_its_group(runner: Runner, number: int, how: str) -> None:
    process = runner.start("echo $$ >> pids; sleep 300 & echo $! >> pids; wait", how)
    pids = runner.pids(2)
    process.send_signal(number)
    process.wait(PATIENCE)
    until(lambda: not any(map(alive, pids)))


def test_of_our_own_group_only_the_program_is_ended(runner: Runner) -> None:
    process = runner.start("echo $$ >> pids; sleep 300 & echo $! >> pids; wait", "alone")
    program, other = runner.pids(2)
    process.kill()
    process.wait(PATIENCE)
    until(lambda: not alive(program))
    assert alive(other)


@pytest.mark.parametrize("number", ENDS[:-1])
def test_a_signal_while_the_program_is_started_is_not_too_early(runner: Runner, number: int) -> None:
    process = runner.start(f"echo $$ >> pids; kill -{int(number)} $PPID; exec sleep 300")
    process.wait(PATIENCE)
    (pid,) = runner.pids(1)
    until(lambda: not alive(pid))


def test_a_program_that_has_ended_leaves_others_to_live(runner: Runner) -> None:
    process = runner.start("sleep 300 & echo $! >> pids")
    assert process.wait(PATIENCE) == 0
    (pid,) = runner.pids(1)
    until(lambda: "sleep" in Path(f"/proc/{pid}/cmdline").read_text())
    assert alive(pid)


def test_no_descriptor_is_left() -> None:
    limits, before = RunLimits(30, OutputCap(99)), sorted(os.listdir("/proc/self/fd"))
    run_program.run_program(["true"], limits)
    with pytest.raises(FileNotFoundError):
        run_program.run_program(["/no/such"], limits)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_what_its_caller_ignores_stays_ignored_and_what_it_handles_is_handled() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    ignored = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        line = "kill -TERM $PPID; kill -HUP $PPID; exec sleep 0.1"
        done = run_program.run_program(["/bin/sh", "-c", line], RunLimits(PATIENCE, OutputCap(99)))
        assert (done.ended, heard) == (True, [signal.SIGTERM])
    finally:
        signal.signal(signal.SIGTERM, before)
        signal.signal(signal.SIGHUP, ignored)
