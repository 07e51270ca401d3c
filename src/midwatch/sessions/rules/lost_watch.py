"""Which watched sessions are to be brought back: those that something else ended than their work or a person."""

from __future__ import annotations

from midwatch.core.job_model import Record
from midwatch.core.verdict import Verdict
from midwatch.jobs.monitor_plan import MonitorPlan
from midwatch.jobs.rules.resume_condition import is_resumable

SHUT_DOWN = ("stop-asked", "hangup")
"""How a session ends whose machine or tmux server is shut down. A person's `stop` is told apart before."""
MIDST = ("working", "limited", "waiting", "unknown", "")
"""Turns in which an agent had something to do when it was lost; the empty one was never seen."""


def is_watch_open(plan: MonitorPlan) -> bool:
    """Whether a job was to watch a session, and the watch has not come to the end of the work."""
    return bool(plan.job) and plan.ended in ("", "stopped")


def is_lost(ended: Verdict, record: Record, plan: MonitorPlan) -> bool:
    """Whether a session that is over is to be brought back."""
    if ended.state == "stopped":
        return record.end is not None and record.end.cause in SHUT_DOWN
    return not plan.ended and is_resumable(ended)


def has_more_to_do(turn: str) -> bool:
    """Whether an agent that is back is told to go on; one whose turn had ended is at its prompt again, as before."""
    return turn in MIDST
