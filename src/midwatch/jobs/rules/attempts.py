"""Several attempts at one job, and how they are told."""

from midwatch.core.job_model import Attempt, Record
from midwatch.core.policy import Policy
from midwatch.core.text import end_in_words, in_words
from midwatch.core.verdict import Evidence

SHORT = 10.0
"""Seconds below which tenths are told."""


def told(attempt: Attempt, policy: Policy) -> str:
    return f"attempt {attempt.number} {attempt.end.state}: {end_in_words(attempt.end, policy)}"


def counted(reason: str, record: Record) -> str:
    return f"{reason}; attempt {record.attempt} of {record.retries + 1}" if record.retries else reason


def following(record: Record, now: float) -> str:
    which = f"attempt {record.attempt + 1} of {record.retries + 1}"
    if record.next_mono is None:
        return f"{which} is being decided"
    wait = max(0.0, record.next_mono - now)
    return f"{which} in {in_words(round(wait, 1) if wait < SHORT else float(round(wait)))}"


def evidence(record: Record) -> tuple[Evidence, ...]:
    """Every attempt that has ended before the one that is told anyway."""
    earlier = [attempt for attempt in record.attempts if record.end is None or attempt.number < record.attempt]
    return tuple(Evidence(f"attempt {attempt.number}", _line(attempt, record.policy)) for attempt in earlier)


def _line(attempt: Attempt, policy: Policy) -> str:
    return f"{attempt.end.state}: {end_in_words(attempt.end, policy)}"
