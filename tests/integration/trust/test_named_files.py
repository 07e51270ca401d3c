"""The project's files that a trusted midwatch.toml names: trusted with it, by their content."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Box

COMMANDS = {
    "a check": '[[check]]\nrun = "scripts/check.sh"',
    "a check with a shell": '[[check]]\nrun = "cd . && sh ./scripts/check.sh --quiet; true"',
    "a name with a blank": "[[check]]\nrun = \"sh 'scripts/with blank.sh'\"",
    "a file of any name behind a shell": '[[check]]\nrun = "sh -eu scripts/plain"',
    "a fix": '[[check]]\ncommand = "sh"\nfix = "sh scripts/check.sh"',
    "a notification": '[notify]\ncommand = ["sh", "scripts/check.sh", "{text}"]',
    "what reads logs": '[parse]\ncommand = "cat | ./scripts/check.sh"',
    "what workers run": '[handoff]\ncommand = "scripts/check.sh {task}"',
    "the watchdog's words": '[watchdog]\nprompt = "scripts/check.sh"',
    "a password's command": '[mqtt]\nurl = "mqtt://127.0.0.1:9"\nusername = "a"\npassword_command = "scripts/check.sh"',
}


@pytest.fixture
def script(box: Box) -> Path:
    found = box.cwd / "scripts" / "check.sh"
    found.parent.mkdir()
    found.parent.chmod(0o755)
    for path in (found, found.with_name("with blank.sh")):
        path.write_text("#!/bin/sh\ntrue\n")
        path.chmod(0o755)
    found.with_name("plain").write_text("true\n")
    found.with_name("plain").chmod(0o644)
    return found


def write(box: Box, text: str) -> Path:
    path = box.cwd / "midwatch.toml"
    path.write_text(text + "\n")
    path.chmod(0o644)
    return path


def problem(box: Box, path: Path) -> str:
    """What `doctor` says of the file."""
    rows = [line for line in box("doctor").out.splitlines() if str(path.parent) in line and "trust" in line]
    return "\n".join(rows)


@pytest.mark.parametrize("text", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_script_that_was_changed_must_be_read_again(box: Box, script: Path, text: str) -> None:
    path = write(box, text)
    named = next((script.with_name(name) for name in ("with blank.sh", "plain") if name in text), script)
    shown = box("trust", "--yes")
    assert "Covered with it, by their content:" in shown.out
    assert f"  {named}\n" in shown.out
    assert "Not covered: what these call in turn" in shown.out
    assert problem(box, path) == ""
    named.write_text("#!/bin/sh\ntouch ran\n")
    assert f"{named}, which {path} names, was changed since you trusted it" in problem(box, path)
    assert box("trust", "--yes").code == 0
    assert problem(box, path) == ""


def test_a_changed_script_is_not_run(box: Box, script: Path) -> None:
    write(box, COMMANDS["a check"])
    box("trust", "--yes")
    assert box("preflight", "--json").json["ok"] is True
    script.write_text(f"#!/bin/sh\ntouch {box.cwd}/ran\n")
    found = box("preflight", "--json").json
    assert (found["ok"], found["ran"]) == (False, False)
    assert "was changed since you trusted it" in found["says"]
    assert not (box.cwd / "ran").exists()


def test_a_script_that_comes_later_must_be_read(box: Box, script: Path) -> None:
    path = write(box, COMMANDS["a check"])
    script.unlink()
    assert "No script of the project is named by its path." in box("trust", "--yes").out
    script.write_text(f"#!/bin/sh\ntouch {box.cwd}/ran\n")
    script.chmod(0o755)
    assert f"{script}, which {path} names, is not trusted: read it" in problem(box, path)
    assert box("preflight", "--json").json["ran"] is False
    assert not (box.cwd / "ran").exists()


def test_a_file_that_was_trusted_by_an_earlier_release_must_be_trusted_again(box: Box, script: Path) -> None:
    path = write(box, COMMANDS["a check"])
    box("trust", "--yes")
    listed = Path(box.env["HOME"]) / ".local" / "state" / "midwatch" / "trusted"
    listed.write_text("".join(line for line in listed.read_text().splitlines(keepends=True) if "check.sh" not in line))
    assert f"{script}, which {path} names, is not trusted" in problem(box, path)


def test_one_that_others_may_write_is_refused(box: Box, script: Path) -> None:
    path = write(box, COMMANDS["a check"])
    script.chmod(0o777)
    done = box("trust", "--yes")
    assert done.code == 12
    assert "chmod go-w" in done.err
    script.chmod(0o755)
    assert box("trust", "--yes").code == 0
    script.chmod(0o777)
    assert "chmod go-w" in problem(box, path)


def test_the_list_shows_them_and_they_go_with_the_file(box: Box, script: Path) -> None:
    path = write(box, COMMANDS["a check"])
    said = [json.loads(line) for line in box("trust", "--yes", "--json").out.splitlines()]
    assert [each["covers"] for each in said if "covers" in each] == [str(script)]
    (not_covered,) = [each["not_covered"] for each in said if "not_covered" in each]
    assert "words with no path or with `$` or `*`" in not_covered
    rows = {each["path"]: each["state"] for each in map(json.loads, box("trust", "--list", "--json").out.splitlines())}
    assert rows == {str(path): "trusted", str(script): "trusted"}
    script.write_text("other")
    rows = {each["path"]: each["state"] for each in map(json.loads, box("trust", "--list", "--json").out.splitlines())}
    assert rows == {str(path): "trusted", str(script): "changed"}
    assert box("trust", "--remove").code == 0
    assert box("trust", "--list", "--json").out == ""


def test_a_file_that_a_command_writes_does_not_take_the_trust_away(box: Box) -> None:
    path = write(box, '[[check]]\nrun = "date >> seen.log; cat seen.log"')
    box("trust", "--yes")
    assert box("preflight", "--json").json["ok"] is True
    assert (box.cwd / "seen.log").exists()
    assert box("preflight", "--json").json["ok"] is True
    assert problem(box, path) == ""
