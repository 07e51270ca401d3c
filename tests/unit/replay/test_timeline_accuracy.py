"""How a timeline's verdicts are held against its truth."""

from __future__ import annotations

from midwatch.replay.rules.accuracy import AccuracyTrial, format_matrix, format_share
from midwatch.replay.rules.timeline_accuracy import (
    TimelineStretch,
    TrueChange,
    find_changes,
    find_flickers,
    find_stretches,
)

TRUTHS = [(0.0, "idle"), (2.0, "working"), (10.0, "idle")]


def test_truth_and_verdict_are_laid_side_by_side() -> None:
    said = [(0.0, "idle"), (2.5, "working"), (10.4, "idle")]
    assert find_stretches(TRUTHS, said, 12.0) == [
        TimelineStretch(0.0, 2.0, "idle", "idle"),
        TimelineStretch(2.0, 2.5, "working", "idle"),
        TimelineStretch(2.5, 10.0, "working", "working"),
        TimelineStretch(10.0, 10.4, "idle", "working"),
        TimelineStretch(10.4, 12.0, "idle", "idle"),
    ]


def test_lateness_is_from_the_true_change_to_the_verdict() -> None:
    said = [(0.0, "idle"), (2.5, "working")]
    assert find_changes(TRUTHS, said, 12.0) == [
        TrueChange(0.0, "idle", 0.0),
        TrueChange(2.0, "working", 0.5),
        TrueChange(10.0, "idle", None),
    ]


def test_a_short_state_that_was_never_true_is_a_flicker() -> None:
    said = [(0.0, "idle"), (2.5, "working"), (5.0, "idle"), (6.0, "working"), (10.4, "idle")]
    assert find_flickers(TRUTHS, said, 2.0, 1.0) == [(5.0, 6.0, "idle")]


def test_a_short_state_that_was_true_just_before_is_none() -> None:
    truths = [(0.0, "idle"), (2.0, "working"), (2.3, "waiting")]
    said = [(0.0, "idle"), (2.4, "working"), (2.9, "waiting")]
    assert find_flickers(truths, said, 2.0, 1.0) == []


def trial(truth: str, read: str) -> AccuracyTrial:
    return AccuracyTrial("claude", "x", truth, "", read, "", "rule")


def test_dangerous_mistakes_are_counted_apart() -> None:
    assert trial("working", "idle").danger == "working read as idle"
    assert trial("waiting", "working").danger == "waiting read as working"
    assert trial("exited", "limited").danger == "dead read as alive"
    assert trial("idle", "working").danger == ""
    assert trial("working", "working").danger == ""


def test_a_hundred_percent_is_only_said_of_what_was_never_wrong() -> None:
    assert format_share([trial("idle", "idle")] * 9999 + [trial("idle", "working")]) == "99.9 %"
    assert format_share([trial("idle", "idle")]) == "100 %"


def test_the_matrix_has_a_row_for_each_truth() -> None:
    assert format_matrix([trial("idle", "working"), trial("idle", "idle")], "")[2:] == [
        "| claude | idle | 1 |  |  | 1 |  |  | 50 % |"
    ]
