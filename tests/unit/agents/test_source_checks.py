"""Weak sources are held against strong ones: what is counted, what is not, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from midwatch.agents.source_checks import rules as source_checks_rules
from midwatch.agents.source_checks.model import AGREES, CONTRADICTS, WITHHELD, Claim, Comparison, Disbelief, Records
from midwatch.agents.source_checks.rules import (
    ENOUGH,
    GAP,
    KEPT,
    TIMING,
    Overlap,
    count_comparison,
    find_disbelieved,
    observe,
)
from midwatch.agents.turn_model import SourceReading

REST = Claim("title", "idle", "title-rest")
BUSY = Claim("screen", "working", "spinner")
WALL = 1_000_000.0
TITLE_CANNOT = frozenset({"screen"})
"""A title that has no sign for a question."""


def said(
    source: str, turn: str, detail: str = "", rule: str = "", at: float | None = None, *, firm: bool = False
) -> SourceReading:
    return SourceReading(source, turn, detail, rule or f"{source}-{turn}", at, firm=firm)


def title(turn: str = "idle", rule: str = "title-rest") -> SourceReading:
    return said("title", turn, rule=rule)


def screen(turn: str = "working", rule: str = "spinner") -> SourceReading:
    return said("screen", turn, rule=rule)


class Watcher:
    """Looks every half second; the wall clock goes along."""

    def __init__(self, *, can_wait: frozenset[str] = TITLE_CANNOT, doubted: frozenset[Claim] = frozenset()) -> None:
        self.now = 100.0
        self.overlap: Overlap | None = None
        self.can_wait = can_wait
        self.doubted = doubted
        self.found: list[Comparison] = []

    @property
    def wall(self) -> float:
        return WALL + self.now

    def sees(self, seconds: float, *sources: SourceReading) -> list[Comparison]:
        """What is found while that is said for so long."""
        before, end = len(self.found), self.now + seconds
        while self.now < end:
            self.observe(*sources)
            self.now += 0.5
        return self.found[before:]

    def observe(self, *sources: SourceReading) -> None:
        self.overlap, found = observe(
            self.overlap, sources, self.now, self.wall, can_wait=self.can_wait, doubted=self.doubted
        )
        self.found += found

    def disagrees(self, *sources: SourceReading) -> bool:
        self.observe(*sources)
        assert self.overlap is not None
        return source_checks_rules.disagrees(self.overlap, sources, self.now, self.wall, self.can_wait)


def outcomes(found: Iterable[Comparison]) -> list[tuple[Claim, str, str]]:
    return [(each.claim, each.outcome, each.by) for each in found]


# One stretch --------------------------------------------------------------------------------------------------------


def test_a_contradiction_is_counted_once_however_long_it_lasts() -> None:
    assert outcomes(Watcher().sees(3600, said("state", "working"), title())) == [(REST, CONTRADICTS, "state")]


def test_an_agreement_is_counted_once_too() -> None:
    assert outcomes(Watcher().sees(3600, said("state", "idle"), title())) == [(REST, AGREES, "state")]


@pytest.mark.parametrize("source", ["osc7501", "state", "api"])
def test_any_strong_source_that_shows_what_is_can_contradict(source: str) -> None:
    assert outcomes(Watcher().sees(10, said(source, "working"), title())) == [(REST, CONTRADICTS, source)]


def test_a_sign_of_work_at_rest_is_a_contradiction() -> None:
    assert outcomes(Watcher().sees(60, said("state", "idle"), screen())) == [(BUSY, CONTRADICTS, "state")]


def test_what_timing_explains_is_not_counted() -> None:
    watcher = Watcher()
    for _ in range(20):
        assert not watcher.sees(TIMING - 0.5, said("state", "working"), title())
        assert not watcher.sees(TIMING - 0.5, said("state", "idle"), title("working", "title-busy"))


def test_both_must_last() -> None:
    watcher = Watcher()
    watcher.sees(60, said("state", "working"))
    assert not watcher.sees(TIMING - 0.5, said("state", "working"), title())
    assert outcomes(watcher.sees(1.0, said("state", "working"), title())) == [(REST, CONTRADICTS, "state")]


def test_a_claim_that_comes_and_goes_within_one_stretch_is_counted_once() -> None:
    watcher = Watcher()
    for _ in range(5):
        watcher.sees(8, said("state", "working"), title())
        watcher.sees(8, said("state", "working"), title("working", "title-busy"))
    assert outcomes(watcher.found).count((REST, CONTRADICTS, "state")) == 1


def test_each_turn_is_another_stretch() -> None:
    watcher = Watcher()
    for _ in range(3):
        watcher.sees(8, said("state", "working"), title())
        watcher.sees(8, said("state", "idle"), title())
    assert [each.outcome for each in watcher.found] == [CONTRADICTS, AGREES] * 3


def test_time_in_which_nobody_looked_proves_nothing() -> None:
    watcher = Watcher()
    for _ in range(10):
        watcher.observe(said("state", "working"), title())
        watcher.now += GAP + 0.1
    assert not watcher.found


def test_where_strong_sources_differ_nothing_is_counted() -> None:
    assert not Watcher().sees(60, said("state", "working"), said("transcript", "idle", "turn-ended", at=WALL), title())


def test_a_stretch_in_which_they_differ_for_a_while_is_still_one() -> None:
    watcher = Watcher()
    watcher.sees(8, said("state", "working"), title())
    watcher.sees(8, said("state", "working"), said("hook", "waiting", at=WALL), title())
    watcher.sees(8, said("state", "working"), title())
    assert outcomes(watcher.found) == [(REST, CONTRADICTS, "state")]


def test_weak_sources_alone_prove_nothing() -> None:
    assert not Watcher().sees(60, title(), screen())


# What a source can express ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", ["waiting", "limited"])
@pytest.mark.parametrize("strong", ["working", "idle"])
def test_a_dialog_or_limit_that_only_the_pane_shows_is_no_contradiction(strong: str, turn: str) -> None:
    assert not Watcher().sees(60, said("state", strong), screen(turn, "menu"))


def test_a_sign_of_rest_while_somebody_is_asked_is_wrong_only_where_there_is_a_sign_for_that() -> None:
    asked = said("state", "waiting", "permission")
    assert not Watcher().sees(60, asked, title())
    assert [each.outcome for each in Watcher().sees(60, asked, screen("idle", "prompt"))] == [CONTRADICTS]


def test_a_sign_of_work_while_somebody_is_asked_is_wrong() -> None:
    assert outcomes(Watcher().sees(60, said("state", "waiting", "permission"), screen())) == [
        (BUSY, CONTRADICTS, "state")
    ]


def test_a_menu_that_a_person_opened_may_lie_over_the_work() -> None:
    assert not Watcher().sees(60, said("state", "waiting", "menu"), screen())


def test_work_in_the_background_may_show() -> None:
    assert not Watcher().sees(60, said("state", "idle", "background-work"), screen())


def test_a_source_that_says_the_agent_has_left_is_not_counted() -> None:
    assert not Watcher().sees(60, said("state", "working"), screen("exited", "resumable"))
    assert not Watcher().sees(60, said("hook", "exited", at=WALL), screen("exited", "resumable"))


# Events -------------------------------------------------------------------------------------------------------------


def opened(watcher: Watcher, source: str = "hook", *, firm: bool = False) -> SourceReading:
    return said(source, "working", at=watcher.wall, firm=firm)


def test_an_open_turn_proves_nothing_until_its_end_is_told() -> None:
    """Esc before the first word: no event tells of it, and the title is right."""
    watcher = Watcher()
    assert not watcher.sees(3600, opened(watcher), title())


def test_the_end_that_an_event_tells_proves_that_the_turn_was_open() -> None:
    watcher = Watcher()
    watcher.sees(20, opened(watcher), title())
    found = watcher.sees(2, said("hook", "idle", "turn-ended", at=watcher.wall), title())
    assert outcomes(found) == [(REST, CONTRADICTS, "hook")]


@pytest.mark.parametrize(("turn", "detail"), [("waiting", "permission"), ("limited", "plan"), ("idle", "turn-failed")])
def test_so_does_a_question_a_limit_or_a_failure(turn: str, detail: str) -> None:
    watcher = Watcher()
    watcher.sees(20, opened(watcher), title())
    assert CONTRADICTS in [
        each.outcome for each in watcher.sees(2, said("hook", turn, detail, at=watcher.wall), title())
    ]


def test_another_prompt_or_session_proves_nothing_of_the_turn_before() -> None:
    watcher = Watcher()
    watcher.sees(20, opened(watcher), title())
    assert not watcher.sees(2, opened(watcher), title())
    assert not watcher.sees(2, said("hook", "idle", "turn-ended", at=watcher.wall), title())
    watcher.sees(20, opened(watcher), title())
    assert CONTRADICTS not in [each.outcome for each in watcher.sees(9, said("hook", "idle", at=watcher.wall), title())]


def test_an_end_before_it_had_lasted_long_enough_proves_nothing() -> None:
    watcher = Watcher()
    began = watcher.wall
    watcher.sees(20, opened(watcher), title())  # its end is told late
    assert not watcher.sees(2, said("hook", "idle", "turn-ended", at=began + TIMING - 1), title())


def test_what_tells_of_every_end_is_believed_at_once() -> None:
    watcher = Watcher()
    found = watcher.sees(20, opened(watcher, "transcript", firm=True), title())
    assert outcomes(found) == [(REST, CONTRADICTS, "transcript")]


def test_a_turn_that_began_after_the_last_event_is_no_contradiction_of_it() -> None:
    watcher = Watcher()
    ended = said("hook", "idle", "turn-ended", at=watcher.wall)
    watcher.sees(10, ended, screen("idle", "ended"))
    assert BUSY not in [each.claim for each in watcher.sees(60, ended, screen())]


def test_a_sign_of_work_that_outlasts_the_end_of_the_turn_is_one() -> None:
    watcher = Watcher()
    watcher.sees(10, opened(watcher), screen())
    found = watcher.sees(10, said("hook", "idle", "turn-ended", at=watcher.wall), screen())
    assert outcomes(found) == [(BUSY, CONTRADICTS, "hook")]


def test_that_a_permission_was_given_no_event_tells() -> None:
    assert not Watcher().sees(60, said("hook", "waiting", "permission", at=WALL), screen())


# A release ------------------------------------------------------------------------------------------------------------


def after(*found: str, records: Records = (), claim: Claim = REST, begin: int = 0) -> Records:
    for n, outcome in enumerate(found, begin):
        one = Comparison(claim, outcome, "state", WALL + n)
        records, _ = count_comparison(records, "claude", "2.1", one, f"{n}-1", WALL + n + TIMING)
    return records


def is_believed(records: Records) -> bool:
    return REST not in find_disbelieved(records, "claude", "2.1")


def test_three_contradictions_among_the_last_ten_are_enough() -> None:
    assert is_believed(after(*[CONTRADICTS] * (ENOUGH - 1)))
    assert not is_believed(after(*[CONTRADICTS] * ENOUGH))
    assert not is_believed(after(*[CONTRADICTS, AGREES] * ENOUGH))


def test_contradictions_that_are_long_past_do_not_count() -> None:
    assert is_believed(after(CONTRADICTS, *[AGREES] * 4, CONTRADICTS, *[AGREES] * 5, CONTRADICTS))


def test_it_is_told_once_when_that_happens() -> None:
    records: Records = ()
    told = []
    for n in range(8):
        one = Comparison(REST, CONTRADICTS, "state", WALL + n)
        records, new = count_comparison(records, "claude", "2.1", one, f"{n}-1", WALL + n, "/evidence")
        told.append(new)
    assert [n for n, new in enumerate(told) if new] == [ENOUGH - 1]
    first = told[ENOUGH - 1]
    assert first is not None
    assert first.disbelief == Disbelief(WALL + ENOUGH - 1, "state", ENOUGH, ENOUGH, "/evidence")


def test_it_is_believed_again_after_ten_stretches_without_a_contradiction() -> None:
    fallen = after(*[CONTRADICTS] * ENOUGH)
    right = [AGREES, WITHHELD] * (KEPT // 2)
    assert not is_believed(after(*right[:-1], records=fallen, begin=10))
    assert is_believed(after(*right, records=fallen, begin=10))


def test_a_sign_that_never_changes_is_not_believed_again_for_being_right_at_rest() -> None:
    assert not is_believed(after(*[AGREES] * 50, records=after(*[CONTRADICTS] * ENOUGH), begin=10))


def test_once_believed_again_it_can_fall_again() -> None:
    again = after(*[AGREES, WITHHELD] * (KEPT // 2), records=after(*[CONTRADICTS] * ENOUGH), begin=10)
    assert not is_believed(after(*[CONTRADICTS] * ENOUGH, records=again, begin=50))


def test_a_claim_that_is_not_made_where_it_would_be_wrong_is_noticed_only_while_it_is_not_believed() -> None:
    work = (said("state", "working"), title("working", "title-busy"))
    assert [each.claim for each in Watcher().sees(60, *work)] == [Claim("title", "working", "title-busy")]
    found = Watcher(doubted=frozenset({REST})).sees(60, *work)
    assert outcomes(found).count((REST, WITHHELD, "state")) == 1
    wrong = Watcher(doubted=frozenset({REST})).sees(60, said("state", "working"), title())
    assert outcomes(wrong) == [(REST, CONTRADICTS, "state")]
    assert WITHHELD not in [each.outcome for each in Watcher(doubted=frozenset({REST})).sees(60, said("state", "idle"))]


def test_other_releases_sources_and_rules_are_believed() -> None:
    records = after(*[CONTRADICTS] * ENOUGH)
    assert find_disbelieved(records, "claude", "2.1").keys() == {REST}
    assert not find_disbelieved(records, "claude", "2.2")
    assert not find_disbelieved(records, "codex", "2.1")


def test_an_unknown_release_has_a_record_of_its_own() -> None:
    one = Comparison(REST, AGREES, "state", WALL)
    records, _ = count_comparison((), "claude", "", one, "1-1", WALL)
    assert [(each.agent, each.version) for each in records] == [("claude", "")]


def test_the_record_is_bounded_and_the_oldest_is_dropped() -> None:
    records: Records = ()
    for n in range(source_checks_rules.MOST_RELEASES + 2):
        one = Comparison(REST, AGREES, "state", WALL)
        records, _ = count_comparison(records, "claude", f"1.{n}", one, "1-1", WALL + n)
    assert len(records) == source_checks_rules.MOST_RELEASES
    assert records[0].version == "1.2"
    for n in range(source_checks_rules.MOST_CLAIMS + 2):
        records = after(AGREES, records=records, claim=REST._replace(rule=f"r{n}"))
    assert source_checks_rules.find_claims(records, "claude", "2.1")[0].claim.rule == "r2"
    assert len(source_checks_rules.find_claims(records, "claude", "2.1")) == source_checks_rules.MOST_CLAIMS


def test_two_watchers_of_one_stretch_count_it_once() -> None:
    records: Records = ()
    for late in (0.0, 0.4, 3.0):
        one = Comparison(REST, CONTRADICTS, "state", WALL + late)
        records, _ = count_comparison(records, "claude", "2.1", one, "7-1", WALL + late + TIMING)
    assert len(source_checks_rules.find_claims(records, "claude", "2.1")[0].outcomes) == 1
    later = Comparison(REST, CONTRADICTS, "state", WALL + 60)
    records, _ = count_comparison(records, "claude", "2.1", later, "7-1", WALL + 65)
    assert len(source_checks_rules.find_claims(records, "claude", "2.1")[0].outcomes) == 2


def test_what_was_always_right_is_not_written_again() -> None:
    records = after(*[AGREES] * KEPT)
    one = Comparison(REST, AGREES, "state", WALL + 100)
    assert count_comparison(records, "claude", "2.1", one, "9-9", WALL + 105)[0] is records


# What a listing marks -------------------------------------------------------------------------------------------------


def test_sources_that_contradict_each_other_are_marked_at_a_first_look() -> None:
    assert Watcher().disagrees(said("state", "working"), title())
    assert not Watcher().disagrees(said("state", "idle"), title())
    assert not Watcher().disagrees(said("state", "working"), screen("waiting", "menu"))


def test_not_while_the_strong_one_has_just_changed() -> None:
    watcher = Watcher()
    assert not watcher.disagrees(said("state", "working", at=watcher.wall - 1), title())
    assert Watcher().disagrees(said("state", "working", at=watcher.wall - 60), title())


def test_a_watcher_marks_only_what_lasts() -> None:
    watcher = Watcher()
    watcher.sees(10, said("state", "idle"), title())
    assert not watcher.disagrees(said("state", "working"), title())
    watcher.sees(3, said("state", "working"), title())
    assert watcher.disagrees(said("state", "working"), title())
    watcher.sees(10, said("state", "working"), title("working"))
    assert not watcher.disagrees(said("state", "working"), title())


def test_two_strong_sources_that_show_what_is_can_disagree() -> None:
    assert Watcher().disagrees(said("osc7501", "working"), said("state", "idle"))
    assert not Watcher().disagrees(said("state", "idle"), said("hook", "working", at=WALL))


def test_an_open_turn_alone_marks_nothing() -> None:
    assert not Watcher().disagrees(said("hook", "working", at=WALL), title())
