"""The one rule for `stuck`, by the case that would show each part of it broken."""

from __future__ import annotations

import pytest

from midwatch.core import stuck
from midwatch.core.stuck import Patience, Silence, Suspicion, Veto, WatchedSource

PATIENCE = Patience(stale_s=600.0, grace_s=30.0, quiet_s=60.0, frozen_s=90.0)
NOW = 10_000.0
NOTHING = Suspicion()
DUE = Suspicion(NOW - 30.0, confirmed=True)


def after(
    silent: float, *signs: float, noted: Suspicion = NOTHING, observed: bool = True, veto: float = 0.0
) -> Silence:
    """Output silent for so long, and signs of life seen so many seconds ago."""
    sources = [WatchedSource("output", NOW - silent, observed=observed)]
    sources += [WatchedSource("screen", NOW - ago, progress=False) for ago in signs]
    return stuck.assess(tuple(sources), PATIENCE, noted, NOW, Veto("clock-advances", veto))


@pytest.mark.parametrize(
    ("silent", "sign", "word", "look_at"),
    [
        (0.0, 0.0, "advancing", NOW + 90),
        (59.9, 1.0, "advancing", NOW + 89),
        (60.0, 1.0, "quiet", NOW + 89),
        (599.0, 1.0, "quiet", NOW + 1),
        (600.0, 1.0, "stalled", NOW),
        (600.0, 90.0, "frozen", NOW),
        (90.0, 90.0, "frozen", NOW),
        (90.0, 89.0, "quiet", NOW + 1),
    ],
)
def test_what_silence_is_called_and_when_that_changes(silent: float, sign: float, word: str, look_at: float) -> None:
    found = after(silent, sign)
    assert (found.progress, found.look_at, found.stuck) == (word, look_at, False)


def test_signs_of_life_end_no_silence() -> None:
    assert after(600.0, 0.0).lasted == 600.0


def test_of_several_sources_one_that_moves_is_enough() -> None:
    sources = (WatchedSource("output", NOW - 5000), WatchedSource("cpu", NOW - 1))
    assert stuck.assess(sources, PATIENCE, DUE, NOW).progress == "advancing"


def test_what_was_never_seen_to_move_is_not_frozen() -> None:
    assert after(500.0, observed=False).progress == "quiet"


def test_only_a_confirmed_suspicion_is_stuck() -> None:
    assert after(700.0, 1.0, noted=DUE).stuck
    waiting = after(700.0, 1.0, noted=Suspicion(NOW - 100.0))
    assert (waiting.stuck, waiting.look_at, waiting.outlook) == (False, NOW - 70.0, "its grace period is over")


@pytest.mark.parametrize(
    ("noted", "outlook"),
    [(NOTHING, "its grace period begins"), (Suspicion(NOW - 10.0), "stuck in 20s unless it moves")],
)
def test_a_suspicion_says_how_it_goes_on(noted: Suspicion, outlook: str) -> None:
    assert after(700.0, 1.0, noted=noted).outlook == outlook


@pytest.mark.parametrize(("sign", "cause"), [(1.0, "no-progress"), (90.0, "frozen")])
def test_what_is_stuck_says_why(sign: float, cause: str) -> None:
    found = after(700.0, sign, noted=DUE)
    assert (found.stuck, found.cause, found.look_at) == (True, cause, None)


def test_a_veto_holds_until_its_end_and_takes_no_suspicion_back() -> None:
    held = after(700.0, 1.0, noted=DUE, veto=NOW + 5.0)
    assert (held.stuck, held.suspected, held.cause, held.look_at) == (False, True, "clock-advances", NOW + 5.0)
    assert after(700.0, 1.0, noted=DUE, veto=NOW).stuck


def test_a_veto_says_nothing_of_what_is_not_due() -> None:
    assert after(700.0, 1.0, noted=Suspicion(NOW - 10.0), veto=NOW + 99.0).cause == ""


def test_the_look_that_begins_a_suspicion_never_confirms_it() -> None:
    first = NOTHING.next(NOW, 0.0, suspected=True)
    assert first == Suspicion(NOW, confirmed=False)
    assert first.next(NOW, 0.0, suspected=True).confirmed


def test_a_suspicion_is_confirmed_at_the_end_of_the_grace_period_and_not_before() -> None:
    first = Suspicion(NOW)
    assert first.next(NOW + 29.9, 30.0, suspected=True) == first
    assert first.next(NOW + 30.0, 30.0, suspected=True) == Suspicion(NOW, confirmed=True)


def test_movement_takes_a_suspicion_back() -> None:
    assert DUE.next(NOW, 30.0, suspected=False) == NOTHING


def test_evidence_names_what_moved_and_what_did_not() -> None:
    sources = (
        WatchedSource("cpu", NOW - 1), WatchedSource("title", NOW - 2, progress=False),
        WatchedSource("output", NOW - 3, observed=False),
    )  # fmt: skip
    told = [(each.source, each.says, each.age_s) for each in stuck.movement_evidence(sources, NOW, "first looked at")]
    assert told == [
        ("CPU", "last moved", 1.0),
        ("title", "(a sign of life only) last moved", 2.0),
        ("output", "first looked at", 3.0),
    ]
    assert [each.source for each in stuck.movement_evidence(sources, NOW)] == ["CPU", "title"]
