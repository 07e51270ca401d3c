"""The clock in an agent's status line as the last word on whether it is stuck: a policy, `clock=final`.

Whoever shows a new time is alive, whatever else says; who shows none, or shows the same one still, is not saved by it.
A time that was redrawn and is older than one already seen says nothing; midnight is an advance. Elsewhere a clock is a
sign of life only, because one with a refresh interval ticks through any hang.
"""

from __future__ import annotations

from midwatch.core.policy import Policy
from midwatch.core.stuck import Veto

DAY = 24 * 3600
MINUTE = 60.0

Shown = tuple[str, float]
"""The time as it was shown, and the monotonic moment from which on it was."""


def latest_clock(before: Shown | None, shown: str | None, now: float) -> Shown | None:
    """What to remember of a clock."""
    if shown is None:
        return before
    return (shown, now) if before is None or has_advanced(before[0], shown) else before


def has_advanced(before: str, shown: str) -> bool:
    """Whether a time of day comes after another; what is more than half a day ahead is behind."""
    return 0 < (_to_seconds(shown) - _to_seconds(before)) % DAY < DAY // 2


def find_vetoes(last: Shown | None, policy: Policy) -> tuple[Veto, ...]:
    """Until when a clock forbids to call anything stuck."""
    if last is None or policy.clock != "final":
        return ()
    shown, since = last
    # One that shows minutes only cannot say more often that it goes on.
    return (Veto("clock-advances", since + (policy.grace_s if shown.count(":") > 1 else policy.grace_s + MINUTE)),)


def _to_seconds(shown: str) -> int:
    hour, minute, second = (*map(int, shown.split(":")), 0)[:3]
    return (hour * 60 + minute) * 60 + second
