"""What a keeper of a job's time notes after a look, and what a shim is told when it asks.

A shim keeps the time of its own work; where there is none, a watcher does. Both note the same by the same rule.
"""

from midwatch.breaker.rules import backoff
from midwatch.core.job_model import Attempt, JobFacts, ProgressSnapshot, Record
from midwatch.core.policy import Policy
from midwatch.core.stuck import SUSPECTED, Suspicion, shift_moment, shift_sources
from midwatch.core.text import end_in_words
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.rules import attempts
from midwatch.jobs.rules.verdict import judge

UNTIL_MOVED = 86400.0
"""Seconds after which a shim asks again about work that was found stuck; if it moves, the shim sees that itself."""


class ShimInstruction(Value):
    """What the shim is told."""

    what: str
    """`wait`, `stop`, `retry` or `end`."""
    seconds: float
    """Until the next question, or the next attempt."""
    word: str
    """`moving`, `stale` or `stuck`; `ended` when an attempt has."""
    reason: str


def next_progress(verdict: Verdict, seen: ProgressSnapshot, policy: Policy, now: float) -> ProgressSnapshot:
    """What a keeper of a job's time notes after a look of its own: when silence began to count, when it was enough."""
    before = Suspicion(seen.stale_since, seen.stuck)
    after = before.next(now, policy.grace_s, suspected=verdict.progress in SUSPECTED)
    return seen._replace(at=now, stale_since=after.since, stuck=after.confirmed)


def shift_times(seen: ProgressSnapshot, gap: float) -> ProgressSnapshot:
    """Notes after time was lost."""
    sources, since = shift_sources(seen.sources, gap), shift_moment(seen.stale_since, gap)
    return seen._replace(at=seen.at + gap, sources=sources, stale_since=since)


def instruct_shim(facts: JobFacts, policy: Policy, *, breaker: str = "") -> ShimInstruction:
    """What the shim is told when it asks. ``breaker``: why its breaker forbids another attempt, if it does."""
    if facts.record is not None and (last := facts.record.between) is not None:
        if refusal := _find_retry_problem(facts.record, last) or breaker:
            return ShimInstruction("end", 0.0, "ended", f"not tried again: {refusal}")
        at = facts.record.next_mono
        delay = backoff.retry_delay(last.number, facts.record.backoff_s, facts.record.run)
        seconds = delay if at is None else max(0.0, at - facts.now)
        following = facts.record._replace(next_mono=facts.now + seconds)
        said = f"{attempts.format_attempt(last, policy)}; {attempts.format_next_attempt(following, facts.now)}"
        return ShimInstruction("retry", seconds, "ended", said)
    verdict = judge(facts)
    if verdict.progress not in SUSPECTED or facts.seen is None:
        return ShimInstruction("wait", max(1.0, policy.stale_s - (verdict.silent_s or 0.0)), "moving", verdict.reason)
    after = next_progress(verdict, facts.seen, policy, facts.now)
    verdict = judge(facts._replace(seen=after))
    if after.stuck:
        return ShimInstruction("stop" if policy.on_stuck == "stop" else "wait", UNTIL_MOVED, "stuck", verdict.reason)
    wait = verdict.deadline[1] if verdict.deadline else policy.grace_s
    return ShimInstruction("wait", max(0.0, wait), "stale", verdict.reason)


def _find_retry_problem(record: Record, last: Attempt) -> str:
    """Why there is no other attempt; empty when there is one."""
    if last.number > record.retries:
        return f"{last.number} of {record.retries + 1} attempts were made"
    return "" if backoff.is_retryable(last.end) else end_in_words(last.end, record.policy)
