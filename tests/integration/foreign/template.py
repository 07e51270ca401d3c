"""The wrapper that seed 1 publishes, word for word but for the command in place of ``your_command --args``."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import Box, kill, until

TEMPLATE = r"""#!/usr/bin/env bash
set -uo pipefail
STEP="${1:?step name required}"
MONITOR_DIR="${2:-/tmp/monitor}"
mkdir -p "$MONITOR_DIR"

echo $$ > "${MONITOR_DIR}/${STEP}.pid"

# Heartbeat: touch file every 10s in background
(while true; do touch "${MONITOR_DIR}/${STEP}.heartbeat"; sleep 10; done) &
HB_PID=$!
trap "kill $HB_PID 2>/dev/null" EXIT

# === YOUR WORK HERE ===
if your_command --args 2>"${MONITOR_DIR}/${STEP}.log"; then
    echo "SUCCESS" > "${MONITOR_DIR}/${STEP}.status"
    echo '{"key": "value"}' > "${MONITOR_DIR}/${STEP}.result"
else
    echo "FAILED" > "${MONITOR_DIR}/${STEP}.status"
fi
"""


@contextlib.contextmanager
def wrapped(box: Box, step: str, command: str, directory: Path | None = None) -> Iterator[int]:
    """Run a command under the seed's wrapper; gives the wrapper's pid once its pid file is written.

    At the end everything that it started is ended: it has a process group of its own.
    """
    directory = directory or box.dir
    script = box.cwd / f"{step}.sh"
    script.write_text(TEMPLATE.replace("your_command --args", command))
    call = ["bash", str(script), step, str(directory)]
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
