"""Programs that use the API: short scripts, run as a user would run them."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from typing import Self

from tests.conftest import PATIENCE, Box, Done

PRELUDE = """
import json, os, sys
import midwatch
def read(path):
    with open(path) as file:
        return file.read()
def fds():
    found = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
    return sorted(os.readlink(path) for path in found if os.path.lexists(path))
def children():
    return read(f"/proc/self/task/{os.getpid()}/children").split()
def record(name):
    return json.loads(read(f"{os.environ['MIDWATCH_HOME']}/{name}.json"))
"""


class Program:
    """A script at work, with warnings as errors; it ends with the block that it is used in."""

    def __init__(self, box: Box, script: str, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", PRELUDE + textwrap.dedent(script)], env=box.env | env, cwd=box.cwd,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def done(self) -> Done:
        """What it came to."""
        out, err = self.process.communicate(timeout=PATIENCE * 2)
        return Done(subprocess.CompletedProcess(self.process.args, self.process.returncode, out, err))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def started(box: Box, script: str, **given: object) -> Program:
    """Start a script that finds these values under their names."""
    values = "".join(f"{name} = {value!r}\n" for name, value in given.items())
    return Program(box, values + textwrap.dedent(script), {})


def program(box: Box, script: str, **env: str) -> Done:
    """Run a script to its end, with warnings as errors."""
    with Program(box, script, env) as running:
        return running.done()


def said(done: Done) -> list[str]:
    """What a program printed, if nothing went wrong in it."""
    assert (done.code, done.err) == (0, ""), done
    return done.out.splitlines()
