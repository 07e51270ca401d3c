"""What will happen when the limit of a session ends, and what a person reads of that."""

from __future__ import annotations

from midwatch.core.text import format_duration
from midwatch.core.turn_state import Limited
from midwatch.core.verdict import LimitPlan, Verdict
from midwatch.jobs.monitor_plan import MonitorPlan


def plan_limit(verdict: Verdict, plan: MonitorPlan | None, *, watched: bool, cancelled: bool) -> LimitPlan:
    """Who continues a limited session. ``watched``: the monitor of that plan lives."""
    turn = verdict.turn_state
    if isinstance(turn, Limited) and turn.continues:
        return LimitPlan(verdict.ends, "agent")
    waits = plan is not None and watched and plan.on_limit == "wait"
    left = plan.continues if waits and plan is not None else None
    if waits and cancelled:
        return LimitPlan(verdict.ends, "", "cancelled", left)
    if waits and left == 0:
        return LimitPlan(verdict.ends, "", "none-left", left)
    if waits and verdict.ends is None:
        return LimitPlan(None, "", "end-unknown", left)
    return LimitPlan(verdict.ends, "monitor", "", left) if waits else LimitPlan(verdict.ends, "", "not-watched")


def format_plan(name: str, plan: LimitPlan, clock: str, left_s: float | None) -> str:
    """One clause. ``clock``: the end of the limit as a time of day; empty where it is not known."""
    countdown = "" if left_s is None or left_s < 1 else f" (in {format_duration(float(int(left_s)))})"
    if plan.by:
        when = f"continues {clock}{countdown}" if clock else "continues when its limit is over"
        return f"{when}, by itself" if plan.by == "agent" else when
    until = f"until {clock}{countdown}" if clock else "until a time that is not known"
    does = {
        "cancelled": f"cancelled; midwatch limit {name} --continue",
        "none-left": f"it was continued as often as allowed; midwatch send {name} 'go on'",
        "end-unknown": f"midwatch send {name} 'go on'",
        "not-watched": f"midwatch monitor -d {name}",
    }
    return f"{until}; nobody continues it: {does[plan.why]}"
