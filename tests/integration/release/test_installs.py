"""The documented ways to install, into an empty home, with every Python from 3.11 on that this machine has.

What Midwatch needs comes from the package index that pip is set up for.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import midwatch
from tests.conftest import PATIENCE
from tests.integration.release.test_dist import ROOT, call, copied

HERE = Path(sys.executable).parent
OLDEST = (3, 11)


def pythons() -> dict[str, str]:
    """One interpreter of each version, the one that runs this first."""
    versions = f"{os.environ.get('PYENV_ROOT', os.path.expanduser('~/.pyenv'))}/versions/*/bin/python3"
    names = [f"python3.{minor}" for minor in range(OLDEST[1], OLDEST[1] + 10)]
    found: dict[str, str] = {}
    for path in (sys.executable, *filter(None, map(shutil.which, names)), *sorted(glob.glob(versions))):
        told = subprocess.run(
            [path, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if told.returncode == 0 and tuple(map(int, told.stdout.split())) >= OLDEST:
            found.setdefault(told.stdout.strip().replace(" ", "."), path)
    return found


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (sources := tmp_path_factory.mktemp("somewhere") / "checkout").mkdir()
    return copied(sources)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home, in which the settings of pip still count: they say where packages come from."""
    settings = [os.path.expanduser(path) for path in ("~/.config/pip/pip.conf", "~/.pip/pip.conf")]
    own = next((path for path in settings if os.path.exists(path)), None)
    monkeypatch.setenv("HOME", str(tmp_path))
    if own and "PIP_CONFIG_FILE" not in os.environ:
        monkeypatch.setenv("PIP_CONFIG_FILE", own)
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_BIN_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def execute(*command: str | Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=os.environ | env, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=PATIENCE * 6, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def check(programs: Path, home: Path) -> None:
    """Whether the installed commands do their work: a job is run, waited for and listed."""
    (home / "project").mkdir(exist_ok=True)
    tool = programs / "midwatch"
    env = {"PATH": f"{programs}:{os.defpath}", "MIDWATCH_HOME": str(home / "jobs")}
    assert execute(tool, "--version", cwd=home) == f"midwatch {midwatch.__version__}\n"
    execute(tool, "run", "-d", "--name", "job", "--", "midwatch", "beat", "--note", "here", cwd=home, **env)
    assert json.loads(execute(tool, "wait", "job", "--json", cwd=home, **env))["state"] == "completed"
    assert "completed" in execute(tool, "ls", cwd=home, **env)
    assert execute(programs / "story-automator", "validate-story-creation", "prefix", "5.3", cwd=home) == "5-3\n"


@pytest.mark.parametrize("python", pythons().values(), ids=pythons().keys())
def test_pip_installs_the_checkout_with_notifications_and_the_wheel(python: str, checkout: Path, home: Path) -> None:
    execute(python, "-m", "venv", home / "venv", cwd=home)
    programs = home / "venv" / "bin"
    execute(programs / "pip", "install", "--quiet", ".[notify]", cwd=checkout)
    check(programs, home)
    execute(programs / "python", "-c", "import apprise", cwd=home)

    call(sys.executable, checkout / "scripts/dist", home / "out")
    (wheel,) = (home / "out").glob("*.whl")
    execute(python, "-m", "venv", "--clear", home / "venv", cwd=home)
    execute(programs / "pip", "install", "--quiet", wheel, cwd=home)
    check(programs, home)


@pytest.mark.parametrize("way", [("uv", "tool", "install"), ("pipx", "install")], ids=" ".join)
def test_a_tool_installer_puts_the_commands_where_the_shell_finds_them(
    way: tuple[str, ...], checkout: Path, home: Path
) -> None:
    *_, newest = pythons().values()
    execute(HERE / way[0], *way[1:], "--python", newest, ".", cwd=checkout)
    check(home / ".local" / "bin", home)


def test_make_install_prints_where_the_command_is() -> None:
    said = execute("make", "--no-print-directory", "install", cwd=ROOT)
    assert said.splitlines()[-1].startswith(f"installed: {ROOT}/.venv/bin/midwatch")
