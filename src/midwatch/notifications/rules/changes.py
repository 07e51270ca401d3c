"""Which change of a verdict is worth a notice, and that each is told once, however many watch.

Every watcher reports only its own changes: something to tell began, or it is over. What was told already is known to
all (`NotificationState`). The times of their observations show which report is the older one. So ten watchers of one
session report one change, and two that judge differently for a while do not report it back and forth.
"""

from __future__ import annotations

from midwatch.core.notification_kinds import CONTINUES, LIVE_TOLD, UNPLANNED
from midwatch.core.verdict import FINAL, Verdict
from midwatch.notifications.model import Change, Notification, NotificationState

THERE = ("starting", "alive", "suspended", "unsupervised")
"""What is said of processes that may still do something."""
PAUSES = ("waiting", "limited")
"""States after which it is told that work continues."""


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
        continues = known and told.open and told.state in PAUSES and change.state == "working"
        number = told.number + continues
        return told._replace(open=False, at=change.at, boot=change.boot, number=number), continues
    if known and told.open and _is_repetition(told, change, over=over):
        return told._replace(final=over), False
    return NotificationState(
        change.state, over, open=True, at=change.at, boot=change.boot, number=told.number + 1,
        planned=change.planned, cause=change.cause, began=change.began or change.wall,
    ), True  # fmt: skip


def _is_repetition(told: NotificationState, change: Change, *, over: bool) -> bool:
    """Whether this was told in other words. That what was done, or given up, is then ended on purpose is no news."""
    if over:
        return told.state in FINAL and change.state in (told.state, "stopped")
    moved = change.since is not None and change.since > told.at  # it was not so for a while, and nobody saw that
    unplanned = change.state == "limited" and told.planned and not change.planned  # nothing continues it any more
    return told.state == change.state and not moved and not unplanned


def is_wanted(on: tuple[str, ...], change: Change) -> bool:
    """Whether a channel is told of this."""
    if change.state == "working":
        return CONTINUES in on
    if change.state == "limited" and not change.planned and UNPLANNED in on:
        return True
    return change.state in on or (change.final and "final" in on)


def is_outdated(notice: Notification, told: NotificationState) -> bool:
    """Whether something else is so by now. That a monitor gave up says nothing of what it watched."""
    state = notice.fields.get("state")
    if state == CONTINUES:
        return told.number > notice.number
    closed = told.number == notice.number and bool(told.state) and not told.open
    return state in LIVE_TOLD and (told.number > notice.number or closed) and told.state != "abandoned"
