"""What Claude Code says of itself in its state file, its hooks and its transcript, in the words of its releases."""

from __future__ import annotations

import pytest

from midwatch.agents import catalog
from midwatch.agents.definition import match_sources

CLAUDE = catalog.load("claude")
OLD, NEW = "2.1.197", "2.1.325"
WAITING = {"state.status": "waiting"}
LIMIT = "You've hit your 5-hour limit · resets 6:16am (UTC)"


def heard(version: str = NEW, **texts: str) -> tuple[str, str, str]:
    """Turn, detail and end of what the one source says that was given."""
    (said,) = match_sources(CLAUDE, {name.replace("__", "."): text for name, text in texts.items()}, version)
    return said.turn, said.detail, said.until.raw


@pytest.mark.parametrize(
    ("waiting_for", "version", "detail"),
    [
        ("input needed", NEW, "question"),
        ("permission prompt", NEW, "permission"),
        ("sandbox request", NEW, "permission"),
        ("worker request", NEW, "permission"),
        ("dialog open", NEW, "menu"),
        ("dialog open", OLD, "menu"),
        ("permission prompt", OLD, ""),
        ("something new", NEW, ""),
    ],
)
def test_the_state_file_says_for_what_it_waits(waiting_for: str, version: str, detail: str) -> None:
    found = heard(version, state__status="waiting", state__waiting_for=waiting_for)
    assert found == ("waiting", detail, "")


def test_a_turn_that_hit_the_plans_limit_is_limited_in_the_words_of_its_hook() -> None:
    found = heard(hook__event="StopFailure", hook__error="rate_limit", hook__message=LIMIT)
    assert found == ("limited", "plan", "6:16am (UTC)")


def test_a_turn_that_failed_otherwise_is_not() -> None:
    found = heard(hook__event="StopFailure", hook__error="rate_limit", hook__message="API Error: Server is busy")
    assert found == ("idle", "turn-failed", "")


def test_a_continuation_that_began_by_itself_is_work() -> None:
    assert heard(hook__event="Notification", hook__notification="quota_auto_resume_fired")[0] == "working"


def test_one_that_slept_through_the_reset_waits_for_a_key() -> None:
    assert heard(hook__event="Notification", hook__notification="quota_auto_resume_stale")[0] == "waiting"
    assert heard(transcript__event="limit-over")[0] == "waiting"


def test_while_agents_run_in_the_background_no_source_of_events_calls_the_turn_ended() -> None:
    assert heard(hook__event="Stop", hook__background="1") == ("idle", "background-work", "")
    assert heard(transcript__event="turn-ended", transcript__background="1") == ("idle", "background-work", "")


def test_at_rest_by_its_own_state_nothing_runs_in_the_background_whatever_the_transcript_has_not_seen_end() -> None:
    texts = {"state.status": "idle", "transcript.event": "turn-ended", "transcript.background": "1"}
    assert [(said.source, said.detail) for said in match_sources(CLAUDE, texts, NEW)] == [
        ("state", ""), ("transcript", "turn-ended"),
    ]  # fmt: skip


@pytest.mark.parametrize(("version", "turns"), [(OLD, ["idle"]), (NEW, []), ("", [])])
def test_a_title_at_rest_is_believed_only_of_releases_that_change_it(version: str, turns: list[str]) -> None:
    texts = {"title": "✳ Fix the tests"} | ({"version": version} if version else {})
    assert [said.turn for said in match_sources(CLAUDE, texts, version)] == turns


@pytest.mark.parametrize("sign", ["⠂", "◐", "◑"])
def test_a_title_that_moves_is_work(sign: str) -> None:
    assert heard(title=f"{sign} Fix the tests")[0] == "working"
