"""Trying again: which ends are worth it, and how long to wait first."""

import zlib

from midwatch.breaker.model import COUNTING
from midwatch.core.job_model import End

LONGEST = 300.0
"""Seconds at which doubling stops."""
JITTER = 0.2
"""Part of a delay that is left to chance, so that jobs which failed together do not come back together."""
DOUBLINGS = 64
"""More than enough to come from a millisecond to any length, and no number overflows."""


def retry_delay(attempt: int, base_s: float, run: str) -> float:
    """Seconds between the end of an attempt and the next. Chance comes from the run's id: a replay gives the same."""
    full = min(base_s * 2.0 ** min(attempt - 1, DOUBLINGS), max(LONGEST, base_s))
    chance = zlib.crc32(f"{run}/{attempt}".encode("utf-8", "surrogateescape")) / 0xFFFFFFFF
    return full * (1.0 - JITTER * chance)


def is_retryable(end: End) -> bool:
    """Whether another attempt may go better. A program that says 127 itself may; one that is not there will not."""
    return (end.state in COUNTING and end.cause != "not-started") or end.cause == "exit-unseen"
