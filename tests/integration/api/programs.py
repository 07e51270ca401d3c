"""Programs that use the API: short scripts, run as a user would run them."""

import subprocess
import sys
import textwrap

from tests.conftest import PATIENCE, Box, Done

PRELUDE = """
import json, os, sys
import dogwatch
def read(path):
    with open(path) as file:
        return file.read()
def fds():
    found = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return sorted(os.readlink(path) for path in found if os.path.lexists(path))
def children():
    return read(f"/proc/self/task/{os.getpid()}/children").split()
def record(name):
    return json.loads(read(f"{os.environ['DOGWATCH_HOME']}/{name}.json"))
"""


def program(box: Box, script: str, **env: str) -> Done:
    """Run a script to its end, with warnings as errors."""
    return Done(
        subprocess.run(
            [sys.executable, "-W", "error", "-c", PRELUDE + textwrap.dedent(script)], env=box.env | env, cwd=box.cwd,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE * 2, check=False,
        )
    )  # fmt: skip


def said(done: Done) -> list[str]:
    """What a program printed, if nothing went wrong in it."""
    assert (done.code, done.err) == (0, ""), done
    return done.out.splitlines()
