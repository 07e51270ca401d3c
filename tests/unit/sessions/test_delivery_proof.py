"""How it is known that a prompt was taken."""

from __future__ import annotations

import pytest

from midwatch.core.pane_model import SourceReport
from midwatch.core.verdict import Evidence, Verdict
from midwatch.sessions.prompting.rules.delivery_proof import find_proof

SENT = 1000.0


def verdict(turn: str, *sources: str) -> Verdict:
    evidence = tuple(Evidence(source, f"{turn}, by rule x") for source in sources)
    return Verdict("%3", "session", "unknown", False, "", "alive", "unknown", turn=turn, evidence=evidence)


IDLE = verdict("idle", "state", "screen")


def hook(event: str, at: float | None = SENT + 1) -> SourceReport:
    return SourceReport("hook", at, {"event": event})


def transcript(event: str, at: float = SENT + 1) -> SourceReport:
    return SourceReport("transcript", at, {"event": event})


def test_the_text_in_the_transcript_is_the_best_proof() -> None:
    assert find_proof(IDLE, IDLE, (hook("Stop"),), SENT, written=True) == "transcript"


def test_a_transcript_that_cannot_be_searched_proves_by_going_on() -> None:
    assert find_proof(IDLE, IDLE, (transcript("prompt"),), SENT, written=None) == "transcript"
    assert find_proof(IDLE, IDLE, (transcript("prompt", SENT - 1),), SENT, written=None) == ""
    assert find_proof(IDLE, IDLE, (transcript(""),), SENT, written=None) == ""


def test_one_that_can_be_searched_must_hold_the_text() -> None:
    assert find_proof(IDLE, IDLE, (transcript("prompt"),), SENT, written=False) == ""


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse", "Stop", "BeforeAgent"])
def test_a_hook_of_a_turn_since_then_is_a_proof(event: str) -> None:
    assert find_proof(IDLE, IDLE, (hook(event),), SENT, written=False) == "hook"


@pytest.mark.parametrize(
    "report", [hook("UserPromptSubmit", SENT - 1), hook("UserPromptSubmit", None), hook("SessionStart")], ids=str
)
def test_an_older_hook_or_one_of_no_turn_is_none(report: SourceReport) -> None:
    assert find_proof(IDLE, IDLE, (report,), SENT, written=False) == ""


def test_a_state_file_that_goes_from_idle_to_working_is_a_proof() -> None:
    assert find_proof(IDLE, verdict("working", "state"), (), SENT, written=False) == "state"
    assert find_proof(verdict("idle", "api"), verdict("working", "api"), (), SENT, written=False) == "state"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (verdict("idle", "screen"), verdict("working", "screen", "title")),
        (verdict("idle", "screen"), verdict("working", "state")),
        (IDLE, verdict("idle", "state")),
    ],
)
def test_a_screen_or_half_a_change_is_none(before: Verdict, after: Verdict) -> None:
    assert find_proof(before, after, (), SENT, written=False) == ""
