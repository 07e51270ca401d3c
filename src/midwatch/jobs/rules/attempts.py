"""Several attempts at one job, and how they are told."""

from midwatch.core.job_model import Attempt, Record
from midwatch.core.policy import Policy
from midwatch.core.text import end_in_words, format_duration
from midwatch.core.verdict import Evidence

SHORT = 10.0
"""Seconds below which tenths are told."""


def format_attempt(attempt: Attempt, policy: Policy) -> str:
    return f"attempt {attempt.number} {attempt.end.state}: {end_in_words(attempt.end, policy)}"


def add_attempt_number(reason: str, record: Record) -> str:
    return f"{reason}; attempt {record.attempt} of {record.retries + 1}" if record.retries else reason


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


def _format_state(attempt: Attempt, policy: Policy) -> str:
    return f"{attempt.end.state}: {end_in_words(attempt.end, policy)}"
