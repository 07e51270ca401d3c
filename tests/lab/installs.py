"""Where the agents are installed, and how they get there (`scripts/agents`).

One directory per agent and version. It appears whole or not at all: npm works in a directory beside it that is
renamed at the end. An install counts only when the packages in it have the versions that were asked for.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.lab import node
from tests.lab.node import Node

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
        return bool(stamp == list(self.packages)) and self.program.exists() and not differences(self, self.modules)


def root() -> Path:
    """Directory that holds all installs; outside the repository, kept between runs."""
    if given := os.environ.get("DOGWATCH_AGENTS"):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "dogwatch", "agents").absolute()


def nodejs() -> Node:
    return Node(root() / f"node-{node.VERSION}")


def pins() -> dict[str, dict[str, Install]]:
    """Agent → "current" and "previous" → install."""
    return {
        agent: {age: _install(agent, entry, entry[age]) for age in ("current", "previous")}
        for agent, entry in _table().items()
    }


def release(agent: str, version: str) -> Install:
    """An agent at any version."""
    return _install(agent, _table()[agent], version)


def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(PINS.read_text())


def _install(agent: str, entry: dict[str, Any], version: str) -> Install:
    return Install(agent, version, tuple(f"{name}@{version}" for name in entry["packages"]), entry["command"])


def find(agent: str, version: str | None = None) -> Install:
    """The install of an agent: any version, "current" (the default) or "previous"; raises NotInstalled."""
    wanted = version or "current"
    install = pins()[agent].get(wanted) or release(agent, wanted)
    if not (install.here and nodejs().here):
        raise NotInstalled(
            f"{agent} {install.version} is not installed: run scripts/agents {agent}@{install.version}"
        )
    return install


def newest(agent: str) -> Install:
    """The release that npm calls the latest today, whichever Node it needs; raises SystemExit."""
    package = _table()[agent]["packages"][0]
    command = [*nodejs().npm, "view", "--loglevel=error", package, "dist-tags.latest"]
    call = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    version = call.stdout.strip()
    if call.returncode or not version:
        raise SystemExit(f"agents: npm does not tell the newest {package} (exit {call.returncode})\n{_tail(call)}")
    return release(agent, version)


def differences(install: Install, modules: Path) -> list[str]:
    """Packages that are not there in the version that was asked for, in words."""
    found = []
    for package in install.packages:
        name, _, wanted = package.rpartition("@")
        try:
            has = json.loads((modules / name / "package.json").read_text())["version"]
        except (OSError, ValueError, KeyError):
            has = "nothing"
        if has != wanted:
            found.append(f"asked for {name} {wanted}, got {has}")
    return found


def fetch(install: Install) -> None:
    """Install with npm; leaves nothing behind when that fails, or when it brought another version."""
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
    env = own | _environment() | {"HOME": str(scratch), "TMPDIR": str(scratch)}
    env = {name: value for name, value in env.items() if not name.startswith("XDG_")}
    command = [*nodejs().npm, "install", *quiet, *install.packages]
    call = subprocess.run(command, cwd=new, env=env, capture_output=True, text=True, check=False)
    if call.returncode or not (new / "node_modules" / ".bin" / install.command).exists():
        shutil.rmtree(new, ignore_errors=True)
        asked = " ".join(install.packages)
        raise SystemExit(f"agents: npm could not install {asked} (exit {call.returncode})\n{_tail(call)}")
    if wrong := differences(install, new / "node_modules"):
        shutil.rmtree(new, ignore_errors=True)
        raise SystemExit(f"agents: npm installed another release: {'; '.join(wrong)}")
    shutil.rmtree(scratch, ignore_errors=True)
    (new / STAMP).write_text(json.dumps(list(install.packages)))
    shutil.rmtree(install.directory, ignore_errors=True)
    new.rename(install.directory)


def _environment() -> dict[str, str]:
    """The caller's, in which npm and the scripts of packages find the lab's Node first."""
    return dict(os.environ) | {"PATH": nodejs().path(os.environ["PATH"])}


def _tail(call: subprocess.CompletedProcess[str]) -> str:
    return "\n".join((call.stderr or call.stdout).strip().splitlines()[-12:])


def bring(wanted: Sequence[Install]) -> None:
    """Install what is not there yet; one process at a time, and each says what it does."""
    with _alone():
        for number, install in enumerate(wanted, 1):
            name = f"[{number}/{len(wanted)}] {install.agent} {install.version}"
            if install.here:
                print(f"{name}: here", flush=True)
                continue
            print(f"{name}: installing …", flush=True)
            began = time.monotonic()
            fetch(install)
            print(f"{name}: {install.directory} ({time.monotonic() - began:.0f} s)", flush=True)


def bring_node() -> None:
    """Install Node unless it is there."""
    with _alone():
        pass


@contextmanager
def _alone() -> Iterator[None]:
    """The only process that installs, with Node in place."""
    root().mkdir(parents=True, exist_ok=True)
    with open(root() / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not nodejs().here:
            print(f"node {node.VERSION}: installing …", flush=True)
            nodejs().fetch()
        yield


def main() -> None:
    known = pins()
    parser = argparse.ArgumentParser(prog="scripts/agents", description="Install the agents that tests/lab runs.")
    names = f"one of {', '.join(known)}; NAME@VERSION names a release; none means all"
    parser.add_argument("agent", nargs="*", help=names)
    ages = parser.add_mutually_exclusive_group()
    ages.add_argument("--previous", action="store_true", help="the older pinned version of each instead")
    ages.add_argument("--all", action="store_true", help="both pinned versions of each")
    ages.add_argument("--newest", action="store_true", help="today's newest release of each, as npm tells")
    parser.add_argument(
        "--where", action="store_true", help="install nothing; print where each is and whether it is there"
    )
    asked = parser.parse_args()
    if strange := [name for name in asked.agent if name.partition("@")[0] not in known]:
        parser.error(f"unknown agent {strange[0]}: choose from {', '.join(known)}")
    if asked.newest:
        bring_node()
    wanted: list[Install] = []
    for name, _, version in (each.partition("@") for each in asked.agent or known):
        if version:
            wanted.append(release(name, version))
        elif asked.newest:
            wanted.append(newest(name))
        else:
            chosen = ("current", "previous") if asked.all else ("previous" if asked.previous else "current",)
            wanted += [known[name][age] for age in chosen]
    if asked.where:
        for install in wanted:
            print(f"{install.agent} {install.version} {install.program} {'here' if install.here else 'missing'}")
        return
    bring(wanted)


if __name__ == "__main__":
    main()
