"""Where the agents are installed, and how they get there (`scripts/agents`).

One directory per agent and version. It appears whole or not at all: npm works in a directory beside it that is
renamed at the end.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINS = Path(__file__).with_name("agents.toml")
STAMP = ".installed"


class NotInstalled(Exception):  # noqa: N818
    """An agent is not there; the message says how to get it."""


@dataclass(frozen=True)
class Install:
    """One agent at one version."""

    agent: str
    version: str
    packages: tuple[str, ...]
    command: str

    @property
    def directory(self) -> Path:
        return root() / f"{self.agent}-{self.version}"

    @property
    def modules(self) -> Path:
        return self.directory / "node_modules"

    @property
    def program(self) -> Path:
        return self.modules / ".bin" / self.command

    @property
    def here(self) -> bool:
        try:
            stamp = json.loads((self.directory / STAMP).read_text())
        except (OSError, ValueError):
            return False
        return bool(stamp == list(self.packages)) and self.program.exists()


def root() -> Path:
    """Directory that holds all installs; outside the repository, kept between runs."""
    if given := os.environ.get("DOGWATCH_AGENTS"):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "dogwatch", "agents").absolute()


def pins() -> dict[str, dict[str, Install]]:
    """Agent → "current" and "previous" → install."""
    table: dict[str, dict[str, Any]] = tomllib.loads(PINS.read_text())
    return {
        agent: {
            age: Install(agent, entry[age]["version"], tuple(entry[age]["packages"]), entry["command"])
            for age in ("current", "previous")
        }
        for agent, entry in table.items()
    }


def find(agent: str, version: str | None = None) -> Install:
    """The install of an agent: a pinned version, "current" (the default) or "previous"; raises NotInstalled."""
    known = pins()[agent]
    wanted = version or "current"
    for age, install in known.items():
        if wanted in (age, install.version):
            if not install.here:
                flag = "" if age == "current" else "--previous "
                raise NotInstalled(f"{agent} {install.version} is not installed: run scripts/agents {flag}{agent}")
            return install
    raise NotInstalled(f"{agent} {wanted} is none of the versions in {PINS.name}")


def fetch(install: Install) -> None:
    """Install with npm; leaves nothing behind when that fails."""
    new = root() / f".new-{install.directory.name}"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    (new / "package.json").write_text("{}\n")
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--no-save", "--loglevel=error"]
    # Scripts of packages start the agent to try it (OpenCode's does), and it must not settle in the user's home.
    scratch = new / ".home"
    scratch.mkdir()
    home = os.path.expanduser("~")
    own = {"NPM_CONFIG_USERCONFIG": os.path.join(home, ".npmrc"), "NPM_CONFIG_CACHE": os.path.join(home, ".npm")}
    env = own | dict(os.environ) | {"HOME": str(scratch), "TMPDIR": str(scratch)}
    env = {name: value for name, value in env.items() if not name.startswith("XDG_")}
    call = subprocess.run(
        ["npm", "install", *quiet, *install.packages], cwd=new, env=env, capture_output=True, text=True, check=False
    )
    if call.returncode or not (new / "node_modules" / ".bin" / install.command).exists():
        shutil.rmtree(new, ignore_errors=True)
        said = "\n".join((call.stderr or call.stdout).strip().splitlines()[-12:])
        raise SystemExit(f"agents: npm could not install {' '.join(install.packages)} (exit {call.returncode})\n{said}")
    shutil.rmtree(scratch, ignore_errors=True)
    (new / STAMP).write_text(json.dumps(list(install.packages)))
    shutil.rmtree(install.directory, ignore_errors=True)
    new.rename(install.directory)


def bring(wanted: Sequence[Install]) -> None:
    """Install what is not there yet; one process at a time, and each says what it does."""
    if shutil.which("npm") is None:
        sys.exit("agents: npm is missing (on Debian: apt-get install npm)")
    root().mkdir(parents=True, exist_ok=True)
    with open(root() / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for number, install in enumerate(wanted, 1):
            name = f"[{number}/{len(wanted)}] {install.agent} {install.version}"
            if install.here:
                print(f"{name}: here", flush=True)
                continue
            print(f"{name}: installing …", flush=True)
            began = time.monotonic()
            fetch(install)
            print(f"{name}: {install.directory} ({time.monotonic() - began:.0f} s)", flush=True)


def main() -> None:
    known = pins()
    parser = argparse.ArgumentParser(prog="scripts/agents", description="Install the agents that tests/lab runs.")
    parser.add_argument("agent", nargs="*", help=f"one of {', '.join(known)}; none means all")
    ages = parser.add_mutually_exclusive_group()
    ages.add_argument("--previous", action="store_true", help="the older pinned version of each instead")
    ages.add_argument("--all", action="store_true", help="both pinned versions of each")
    parser.add_argument(
        "--where", action="store_true", help="install nothing; print where each is and whether it is there"
    )
    asked = parser.parse_args()
    if strange := [name for name in asked.agent if name not in known]:
        parser.error(f"unknown agent {strange[0]}: choose from {', '.join(known)}")
    wanted_ages = ["current", "previous"] if asked.all else ["previous" if asked.previous else "current"]
    wanted = [known[agent][age] for agent in asked.agent or known for age in wanted_ages]
    if asked.where:
        for install in wanted:
            print(f"{install.agent} {install.version} {install.program} {'here' if install.here else 'missing'}")
        return
    bring(wanted)


if __name__ == "__main__":
    main()
