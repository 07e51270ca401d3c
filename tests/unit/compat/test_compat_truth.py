"""Whether the work of a step is there: what the project's files say, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from midwatch.compat.story_automator import story_verification
from midwatch.trackers.codec.bmad import ARTIFACTS

Files = dict[str, str]


def project(tmp_path: Path, sprint: str = "", **stories: str) -> str:
    directory = tmp_path / ARTIFACTS
    directory.mkdir(parents=True)
    if sprint:
        (directory / "sprint-status.yaml").write_text(f"development_status:\n  {sprint}\n")
    for name, status in stories.items():
        (directory / f"{name.replace('_', '-')[1:]}.md").write_text(f"# Story\n\nStatus: {status}\n")
    return str(tmp_path)


@pytest.mark.parametrize(
    ("step", "sprint", "file", "done"),
    [
        ("dev", "5-3-a: review", "", True),
        ("dev", "5-3-a: done", "", True),
        ("dev", "5-3-a: in-progress", "", False),
        ("dev", "5-3-a: backlog", "in-progress", False),
        ("dev", "5-3-a: in-progress", "review", True),
        ("dev", "5-4-a: done", "Ready for Review", True),
        ("dev", "", "ready-for-dev", False),
        ("dev", "", "", None),
        ("dev", "5-4-a: done", "", None),
        ("review", "5-3-a: done", "", True),
        ("review", "5-3-a: review", "", False),
        ("review", "5-3-a: review", "done", True),
        ("review", "5-3-a: in-progress", "review", False),
        ("review", "", "Done", True),
        ("review", "", "", False),
        ("review", "5-30-a: done", "", False),
        ("auto", "5-3-a: done", "done", None),
        ("auto", "", "", None),
    ],
)
def test_statuses_tell(tmp_path: Path, step: str, sprint: str, file: str, done: bool | None) -> None:
    found = story_verification.verify_step(project(tmp_path, sprint, **({"_5_3_a": file} if file else {})), step, "5.3")
    reasons = {True: "verified_complete", False: "workflow_not_complete", None: "normal_completion"}
    assert (found.done, found.reason) == (done, reasons[done])
    assert found.says


@pytest.mark.parametrize(
    ("sprint", "done"),
    [
        ("5-1-a: done\n  5-2-b: done\n  epic-5-retrospective: optional\n  6-1-c: backlog", True),
        ("5-1-a: done\n  5-2-b: review", False),
        ("6-1-a: done", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("subject", ["5", "epic-5", "5.1"])
def test_a_retro_needs_every_story_of_the_epic(tmp_path: Path, sprint: str, done: bool, subject: str) -> None:
    found = story_verification.verify_step(project(tmp_path, sprint), "retro", subject)
    assert (found.done, found.reason) == (done, "verified_complete" if done else "epic_incomplete")


@pytest.mark.parametrize("step", ["create", "dev", "review", "retro"])
@pytest.mark.parametrize("story", ["", "x", "../../etc"])
def test_without_a_story_nothing_is_done(tmp_path: Path, step: str, story: str) -> None:
    found = story_verification.verify_step(project(tmp_path), step, story)
    assert (found.done, found.reason) == (False, "story_key_required")


def test_two_stories_of_one_number_do_not_tell_of_either(tmp_path: Path) -> None:
    root = project(tmp_path, "5-3-a: done\n  5-3-b: done", _5_3_a="done", _5_3_b="done")
    found = story_verification.verify_step(root, "review", "5.3")
    assert (found.done, "5-3-a, 5-3-b" in found.says) == (False, True)
    assert story_verification.verify_step(root, "review", "5-3-a").done is True


def created(root: str, since: float | None = None) -> tuple[bool | None, str]:
    found = story_verification.verify_step(root, "create", "5.3", since)
    return found.done, found.reason


def test_a_creation_is_exactly_one_file(tmp_path: Path) -> None:
    root = project(tmp_path)
    odd = (False, "unexpected_story_artifact_count")
    assert created(root) == odd
    directory = tmp_path / ARTIFACTS
    (directory / "5-3-a.md").touch()
    (directory / "5-30-a.md").write_text("x")
    (directory / "5-3-a.txt").write_text("x")
    assert created(root) == odd
    (directory / "5-3-a.md").write_text("x")
    assert created(root) == (True, "verified_complete")
    (directory / "5-3-b.md").write_text("x")
    assert created(root) == odd


def test_a_file_that_was_there_before_the_session_was_not_created_by_it(tmp_path: Path) -> None:
    root = project(tmp_path, _5_3_a="draft")
    began = time.time()
    assert created(root, began - 60) == (True, "verified_complete")
    os.utime(tmp_path / ARTIFACTS / "5-3-a.md", (began - 60, began - 60))
    assert created(root, began) == (False, "workflow_not_complete")
    assert created(root) == (True, "verified_complete")


def test_nothing_outside_the_directory_is_a_story(tmp_path: Path) -> None:
    root = project(tmp_path)
    (tmp_path / "real.md").write_text("Status: done\n")
    (tmp_path / ARTIFACTS / "5-3-a.md").symlink_to(tmp_path / "real.md")
    assert created(root)[0] is False
    assert story_verification.verify_step(root, "review", "5.3").done is False
    os.unlink(tmp_path / ARTIFACTS / "5-3-a.md")
    (tmp_path / ARTIFACTS / "story.md").write_text("Status: done\n")
    (tmp_path / ARTIFACTS / "5-3-a.md").symlink_to("story.md")
    assert created(root)[0] is True
    assert story_verification.verify_step(root, "review", "5.3").done is True


def test_files_that_are_no_files_tell_nothing(tmp_path: Path) -> None:
    root = project(tmp_path)
    os.mkfifo(tmp_path / ARTIFACTS / "sprint-status.yaml")
    os.mkfifo(tmp_path / ARTIFACTS / "5-3-a.md")
    assert story_verification.verify_step(root, "review", "5.3").done is False
    assert story_verification.verify_step(root, "dev", "5.3").done is None
    assert created(root)[0] is False


def test_rubbish_tells_nothing(tmp_path: Path) -> None:
    root = project(tmp_path)
    (tmp_path / ARTIFACTS / "sprint-status.yaml").write_bytes(b"\xff\xfe\x00: : :\n- {]\n" * 100)
    (tmp_path / ARTIFACTS / "5-3-a.md").write_bytes(bytes(range(256)))
    assert story_verification.verify_step(root, "review", "5.3").done is False
    assert story_verification.verify_step(root, "dev", "5.3").done is None
