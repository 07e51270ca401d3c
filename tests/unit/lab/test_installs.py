"""How the agents get to where the lab finds them, with a stand-in for npm."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lab import installs

NPM = """#!/bin/sh
printf '%s\\n' "$@" > "$CALLED"
env > "$CALLED.env"
touch "$HOME/droppings" "$TMPDIR/more"
[ -n "$FAIL" ] && { echo "E404 no such package" >&2; exit 1; }
mkdir -p node_modules/.bin && touch node_modules/.bin/claude
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with an npm that notes how it is called; installs go to `agents`."""
    for name in ("home", "bin"):
        (tmp_path / name).mkdir()
    npm = tmp_path / "bin" / "npm"
    npm.write_text(NPM)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{npm.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CALLED", str(tmp_path / "called"))
    monkeypatch.setenv("DOGWATCH_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    return tmp_path


class Said(NamedTuple):
    code: int
    out: str
    err: str


Script = Callable[..., Said]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Script:
    """`scripts/agents`, without the cost of an interpreter."""

    def run(*arguments: str) -> Said:
        monkeypatch.setattr(sys, "argv", ["agents", *arguments])
        code: object = 0
        try:
            installs.main()
        except SystemExit as end:
            code = end.code
        out, err = capsys.readouterr()
        return Said(code, out, err) if isinstance(code, int) else Said(1, out, err + str(code))

    return run


def test_an_agent_is_installed_once(script: Script, place: Path) -> None:
    pinned = installs.pins()["claude"]["current"]
    with pytest.raises(installs.NotInstalled, match=r"run scripts/agents claude$"):
        installs.find("claude")
    first = script("claude")
    assert first.code == 0, first
    assert (place / "called").read_text().splitlines()[-1] == pinned.packages[0]
    assert installs.find("claude") == installs.find("claude", pinned.version) == pinned
    (place / "called").unlink()
    assert ": here" in script("claude").out
    assert not (place / "called").exists()


def test_the_older_version_is_another_install(script: Script, place: Path) -> None:
    assert script("claude", "--previous").code == 0
    assert installs.find("claude", "previous").directory.parent == place / "agents"
    with pytest.raises(installs.NotInstalled):
        installs.find("claude")
    with pytest.raises(installs.NotInstalled, match="none of the versions"):
        installs.find("claude", "0.0.1")


def test_scripts_of_packages_have_a_home_of_their_own(script: Script, place: Path) -> None:
    """And that is gone in the end; npm itself goes by the user's settings and cache."""
    assert script("claude").code == 0
    given = dict(line.split("=", 1) for line in (place / "called.env").read_text().splitlines() if "=" in line)
    assert Path(given["HOME"]).is_relative_to(place / "agents")
    assert given["NPM_CONFIG_USERCONFIG"] == str(place / "home" / ".npmrc")
    assert given["NPM_CONFIG_CACHE"] == str(place / "home" / ".npm")
    assert "XDG_CONFIG_HOME" not in given
    assert list((place / "home").iterdir()) == []
    assert not list((place / "agents").rglob("droppings"))


def test_a_failed_install_leaves_nothing(script: Script, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", "yes")
    failed = script("claude")
    assert failed.code == 1
    assert "E404 no such package" in failed.err
    assert [path.name for path in (place / "agents").iterdir()] == [".lock"]


def test_an_install_of_other_packages_is_none(script: Script, place: Path) -> None:
    """As when a pin has changed and the version has not."""
    assert script("claude").code == 0
    stamp = installs.find("claude").directory / installs.STAMP
    stamp.write_text(json.dumps(["something else"]))
    with pytest.raises(installs.NotInstalled):
        installs.find("claude")
    assert stamp.is_relative_to(place)


def test_where_installs_nothing(script: Script, place: Path) -> None:
    told = script("--where", "--all").out.splitlines()
    assert len(told) == 2 * len(installs.pins())
    assert all(line.endswith("missing") and str(place / "agents") in line for line in told)
    assert not (place / "agents").exists()


def test_an_unknown_agent_is_an_error(script: Script, place: Path) -> None:
    assert "unknown agent nobody" in script("nobody").err
    assert not (place / "agents").exists()
