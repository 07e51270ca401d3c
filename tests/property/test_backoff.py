"""Waiting between attempts, over any sequence of ends and restarts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midwatch.breaker.model import COUNTING
from midwatch.breaker.rules import backoff
from midwatch.core.job_model import End
from midwatch.core.states import VerdictState
from midwatch.core.verdict import FINAL, LIVE

attempts = st.integers(1, 10_000)
bases = st.just(0.0) | st.floats(1e-3, 1e6)
runs = st.text(max_size=40)


@given(attempts, bases, runs)
def test_a_delay_is_what_doubling_gives_less_at_most_a_fifth(attempt: int, base: float, run: str) -> None:
    full = base
    for _ in range(min(attempt - 1, 1100)):
        full = min(full * 2, max(300.0, base))
    assert 0.8 * full * (1 - 1e-9) <= backoff.retry_delay(attempt, base, run) <= full


@given(attempts, bases, runs)
def test_there_is_no_wait_only_where_none_was_asked_for(attempt: int, base: float, run: str) -> None:
    assert (backoff.retry_delay(attempt, base, run) == 0) == (base == 0)


@given(st.lists(st.tuples(attempts, bases, runs)))
def test_whoever_asks_again_is_told_the_same(asked: list[tuple[int, float, str]]) -> None:
    """After a restart, in a replay, in any order: nothing is remembered and nothing is drawn."""
    first = [backoff.retry_delay(*each) for each in asked]
    assert first == [backoff.retry_delay(*each) for each in reversed(asked)][::-1]


def test_runs_that_failed_together_do_not_come_back_together() -> None:
    delays = sorted(backoff.retry_delay(1, 30.0, f"18c2f0a1b2-{n:06x}") for n in range(200))
    assert len(set(delays)) > 190
    assert delays[0] < 25.0
    assert delays[-1] > 29.0


def test_the_defaults_are_half_a_minute_doubling_to_five() -> None:
    full = [30, 60, 120, 240, 300, 300, 300]
    for attempt, most in enumerate(full, start=1):
        assert 0.8 * most <= backoff.retry_delay(attempt, 30.0, "run") <= most


def ended(state: VerdictState, code: int | None = 1, reason: str = "") -> End:
    return End(state, code, None, reason, 0.0, 1.0, (), "exit")


@given(st.lists(st.sampled_from([*FINAL, *LIVE]), max_size=20), st.integers(0, 5), runs)
def test_any_sequence_of_ends_is_tried_as_often_as_was_asked_for(
    ends: list[VerdictState], retries: int, run: str
) -> None:
    """The loop that a shim and its judge make of it, each question asked anew."""
    made = 0
    for attempt, state in enumerate(ends, start=1):
        made = attempt
        if attempt > retries or not backoff.is_retryable(ended(state)):
            break
        assert 0 < backoff.retry_delay(attempt, 1.0, run) <= 300.0
    assert made <= retries + 1
    assert all(state in COUNTING for state in ends[: made - 1])


@given(st.sampled_from([*FINAL, *LIVE]), st.none() | st.integers(0, 255), st.text())
def test_only_failures_are_worth_another_attempt(state: VerdictState, code: int | None, reason: str) -> None:
    assert backoff.is_retryable(ended(state, code, reason)) == (state in COUNTING)


def test_what_could_not_be_started_is_not_tried_again() -> None:
    assert not backoff.is_retryable(ended("failed", 127)._replace(cause="not-started"))


def test_a_program_that_itself_says_127_is_tried_again_whatever_its_words() -> None:
    assert backoff.is_retryable(ended("failed", 127, "could not be started: No such file or directory"))
