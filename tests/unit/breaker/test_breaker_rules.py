"""The rules of a breaker, one by one, as a person would tell them."""

from __future__ import annotations

import pytest

from midwatch.breaker.model import (
    COUNTING,
    AttemptOutcome,
    Closed,
    Happening,
    Ledger,
    Open,
    Reset,
    SetBack,
    Started,
    State,
    TrialRun,
    Trip,
    Tripped,
    Void,
)
from midwatch.breaker.rules import breaker

COOLDOWN = 900.0


def after(*happened: Happening, threshold: int = 3) -> State:
    return breaker.fold(Ledger(), happened, threshold).state


def run(number: int, state: str, *, at: float = 0.0) -> tuple[Happening, ...]:
    return Started(at, f"r{number}", "job", trial=False), AttemptOutcome(at, f"r{number}", "job", 1, state)


def row(*states: str) -> tuple[Happening, ...]:
    return tuple(each for number, state in enumerate(states) for each in run(number, state, at=float(number)))


OPENED = row("failed", "failed", "failed")
TRIAL = Started(1000.0, "t", "try", trial=True)


def trial_ends(state: str, *, at: float = 1100.0) -> Happening:
    return AttemptOutcome(at, "t", "try", 1, state)


# The row


@pytest.mark.parametrize("state", COUNTING)
def test_three_failures_of_any_kind_in_a_row_open_it_at_the_last(state: str) -> None:
    assert isinstance(after(*row("failed", "crashed")), Closed)
    opened = after(*row("failed", "crashed", state))
    assert isinstance(opened, Open)
    assert (opened.since, opened.failures, opened.last.state) == (2.0, 3, state)


@pytest.mark.parametrize("state", ["stopped", "abandoned", "unknown", "incomplete"])
def test_what_says_nothing_of_the_work_neither_counts_nor_ends_the_row(state: str) -> None:
    assert after(*row(state, state, state)) == Closed()
    assert isinstance(after(*row("failed", state, "failed", state, "failed")), Open)


def test_a_success_ends_the_row() -> None:
    assert after(*row("failed", "failed", "completed")) == Closed()
    assert isinstance(after(*row("failed", "failed", "completed", "failed", "failed")), Closed)


def test_the_attempts_of_one_run_count_one_by_one_and_each_once() -> None:
    started, told = Started(0.0, "r", "job", trial=False), AttemptOutcome(1.0, "r", "job", 1, "failed")
    again = told._replace(attempt=2, state="timeout")
    state = after(started, told, told, again, told, again)
    assert isinstance(state, Closed)
    assert state.failures == 2


def test_of_two_words_on_one_attempt_the_first_holds() -> None:
    """Whoever finds a dead run and its shim that was late may both tell of it."""
    started, told = Started(0.0, "r", "job", trial=False), AttemptOutcome(1.0, "r", "job", 1, "crashed")
    assert after(started, told, told._replace(state="completed"), threshold=1) == after(started, told, threshold=1)


def test_nothing_is_heard_of_a_run_that_has_ended_or_was_never_let_through() -> None:
    late = AttemptOutcome(5.0, "r0", "job", 2, "failed")
    assert after(*run(0, "completed"), late) == Closed()
    assert after(*run(0, "stopped"), late) == Closed()
    assert after(late) == Closed()


# Side by side


def test_what_counts_is_the_order_in_which_runs_end() -> None:
    names = ("a", "b", "c", "d")
    starts = [Started(0.0, name, name, trial=False) for name in names]
    ends = [AttemptOutcome(9.0, name, name, 1, "failed") for name in names]
    assert isinstance(after(*starts, *ends[:3]), Open)
    assert isinstance(after(*starts, ends[0], ends[1]._replace(state="completed"), *ends[2:]), Closed)


def test_a_success_of_a_run_from_before_it_opened_closes_it() -> None:
    early = Started(0.0, "early", "job", trial=False)
    assert after(early, *OPENED, AttemptOutcome(50.0, "early", "job", 1, "completed")) == Closed()


def test_a_late_failure_counts_but_does_not_make_it_wait_longer() -> None:
    state = after(
        Started(0.0, "early", "job", trial=False), *OPENED, AttemptOutcome(500.0, "early", "slow", 1, "failed")
    )
    assert isinstance(state, Open)
    assert (state.since, state.failures, state.last.name) == (2.0, 4, "slow")


def test_a_failure_beside_a_trial_leaves_the_trial_as_it_is() -> None:
    early = Started(0.0, "early", "job", trial=False)
    state = after(early, *OPENED, TRIAL, AttemptOutcome(1050.0, "early", "slow", 1, "failed"))
    assert isinstance(state, TrialRun)
    assert (state.run, state.before.since, state.before.failures) == ("t", 2.0, 4)


# The trial


def test_nothing_is_let_through_before_the_cool_down_and_one_trial_after_it() -> None:
    state = after(*OPENED)
    assert breaker.decide(state, COOLDOWN, 901.0) == breaker.BreakerDecision(admitted=False, wait_s=1.0)
    assert breaker.decide(state, COOLDOWN, 902.0) == breaker.BreakerDecision(admitted=True, trial=True)
    assert not breaker.decide(after(*OPENED, TRIAL), COOLDOWN, 5000.0).admitted


def test_a_trial_that_succeeds_closes_it() -> None:
    assert after(*OPENED, TRIAL, trial_ends("completed")) == Closed()


@pytest.mark.parametrize("state", COUNTING)
def test_a_trial_that_fails_makes_it_wait_a_whole_cool_down_again(state: str) -> None:
    failed = after(*OPENED, TRIAL, trial_ends(state))
    assert isinstance(failed, Open)
    assert (failed.since, failed.failures) == (1100.0, 4)
    assert breaker.decide(failed, COOLDOWN, 1999.0).wait_s == 1.0


@pytest.mark.parametrize("end", [trial_ends("stopped"), trial_ends("unknown"), Void(1100.0, "t")])
def test_a_trial_that_tells_nothing_leaves_it_as_it_was(end: Happening) -> None:
    assert after(*OPENED, TRIAL, end) == after(*OPENED)


# Persons


def test_a_reset_closes_it_and_later_ends_count_from_nothing() -> None:
    early = Started(0.0, "early", "job", trial=False)
    state = after(early, *OPENED, Reset(9.0, ""), AttemptOutcome(10.0, "early", "job", 1, "failed"))
    assert isinstance(state, Closed)
    assert state.failures == 1


def test_a_reset_covers_attempts_that_had_ended_by_then_and_no_later_ones() -> None:
    early = Started(0.0, "early", "job", trial=False)
    reset = Reset(9.0, "", (("early", 1), ("unheard-of", 1)))
    late = AttemptOutcome(10.0, "early", "job", 1, "failed")
    assert after(early, reset, late) == Closed()
    assert after(early, reset, AttemptOutcome(10.0, "early", "job", 1, "completed"), *OPENED) == after(*OPENED)
    state = after(early, reset, late, AttemptOutcome(11.0, "early", "job", 2, "failed"))
    assert isinstance(state, Closed)
    assert state.failures == 1


def test_a_reset_makes_a_trial_a_run_like_others() -> None:
    state = after(*OPENED, TRIAL, Reset(1050.0, ""), trial_ends("failed"))
    assert isinstance(state, Closed)
    assert state.failures == 1


def test_what_was_tripped_waits_for_a_person_however_long_and_whatever_succeeds() -> None:
    early = Started(0.0, "early", "job", trial=False)
    state = after(early, Trip(5.0, "why"), AttemptOutcome(10.0, "early", "job", 1, "completed"))
    assert state == Tripped(5.0, "why")
    assert breaker.decide(state, COOLDOWN, 1e12) == breaker.BreakerDecision(admitted=False)
    assert after(Trip(5.0, "why"), Reset(6.0, "")) == Closed()


# Clocks


def test_one_that_opened_in_the_future_waits_a_cool_down_from_when_that_was_noticed() -> None:
    ahead = row("failed", "failed") + run(9, "failed", at=1e9)
    assert breaker.decide(after(*ahead), COOLDOWN, 100.0).wait_s == COOLDOWN
    noticed = after(*ahead, SetBack(100.0))
    assert breaker.decide(noticed, COOLDOWN, 999.0).wait_s == 1.0
    assert breaker.decide(noticed, COOLDOWN, 1000.0).trial


def test_a_clock_that_was_set_back_never_makes_the_wait_shorter_than_a_cool_down_of_that_clock() -> None:
    assert breaker.decide(after(*OPENED, SetBack(500.0)), COOLDOWN, 902.0).trial  # it had opened before that: no change
    assert breaker.decide(after(*OPENED, SetBack(-50.0)), COOLDOWN, 849.0).wait_s == 1.0


# Words


def test_a_refusal_says_why_and_what_to_do() -> None:
    assert breaker.format_refusal("nightly", after(*OPENED), COOLDOWN, 242.0) == (
        "breaker nightly is open: 3 failures in a row (last: job failed 4m ago); a trial is let through in 11m; "
        "`midwatch breaker reset nightly` closes it now"
    )
    assert breaker.format_refusal("nightly", after(*OPENED, TRIAL), COOLDOWN, 1002.0) == (
        "breaker nightly is open: 3 failures in a row (last: job failed 16m 40s ago); its trial try has not ended yet; "
        "`midwatch breaker reset nightly` closes it now"
    )
    assert breaker.format_refusal("nightly", Tripped(0.0, "the key has expired"), COOLDOWN, 7200.0) == (
        "breaker nightly is open: tripped by a person 2h 00m ago (the key has expired); "
        "only `midwatch breaker reset nightly` closes it"
    )


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("failed", "job failed 10s ago"),
        ("crashed", "job crashed 10s ago"),
        ("stuck", "job was stuck 10s ago"),
        ("timeout", "job timed out 10s ago"),
    ],
)
def test_the_last_failure_is_told_in_words(state: str, words: str) -> None:
    assert breaker.format_state(after(*run(0, state)), COOLDOWN, 10.0) == f"1 failure (last: {words})"
    assert breaker.format_state(after(*run(0, state)), COOLDOWN, -10.0).endswith("0s ago)")
