"""Checks as people write them, and the files that some of them read."""

from __future__ import annotations

import pytest

from midwatch.core.errors import UsageError
from midwatch.trackers.codec import beads, bmad
from midwatch.verification import codec as verification_codec
from midwatch.verification.model import VerificationCheck


@pytest.mark.parametrize(
    ("text", "check"),
    [
        ("make test", VerificationCheck("command", "make test")),
        (" test -f x ", VerificationCheck("command", "test -f x")),
        ("echo a:b", VerificationCheck("command", "echo a:b")),
        ("file:docs/*.md", VerificationCheck("file", "docs/*.md")),
        ("git:commit-since-start", VerificationCheck("git", "")),
        ("sprint:5-3=done", VerificationCheck("sprint", "5-3", "done")),
        ("sprint:5-3", VerificationCheck("sprint", "5-3", "done")),
        ("sprint:5-3=review", VerificationCheck("sprint", "5-3", "review")),
        ("bead:bd-q2.3", VerificationCheck("bead", "bd-q2.3", "closed")),
    ],
)
def test_what_is_meant(text: str, check: VerificationCheck) -> None:
    assert verification_codec.parse_check(text) == check
    assert verification_codec.parse_check(verification_codec.format_check(check)) == check


@pytest.mark.parametrize("text", ["", "  ", "file:", "git:push", "sprint:", "bead:=closed"])
def test_what_makes_no_sense_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="--verify"):
        verification_codec.parse_check(text)


SPRINT = """# sprint status
project: shop
development_status:
  epic-5: in-progress
  5-3-checkout: done   # at last
  5-30-invoices: backlog
  "5-4-returns": 'Review'
other:
  5-3-checkout: backlog
"""


@pytest.mark.parametrize(
    ("story", "found"),
    [
        ("5-3-checkout", ("5-3-checkout", "done")),
        ("5-3", ("5-3-checkout", "done")),
        ("5.3", ("5-3-checkout", "done")),
        ("5-30", ("5-30-invoices", "backlog")),
        ("5.4", ("5-4-returns", "review")),
        ("5", None),
        ("9-9", None),
    ],
)
def test_a_story_is_found_by_its_key_or_its_number(story: str, found: tuple[str, str] | None) -> None:
    assert bmad.find_story(SPRINT, story) == found


def test_two_stories_of_one_number_are_none() -> None:
    assert bmad.find_story("development_status:\n  5-3-a: done\n  5-3-b: done\n", "5-3") is None


def test_a_file_without_its_section_is_all_of_it() -> None:
    assert bmad.parse_statuses("5-3-a: done\n  5-4-b: review\n") == {"5-3-a": "done", "5-4-b": "review"}


def test_a_story_that_was_renamed_is_found_by_its_number_and_a_key_may_be_the_number_alone() -> None:
    assert bmad.find_story("development_status: # all\n  5-3-a: done\n", "5-3-b") == ("5-3-a", "done")
    assert bmad.find_story("development_status:\n  5-4: review\n", "5.4") == ("5-4", "review")
    assert bmad.find_story("development_status:\n  5.4: review\n", "5-4-x") == ("5.4", "review")


def test_the_stories_of_an_epic_are_its_own_and_neither_the_epic_nor_its_retrospective() -> None:
    rows = ["epic-5: in-progress", "5-1-a: done", "5-30-b: backlog", "epic-5-retrospective: optional", "55-1-c: done"]
    text = "development_status:\n" + "".join(f"  {row}\n" for row in rows)
    assert bmad.stories_of_epic(text, "5") == {"5-1-a": "done", "5-30-b": "backlog"}


def test_the_last_word_on_a_bead_counts_and_rubbish_does_not() -> None:
    rows = ['{"id":"bd-1","status":"open","title":"CLOSED files"}', "no", "[1]", '{"id":"bd-1","status":"Closed"}']
    text = "\n".join([*rows, '{"id":7}'])
    assert beads.parse_statuses(text) == {"bd-1": "closed"}
