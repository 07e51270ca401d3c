"""Looks up what will happen to a session that hit a limit: whether its monitor lives, and what that was asked to do."""

from __future__ import annotations

import time
from datetime import datetime

from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.jobs.monitor_plan import MonitorPlan
from midwatch.sessions.rules import limit_plan
from midwatch.system import procfs

TODAY = 20 * 3600.0
"""Seconds within which a time of day says enough."""


def add_limit_plan(base: str, verdict: Verdict) -> Verdict:
    """The same verdict on a limited session, with who continues it and when; any other as it is."""
    if verdict.state != "limited":
        return verdict
    plan = monitor_store.read_plan(base)
    found = limit_plan.plan_limit(
        verdict, plan, watched=is_watched(plan), cancelled=monitor_store.is_limit_cancelled(base)
    )
    left = None if verdict.ends is None else verdict.ends - time.time()
    words = limit_plan.format_plan(verdict.name, found, format_clock(verdict.ends), left)
    return verdict._replace(limit=found, reason=f"{words}; {verdict.reason}")


def is_watched(plan: MonitorPlan | None) -> bool:
    """Whether the monitor of a plan lives."""
    if plan is None or plan.ended or plan.boot != procfs.boot_id():
        return False
    pid, start = plan.monitor
    return bool(start) and procfs.start_time(pid) == start


def format_clock(at: float | None) -> str:
    """A moment as people here read it from the clock, with its day where that is not today's or tonight's."""
    if at is None:
        return ""
    moment = datetime.fromtimestamp(at).astimezone()
    return moment.strftime("%H:%M" if abs(at - time.time()) < TODAY else "%a %d %b, %H:%M")
