"""Other Unix users of this machine, for tests of what one of them could do to another."""

from __future__ import annotations

import functools
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

VICTIM, ATTACKER = "daemon", "nobody"
"""Accounts that every Linux has: tmux grants access to names only."""


def uid(name: str) -> int:
    return pwd.getpwnam(name).pw_uid


def become(name: str) -> list[str]:
    """The beginning of a command that runs as that user. Only root can: without, CI fails and others skip."""
    if os.geteuid() != 0:
        if os.environ.get("CI") == "true":
            pytest.fail("a second user is needed: run the tests as root")
        pytest.skip("a second user is needed, and only root can be one")
    return ["setpriv", f"--reuid={uid(name)}", f"--regid={uid(name)}", "--clear-groups", *_reach(), "--"]


@functools.cache
def _reach() -> tuple[str, ...]:
    """An interpreter in root's home can be run by nobody else, unless they may pass through directories."""
    plain = ["setpriv", f"--reuid={uid(VICTIM)}", "--clear-groups", "--", sys.executable, "-c", "import midwatch"]
    if subprocess.run(plain, capture_output=True, check=False, cwd="/").returncode == 0:
        return ()
    return ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")


@contextmanager
def shared_place() -> Iterator[Path]:
    """A directory that all users can enter; pytest's own are for one user."""
    place = Path(tempfile.mkdtemp(prefix="dw-", dir="/tmp"))  # paths of sockets must be short
    place.chmod(0o755)
    try:
        yield place
    finally:
        shutil.rmtree(place)
