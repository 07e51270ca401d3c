"""`midwatch doctor` fails where `midwatch run` would: whatever keeps a job from starting, it says."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Box

Break = Callable[[Box], None]


def variable(**given: str) -> Break:
    def breaks(box: Box) -> None:
        box.env |= given

    return breaks


def settings(text: str) -> Break:
    def breaks(box: Box) -> None:
        (box.cwd / "midwatch.toml").write_text(text)

    return breaks


def within(script: str, *, namespace: bool = False) -> Break:
    """Both programs are started by a shell that does something first."""

    def breaks(box: Box) -> None:
        box.dir.mkdir(mode=0o700)
        alone = ["unshare", "-Urm"] if namespace else []
        box.program = [*alone, "sh", "-c", f'{script}; exec "$@"', str(box.dir), *box.program]

    return breaks


def shared(box: Box) -> None:
    box.dir.mkdir()
    box.dir.chmod(0o777)


def linked(part: str) -> Break:
    def breaks(box: Box) -> None:
        (box.dir / part).parent.mkdir(parents=True, mode=0o700)
        (box.dir / part).symlink_to(box.cwd)

    return breaks


def plain_file(box: Box) -> None:
    box.dir.write_text("")


def removed(box: Box) -> None:
    gone = box.cwd / "gone"
    box.program = ["sh", "-c", f'mkdir {gone}; cd {gone}; rmdir {gone}; exec "$@"', "sh", *box.program]


CASES: dict[str, tuple[Break, str]] = {
    "a variable": (variable(MIDWATCH_STALE="soon"), "MIDWATCH_STALE"),
    "a policy": (variable(MIDWATCH_POLICY="hasty"), "MIDWATCH_POLICY"),
    "retries": (variable(MIDWATCH_RETRIES="x"), "MIDWATCH_RETRIES"),
    "a broker": (variable(MIDWATCH_MQTT_URL="nowhere"), "MIDWATCH_MQTT_URL"),
    "variables that contradict each other": (variable(MIDWATCH_STALE="10s", MIDWATCH_HEARTBEAT="9s"), "--heartbeat 9s"),
    "a settings file": (settings("[polcy]\n"), "midwatch.toml:1"),
    "a check": (settings('[run]\npreflight = true\n[[check]]\nenv = "TOKEN"\n'), "TOKEN is not set"),
    "a check without trust": (settings('[run]\npreflight = true\n[[check]]\nrun = "true"\n'), "is not trusted"),
    "a file in place of the directory": (plain_file, "cannot write to"),
    "a directory that others may write to": (shared, "others may write to"),
    "a link": (linked("spool"), "is a symbolic link"),
    "a link below": (linked("spool/shim.err"), "is no plain file"),
    "few files": (within("ulimit -n 8"), "Too many open files"),
    "a removed directory": (removed, "was removed"),
    "a disk that is read-only": (within('mount -t tmpfs -o ro,mode=700 x "$0"', namespace=True), "Read-only"),
    "a disk without inodes": (within('mount -t tmpfs -o nr_inodes=1,mode=700 x "$0"', namespace=True), "No space left"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_run_refuses_the_doctor_finds(box: Box, case: str) -> None:
    breaks, words = CASES[case]
    breaks(box)
    was_run = box.cwd / "was-run"
    ran = box("run", "--", "touch", str(was_run))
    assert ran.code in (2, 125), ran
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert not was_run.exists()
    looked = box("doctor", "--json", PATH=os.environ["PATH"])
    wrong = [each["says"] for each in map(json.loads, looked.out.splitlines()) if each["level"] == "wrong"]
    assert (looked.code, looked.err) == (1, ""), looked
    assert any(words in says for says in wrong), looked


def test_a_look_leaves_nothing_behind(box: Box, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert box("doctor", MIDWATCH_HOME=str(tmp_path / "new" / "jobs")).code == 0
    assert sorted(tmp_path.rglob("*")) == before


def test_checks_that_pass_are_counted(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text('[run]\npreflight = true\n[[check]]\nenv = "TOKEN"\n')
    done = box("doctor", TOKEN="x")
    assert done.code == 0, done
    assert "checks passed" in done.out


def test_a_start_looks_at_the_disk_of_the_directory_that_it_was_given(box: Box) -> None:
    """As `preflight --dir` does; /proc has no room."""
    refused = box("run", "--preflight", "--dir", "/proc/none", "--", "true")
    assert "disk of the state directory" in refused.err


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME"])
def test_a_relative_path_in_a_variable_of_the_user_keeps_nothing_from_ending(box: Box, variable: str) -> None:
    """XDG has it ignored: it would mean another directory for whoever calls from elsewhere."""
    del box.env["MIDWATCH_HOME"]
    box.env[variable] = "relative"
    assert box("run", "--", "true").code == 0
    assert box("doctor").code == 0
    assert (box.cwd / "relative").exists() == (variable == "HOME")
