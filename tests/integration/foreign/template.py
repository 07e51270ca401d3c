"""Work under a wrapper that behaves as the one of the protocol that Midwatch replaces, and processes to test with."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import Box, kill, until

WRAPPER = Path(__file__).parents[3] / "bench" / "agentic_process_monitor_wrapper.sh"


@contextlib.contextmanager
def wrapped(box: Box, step: str, command: str, directory: Path | None = None) -> Iterator[int]:
    """Run a command under agentic-process-monitor's wrapper; gives the wrapper's pid once its pid file is written.

    At the end everything that it started is ended: it has a process group of its own.
    """
    directory = directory or box.dir
    call = ["bash", str(WRAPPER), step, str(directory), "bash", "-c", command]
    silent = subprocess.DEVNULL
    with subprocess.Popen(call, cwd=box.cwd, start_new_session=True, stdin=silent, stdout=silent, stderr=silent) as run:
        try:
            pid_file = directory / f"{step}.pid"
            until(lambda: pid_file.exists() and pid_file.read_text() == f"{run.pid}\n", directory)
            yield run.pid
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)


@contextlib.contextmanager
def sleeper() -> Iterator[int]:
    """A living process that belongs to this test alone."""
    with subprocess.Popen(["sleep", "300"]) as process:
        try:
            yield process.pid
        finally:
            kill(process.pid, signal.SIGKILL)


def dead_pid() -> int:
    """The pid of a process that was there and has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid
