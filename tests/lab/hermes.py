"""Where Hermes is installed, whose kanban board the tests write to, and how it gets there (`scripts/hermes`).

A virtual environment per version, outside the repository and kept between runs. It counts when its stamp is there,
which comes last: the programs of such a directory know its name, so that it cannot be made elsewhere and renamed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from tests.lab.installs import STAMP, NotInstalled

REPOSITORY = Path(__file__).parents[2]
LOCK = REPOSITORY / "requirements" / "hermes.txt"
PACKAGE = next(word for word in LOCK.read_text().split() if word.startswith("hermes-agent=="))
VERSION = PACKAGE.partition("==")[2]


def root() -> Path:
    if given := os.environ.get("MIDWATCH_HERMES_HOME"):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "midwatch", "hermes").absolute()


def directory() -> Path:
    return root() / VERSION


def here() -> bool:
    try:
        return (directory() / STAMP).read_text() == PACKAGE and program().exists()
    except OSError:
        return False


def program() -> Path:
    return directory() / "bin" / "hermes"


def find() -> Path:
    """Its program; raises NotInstalled."""
    if not here():
        raise NotInstalled(f"Hermes {VERSION} is not installed: run scripts/hermes")
    return program()


def fetch() -> None:
    """Install with pip; what fails leaves nothing behind."""
    place = directory()
    shutil.rmtree(place, ignore_errors=True)
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input", "--require-hashes")
    for command in (
        ["scripts/venv", str(place)],
        [str(place / "bin" / "python"), "-m", "pip", "install", *quiet, "--requirement", str(LOCK)],
    ):
        env = os.environ | {"PYTHON": sys.executable}
        call = subprocess.run(command, cwd=REPOSITORY, env=env, capture_output=True, text=True, check=False)
        if call.returncode:
            shutil.rmtree(place, ignore_errors=True)
            said = "\n".join((call.stderr or call.stdout).strip().splitlines()[-12:])
            raise SystemExit(f"hermes: pip could not install {PACKAGE} (exit {call.returncode})\n{said}")
    if not program().exists():
        raise SystemExit(f"hermes: {PACKAGE} has no program called hermes")
    (place / STAMP).write_text(PACKAGE)


def main() -> None:
    root().mkdir(parents=True, exist_ok=True)
    with open(root() / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if here():
            print(f"hermes {VERSION}: here")
            return
        print(f"hermes {VERSION}: installing …", flush=True)
        began = time.monotonic()
        fetch()
        print(f"hermes {VERSION}: {directory()} ({time.monotonic() - began:.0f} s)")


if __name__ == "__main__":
    main()
