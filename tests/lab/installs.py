"""Where the agents are installed, and how they get there (`scripts/agents`).

One directory per agent and version. It appears whole or not at all: npm works in a directory beside it that is
renamed at the end. An install counts only when the packages in it have the versions that were asked for.

What npm may bring for a pinned release stands in `locks/`: every package with its version and hash. npm runs no script
of a package; those that an agent cannot do without (`scripts` in agents.toml) run after the hashes were compared.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
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
LOCKS = Path(__file__).with_name("locks")
STAMP = ".installed"
Packages = dict[str, dict[str, Any]]
"""Path below the install → what npm noted of the package there."""


class NotInstalled(Exception):  # noqa: N818
    """An agent is not there; the message says how to get it."""


@dataclass(frozen=True)
class Install:
    """One agent at one version."""

    agent: str
    version: str
    packages: tuple[str, ...]
    command: str
    scripts: tuple[str, ...] = ()
    """Packages whose install scripts must run."""
    pinned: bool = True

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
        return bool(stamp == self.stamp) and self.program.exists() and not differences(self, self.modules)

    @property
    def lock(self) -> Path:
        return LOCKS / f"{self.agent}-{self.version}.json"

    @property
    def stamp(self) -> list[str]:
        """What was asked for: another lock is another install."""
        return [*self.packages, hashlib.sha256(self.lock.read_bytes()).hexdigest() if self.pinned else "not locked"]


def root() -> Path:
    """Directory that holds all installs; outside the repository, kept between runs."""
    if given := os.environ.get("MIDWATCH_AGENTS"):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "midwatch", "agents").absolute()


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
    packages = tuple(f"{name}@{version}" for name in entry["packages"])
    pinned = version in (entry["current"], entry["previous"])
    return Install(agent, version, packages, entry["command"], tuple(entry.get("scripts", ())), pinned)


def find(agent: str, version: str | None = None) -> Install:
    """The install of an agent: any version, "current" (the default) or "previous"; raises NotInstalled."""
    wanted = version or "current"
    install = pins()[agent].get(wanted) or release(agent, wanted)
    if not (install.here and nodejs().here):
        raise NotInstalled(f"{agent} {install.version} is not installed: run scripts/agents {agent}@{install.version}")
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


def fetch(install: Install, *, relock: bool = False) -> None:
    """Install with npm; leaves nothing behind when that fails, or when it brought anything else than the lock names.

    A release that is not pinned has no lock: `make newest` tries what appeared today. `relock`: what npm brings
    now becomes the lock.
    """
    new = root() / f".new-{install.directory.name}"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        _npm_install(install, new, _read_lock(install) if install.pinned and not relock else None)
        if relock:
            LOCKS.mkdir(exist_ok=True)
            install.lock.write_text(json.dumps(installed(new / "node_modules"), indent=1, sort_keys=True) + "\n")
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    (new / STAMP).write_text(json.dumps(install.stamp))
    shutil.rmtree(install.directory, ignore_errors=True)
    new.rename(install.directory)


def _npm_install(install: Install, new: Path, lock: Packages | None) -> None:
    wanted = {name: version for name, _, version in (each.rpartition("@") for each in install.packages)}
    (new / "package.json").write_text(json.dumps({"dependencies": wanted}))
    if lock is not None:
        tree = {"lockfileVersion": 3, "requires": True, "packages": {"": {"dependencies": wanted}, **lock}}
        (new / "package-lock.json").write_text(json.dumps(tree))
    _npm(install, new, "install", "--ignore-scripts", "--no-save")
    if wrong := differences(install, new / "node_modules"):
        raise SystemExit(f"agents: npm installed another release: {'; '.join(wrong)}")
    if lock is not None and (strange := _not_locked(installed(new / "node_modules"), lock)):
        raise SystemExit(
            f"agents: {install.agent} {install.version}: not as in {install.lock.name}: {', '.join(strange)}. "
            "If these packages are for another kind of machine, write the lock anew there: scripts/agents --lock"
        )
    if install.scripts:
        _npm(install, new, "rebuild", *install.scripts)
    if not (new / "node_modules" / ".bin" / install.command).exists():
        raise SystemExit(f"agents: npm installed {' '.join(install.packages)}, which has no program {install.command}")


def _npm(install: Install, new: Path, *words: str) -> None:
    # Scripts of packages start the agent to try it (OpenCode's does), and it must not settle in the user's home.
    scratch = new / ".home"
    scratch.mkdir()
    home = os.path.expanduser("~")
    own = {"NPM_CONFIG_USERCONFIG": os.path.join(home, ".npmrc"), "NPM_CONFIG_CACHE": os.path.join(home, ".npm")}
    env = own | _environment() | {"HOME": str(scratch), "TMPDIR": str(scratch)}
    env = {name: value for name, value in env.items() if not name.startswith("XDG_")}
    command = [*nodejs().npm, *words, "--no-audit", "--no-fund", "--loglevel=error"]
    call = subprocess.run(command, cwd=new, env=env, capture_output=True, text=True, check=False)
    shutil.rmtree(scratch, ignore_errors=True)
    if call.returncode:
        asked = " ".join(install.packages)
        raise SystemExit(f"agents: npm could not install {asked} (exit {call.returncode})\n{_tail(call)}")


def installed(modules: Path) -> Packages:
    """Every package of an install, as npm noted it, without addresses."""
    noted = json.loads((modules / ".package-lock.json").read_text())["packages"]
    return {
        path: {key: each for key, each in found.items() if key not in ("resolved", "funding")}
        for path, found in noted.items()
    }


def _read_lock(install: Install) -> Packages:
    try:
        found: Packages = json.loads(install.lock.read_text())
    except FileNotFoundError:
        raise SystemExit(
            f"agents: {install.agent} {install.version} has no lock: run scripts/agents --lock {install.agent}"
        ) from None
    return found


def _not_locked(found: Packages, lock: Packages) -> list[str]:
    """Packages that the lock does not name with this version and hash."""

    def proof(package: dict[str, Any]) -> tuple[Any, Any]:
        return package.get("version"), package.get("integrity")

    return [path for path, each in found.items() if path not in lock or proof(each) != proof(lock[path])]


def _environment() -> dict[str, str]:
    """The caller's, in which npm and the scripts of packages find the lab's Node first."""
    return dict(os.environ) | {"PATH": nodejs().path(os.environ["PATH"])}


def _tail(call: subprocess.CompletedProcess[str]) -> str:
    return "\n".join((call.stderr or call.stdout).strip().splitlines()[-12:])


def bring(wanted: Sequence[Install], *, relock: bool = False) -> None:
    """Install what is not there yet, or all for new locks; one process at a time, and each says what it does."""
    with _alone():
        for number, install in enumerate(wanted, 1):
            name = f"[{number}/{len(wanted)}] {install.agent} {install.version}"
            if not relock and install.here:
                print(f"{name}: here", flush=True)
                continue
            print(f"{name}: installing …", flush=True)
            began = time.monotonic()
            fetch(install, relock=relock)
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
    parser.add_argument("--lock", action="store_true", help="install anew what is pinned, and write it into locks/")
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
    bring(wanted, relock=asked.lock)


if __name__ == "__main__":
    main()
