"""Processes that somebody else started: not children of the test, and none of Midwatch's."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

from midwatch.system import exit_status, processes, procfs
from tests.conftest import PATIENCE, Box, Done, kill, until

PARENT = """
import os, subprocess, sys
how, log, script = sys.argv[1:]
output = open(log, "ab") if log else subprocess.DEVNULL
quiet = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": subprocess.DEVNULL}
child = subprocess.Popen(["sh", "-c", script], start_new_session=True, **quiet)
print(child.pid, flush=True)
if how == "reaps":
    child.wait()
if how != "leaves":
    sys.stdin.read()
os._exit(0)
"""
"""A parent that waits for its child at once, never, or is gone before it ends: `reaps`, `forgets`, `leaves`."""


@contextlib.contextmanager
def stranger(script: str, how: str = "reaps", log: Path | None = None) -> Iterator[int]:
    """A shell that runs a script below a parent of its own; at the end all that it started is ended."""
    mark = f"stranger-{uuid.uuid4()}"
    parent = subprocess.Popen(
        [sys.executable, "-S", "-c", PARENT, how, str(log or ""), script],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"MIDWATCH_RUN": mark},
    )  # fmt: skip
    with parent:
        try:
            assert parent.stdout is not None
            pid = int(parent.stdout.readline())
            if how == "leaves":
                parent.wait(PATIENCE)
            yield pid
        finally:
            for each in processes.find_run_processes(mark):
                kill(each, signal.SIGKILL)
            parent.kill()


def adopt(box: Box, pid: int, *options: str, name: str = "job", **env: str) -> Done:
    done = box("adopt", "--pid", str(pid), "--name", name, *options, **env)
    assert done.code == 0, done
    return done


def until_ended(pid: int) -> None:
    """Wait until a process has ended, whether or not anybody has waited for it."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([pidfd], [], [], PATIENCE)[0], f"process {pid} did not end"
    finally:
        os.close(pidfd)


def below(pid: int, *names: str) -> list[int]:
    """What is below a process, once these programs, and no others, run there.

    A count would not do: a child that has not yet replaced itself by its program counts too, under its parent's name.
    """
    until(lambda: sorted(map(procfs.command_name, procfs.descendants(pid))) == sorted(names))
    return procfs.descendants(pid)


def kernel_keeps() -> bool:
    """Whether this kernel tells how a process ended although its parent has waited for it (Linux 6.15)."""
    with subprocess.Popen(["true"]) as process:
        pidfd = os.pidfd_open(process.pid)
        start = procfs.start_time(process.pid)
        process.wait()
        found, _ = exit_status.read_status(pidfd, process.pid, start)
        os.close(pidfd)
    return found is not None


def switches(pid: int) -> int:
    """How often a process has gone to sleep so far."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt_switches"))


def moments(box: Box) -> dict[str, float]:
    """When each source of progress last moved, as the keeper has it."""
    sources = json.loads(box.path("job.seen").read_text())["sources"]
    return {name: source["moved"] for name, source in sources.items()}
