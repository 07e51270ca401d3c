"""Which change of a verdict is worth a notice, and that each is told once, however many watch.

Every watcher reports only its own changes: something to tell began, or it is over. What was told already is known to
all (`NotificationState`). The times of their observations show which report is the older one. So ten watchers of one
session report one change, and two that judge differently for a while do not report it back and forth.
"""

from __future__ import annotations

from midwatch.breaker.rules import backoff
from midwatch.core.notification_kinds import LIVE_TOLD
from midwatch.core.verdict import FINAL, Verdict
from midwatch.notifications.model import Change, Notification, NotificationState

FIRST = 30.0
"""Seconds before what could not be delivered is tried again; doubled each time, up to five minutes."""
MOST_TRIES = 20
"""A channel may have delivered and still say that it failed: then this is how often somebody is told."""
THERE = ("starting", "alive", "suspended", "unsupervised")
"""What is said of processes that may still do something."""
KEPT = 86400.0
"""Seconds after which nobody wants to be told any more."""


def is_reportable(verdict: Verdict | None) -> bool:
    """Whether somebody should know of this, if it is new."""
    return verdict is not None and (verdict.final or verdict.state in LIVE_TOLD)


def is_work_present(verdict: Verdict) -> bool:
    """Whether a last word is only its watcher's: a turn has ended, or a monitor gave up; the work is still there."""
    return verdict.final and (verdict.state == "abandoned" or verdict.process in THERE)


def is_relevant_change(before: Verdict | None, after: Verdict) -> bool:
    """Whether a change concerns those who are told: something began that they should know, or it is over."""
    if after.state == "not_found":  # a name that never was is a slip of the finger
        return before is not None and before.state != "not_found"
    if not is_reportable(after):
        return is_reportable(before)
    return before is None or (before.state, before.final) != (after.state, after.final)


def record_change(told: NotificationState, change: Change) -> tuple[NotificationState, bool]:
    """What has been told once this is heard, and whether it is to be told."""
    over = change.final and not change.goes_on
    if told.final:
        return told, False
    known = told.boot == change.boot
    if known and not over and change.at <= told.at:
        return told, False  # somebody has looked later
    if not change.final and change.state not in LIVE_TOLD:
        return told._replace(open=False, at=change.at, boot=change.boot), False
    if known and told.open and _is_repetition(told, change, over=over):
        return told._replace(final=over), False
    return NotificationState(
        change.state, over, open=True, at=change.at, boot=change.boot, number=told.number + 1
    ), True


def _is_repetition(told: NotificationState, change: Change, *, over: bool) -> bool:
    """Whether this was told in other words. That what was done, or given up, is then ended on purpose is no news."""
    if over:
        return told.state in FINAL and change.state in (told.state, "stopped")
    moved = change.since is not None and change.since > told.at  # it was not so for a while, and nobody saw that
    return told.state == change.state and not moved


def is_wanted(on: tuple[str, ...], change: Change) -> bool:
    """Whether a channel is told of this."""
    return change.state in on or (change.final and "final" in on)


def is_due(notice: Notification, now: float) -> bool:
    """Whether it is time to try. A time that is too far ahead was reckoned by a clock that has been set back since."""
    return notice.again <= now or notice.again > now + backoff.LONGEST


def next_try_at(notice: Notification, now: float) -> float | None:
    """When to try again what could not be delivered; None: never, it was tried for long enough."""
    if notice.tries >= MOST_TRIES or is_expired(notice, now):
        return None
    return now + backoff.retry_delay(max(1, notice.tries), FIRST, notice.id)


def is_expired(notice: Notification, now: float) -> bool:
    return now - notice.filed > KEPT
