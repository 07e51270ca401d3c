"""`validate-story-creation`: how many files a story has, and whether exactly one was created."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.compat.automator import ARTIFACTS, Automator


def count(automator: Automator, story: str = "5.3", *more: str) -> str:
    done = automator("validate-story-creation", "count", story, *more)
    assert (done.code, done.err) == (0, "")
    return done.out.strip()


def check(automator: Automator, before: int, after: int) -> tuple[bool, str, str]:
    words = ("check", "5.3", "--before", str(before), "--after", str(after))
    said = automator.says("validate-story-creation", *words)
    assert said["verified"] == said["valid"]
    return said["valid"], said["action"], said["reason"]


def test_the_lines_of_the_original(automator: Automator) -> None:
    before = count(automator)
    file = automator.story("5-3-login")
    after = count(automator)
    said = automator.says("validate-story-creation", "check", "5.3", "--before", before, "--after", after)
    assert said == {
        "valid": True, "verified": True, "created_count": 1, "expected": 1, "prefix": "5-3", "action": "proceed",
        "reason": "Exactly 1 story file created as expected", "source": "artifact_glob",
        "pattern": f"{ARTIFACTS}/5-3-*.md", "matches": [str(file)], "before": 0, "after": 1, "story": "5-3-login",
    }  # fmt: skip


def test_none_too_many_and_fewer_than_before_are_for_a_person(automator: Automator) -> None:
    assert check(automator, 0, 0) == (False, "escalate", "No story file created - session may have failed")
    assert check(automator, 2, 1) == (False, "escalate", "Story files decreased (-1) - unexpected deletion")
    assert check(automator, 0, 2) == (False, "escalate", "RUNAWAY CREATION: 2 files created instead of 1")


def test_without_numbers_there_must_be_exactly_one_now(automator: Automator) -> None:
    words = ("validate-story-creation", "check", "5.3")
    assert automator.says(*words)["valid"] is False
    automator.story("5-3-login")
    alone = automator.says(*words, "--state-file", "state.md")
    assert (alone["valid"], "before" in alone) == (True, False)
    automator.story("5-3-again")
    two = automator.says(*words)
    assert (two["created_count"], two["action"], len(two["matches"])) == (2, "escalate", 2)


@pytest.mark.parametrize(
    "words", [["--before", "x", "--after", "1"], ["--before", "0"], ["--after", "1"], ["--before"]], ids=" ".join
)
def test_numbers_that_are_none_are_for_a_person(automator: Automator, words: list[str]) -> None:
    automator.story("5-3-login")
    said = automator.says("validate-story-creation", "check", "5.3", *words, code=1)
    assert (said["valid"], said["action"], bool(said["reason"])) == (False, "escalate", True)


def test_what_counts_is_a_file_of_that_story_with_something_in_it(automator: Automator, tmp_path: Path) -> None:
    automator.story("5-3-login")
    automator.story("5-30-other")
    automator.story("5-3")
    automator.story("5-3-empty", "")
    (automator.root / ARTIFACTS / "5-3-directory.md").mkdir()
    outside = tmp_path / "outside.md"
    outside.write_text("x")
    (automator.root / ARTIFACTS / "5-3-outside.md").symlink_to(outside)
    (automator.root / ARTIFACTS / "5-3-nowhere.md").symlink_to("nowhere")
    (automator.root / ARTIFACTS / "5-3-latest.md").symlink_to("5-3-login.md")
    assert count(automator) == "1"
    listed = automator("validate-story-creation", "list", "5.3").out.splitlines()
    assert listed[0] == "Story files matching 5-3-*.md:"
    assert [line.split()[-1] for line in listed[1:]] == [str(automator.root / ARTIFACTS / "5-3-login.md")]


def test_a_list_of_nothing_says_so(automator: Automator) -> None:
    said = automator("validate-story-creation", "list", "5.3").out
    assert said == "Story files matching 5-3-*.md:\n  (none found)\n"


def test_another_directory_can_be_named(automator: Automator) -> None:
    automator.put("stories/5-3-login.md")
    assert count(automator) == "0"
    assert count(automator, "5.3", "--artifacts-dir", "stories") == "1"
    assert count(automator, "5.3", "--artifacts-dir", str(automator.root / "stories")) == "1"
    there = ("--artifacts-dir", "stories", "--before", "0", "--after", "1")
    assert automator.says("validate-story-creation", "check", "5.3", *there)["valid"] is True


def test_a_prefix(automator: Automator) -> None:
    for story in ("5.3", "5-3", "5-3-login"):
        assert automator("validate-story-creation", "prefix", story).out == "5-3\n"
