"""Running a fix: in the caller's terminal, where it may ask for a password, its output on standard error.

What it leaves running on purpose (a service, a tunnel) is left; what is still at work when its time is up or when the
caller goes is ended with everything below it.
"""

from __future__ import annotations

import os
import subprocess

from midwatch.system import procfs, terminate_tree
from midwatch.system.child_environment import without_secrets

LIMIT = 1800.0
"""Seconds: an install may be long, but a night must not pass with it."""
SHELL = "/bin/sh"


def run(command: str, cwd: str, limit: float = LIMIT) -> int | None:
    """The exit code of a shell command (below 0: the signal that killed it); None when its time was up."""
    process = subprocess.Popen([SHELL, "-c", command], cwd=cwd, stdout=2, env=without_secrets(os.environ))
    start = procfs.start_time(process.pid)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.returncode is None:
            terminate_tree.end_tree(lambda: {process.pid: start})
            process.poll()
