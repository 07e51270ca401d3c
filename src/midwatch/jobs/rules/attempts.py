"""Several attempts at one job, and how they are told."""

from midwatch.core.job_model import Attempt, Record
from midwatch.core.policy import Policy
from midwatch.core.text import end_in_words, format_duration
from midwatch.core.verdict import Evidence, Verdict

SHORT = 10.0
"""Seconds below which tenths are told."""


def format_attempt(attempt: Attempt, policy: Policy) -> str:
    return f"attempt {attempt.number} {attempt.end.state}: {end_in_words(attempt.end, policy)}"


def add_attempt_number(reason: str, record: Record) -> str:
    if not record.retries:
        return reason
    numbered = f"{reason}; attempt {record.attempt} of {record.retries + 1}"
    end = record.end
    lost = end is not None and end.unsupervised and end.state not in ("completed", "stopped")
    lost = lost and record.attempt <= record.retries
    return f"{numbered}; its shim is gone, so it is not tried again" if lost else numbered


def format_next_attempt(record: Record, now: float) -> str:
    which = f"attempt {record.attempt + 1} of {record.retries + 1}"
    if record.next_mono is None:
        return f"{which} is being decided"
    wait = max(0.0, record.next_mono - now)
    return f"{which} in {format_duration(round(wait, 1) if wait < SHORT else float(round(wait)))}"


def attempt_evidence(record: Record) -> tuple[Evidence, ...]:
    """Every attempt that has ended before the one that is told anyway."""
    earlier = [attempt for attempt in record.attempts if record.end is None or attempt.number < record.attempt]
    return tuple(Evidence(f"attempt {attempt.number}", _format_state(attempt, record.policy)) for attempt in earlier)


def attempt_verdicts(record: Record, job: Verdict) -> list[tuple[int, Verdict]]:
    """Every attempt by its number: those that have ended as they ended, the last one as the job is."""
    ended = {each.number: each for each in record.attempts if record.end is None or each.number < record.attempt}
    found = [(number, _judge_attempt(attempt, record, job)) for number, attempt in sorted(ended.items())]
    if record.attempt not in ended:
        found.append((record.attempt, job._replace(name=f"{job.name}/{record.attempt}", kind="attempt")))
    return found


def _judge_attempt(attempt: Attempt, record: Record, job: Verdict) -> Verdict:
    end = attempt.end
    return Verdict(
        f"{job.name}/{attempt.number}", "attempt", end.state, True, end_in_words(end, record.policy),  # of a record
        process="gone", progress="unknown", cause=end.cause, exit_code=end.exit_code, signal=end.signal,
        elapsed_s=end.elapsed_s, log=job.log,
    )  # fmt: skip


def _format_state(attempt: Attempt, policy: Policy) -> str:
    return f"{attempt.end.state}: {end_in_words(attempt.end, policy)}"
