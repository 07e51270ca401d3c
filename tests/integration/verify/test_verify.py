"""`midwatch verify`, and `--verify` of `wait`: idle is not done, and yesterday's file is not today's."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import Box, until_gone

INCOMPLETE = 6


def git(cwd: Path, *words: str, **env: str) -> None:
    who = {f"GIT_{part}_{what}": "x" for part in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=cwd, env=os.environ | who | env, check=True, capture_output=True)


@pytest.mark.parametrize(("check", "code"), [("true", 0), ("exit 3", INCOMPLETE), ("nosuchprogram", INCOMPLETE)])
def test_a_command_says_it_by_its_exit_code(box: Box, check: str, code: int) -> None:
    done = box("verify", check, "--json")
    assert (done.code, done.json["verified"], done.json["verify"]) == (code, code == 0, check)


def test_what_a_failing_command_said_last_is_told(box: Box) -> None:
    done = box("verify", "echo one; echo 2 tests failed; exit 1")
    assert done.out == "not verified: `echo one; echo 2 tests failed; exit 1` ended with 1: 2 tests failed\n"


def test_what_a_command_leaves_running_is_ended(box: Box) -> None:
    assert box("verify", "sleep 600 & echo $! > left").code == 0
    until_gone(int((box.cwd / "left").read_text()))


def test_a_file_must_be_there_not_be_empty_and_be_new(box: Box) -> None:
    assert box("verify", "file:docs/*.md").code == INCOMPLETE
    (box.cwd / "docs").mkdir()
    made = box.cwd / "docs" / "a.md"
    made.touch()
    assert box("verify", "file:docs/*.md").code == INCOMPLETE
    made.write_text("text")
    assert box("verify", "file:docs/*.md", "--since", "1h").code == 0
    os.utime(made, (time.time() - 7200,) * 2)
    old = box("verify", "file:docs/*.md", "--since", "1h")
    assert (old.code, "older than the work" in old.out) == (INCOMPLETE, True)


def test_a_commit_since_the_work_began(box: Box) -> None:
    git(box.cwd, "init", "-q")
    nothing = box("verify", "git:commit-since-start")
    assert (nothing.code, "could not be verified" in nothing.out) == (INCOMPLETE, True)
    git(box.cwd, "commit", "-q", "--allow-empty", "-m", "old", GIT_COMMITTER_DATE="2020-01-01T00:00:00")
    box("run", "--name", "job", "--", "true")
    assert box("verify", "git:commit-since-start", "--name", "job").code == INCOMPLETE
    git(box.cwd, "commit", "-q", "--allow-empty", "-m", "new")
    done = box("verify", "git:commit-since-start", "--name", "job")
    assert (done.code, "new" in done.out) == (0, True)


def test_a_story_and_a_bead(box: Box) -> None:
    place = box.cwd / "_bmad-output" / "sprint-status.yaml"
    place.parent.mkdir()
    place.write_text("development_status:\n  5-3-checkout: review\n")
    assert box("verify", "sprint:5.3=done").out == "not verified: 5-3-checkout is review\n"
    assert box("verify", "sprint:5.3=review").code == 0
    assert box("verify", "bead:bd-1").code == INCOMPLETE
    (box.cwd / ".beads").mkdir()
    (box.cwd / ".beads" / "issues.jsonl").write_text(json.dumps({"id": "bd-1", "status": "closed"}) + "\n")
    below = box.cwd / "src"
    below.mkdir()
    assert box("verify", "bead:bd-1", "--cwd", str(below)).out == "verified: bd-1 is closed\n"


def test_a_job_that_ended_well_without_its_work_is_incomplete(box: Box) -> None:
    box("run", "-d", "--name", "job", "--", "true")
    done = box("wait", "job", "--verify", "file:made", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (INCOMPLETE, "incomplete", True)
    assert done.json["reason"].endswith("but the work is not there: there is no made")
    (box.cwd / "made").write_text("x")
    done = box("wait", "job", "--verify", "file:made", "--json")
    assert (done.code, done.json["state"]) == (0, "completed")
    assert done.json["reason"].endswith("; verified: made is there")


def test_what_failed_is_not_verified(box: Box) -> None:
    box("run", "-d", "--name", "job", "--", "false")
    assert box("wait", "job", "--verify", "touch asked").code == 1
    assert not (box.cwd / "asked").exists()


@pytest.mark.parametrize("words", [("wait", "job", "--verify", "git:x"), ("verify",), ("verify", "file:")])
def test_what_makes_no_sense_is_said_before_anything_is_done(box: Box, words: tuple[str, ...]) -> None:
    box("run", "-d", "--name", "job", "--", "true")
    assert box(*words).code == 2
