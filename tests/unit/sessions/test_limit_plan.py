"""Who continues a session after a limit, and how that is told."""

from __future__ import annotations

import pytest

from midwatch.core.verdict import LimitPlan, Verdict
from midwatch.jobs.monitor_plan import MonitorPlan
from midwatch.sessions.rules import limit_plan

END = 5000.0
LIMITED = Verdict("api", "session", "limited", False, "it hit a limit", "alive", "unknown", turn="limited", ends=END)
WAITS = MonitorPlan("run", on_limit="wait", continues=3)


@pytest.mark.parametrize(
    ("verdict", "plan", "watched", "cancelled", "found"),
    [
        (LIMITED, WAITS, True, False, LimitPlan(END, "monitor", "", 3)),
        (LIMITED, WAITS, False, False, LimitPlan(END, "", "not-watched")),
        (LIMITED, None, True, False, LimitPlan(END, "", "not-watched")),
        (LIMITED, WAITS._replace(on_limit="report"), True, False, LimitPlan(END, "", "not-watched")),
        (LIMITED, WAITS, True, True, LimitPlan(END, "", "cancelled", 3)),
        (LIMITED, WAITS._replace(continues=0), True, False, LimitPlan(END, "", "none-left", 0)),
        (LIMITED._replace(ends=None), WAITS, True, False, LimitPlan(None, "", "end-unknown", 3)),
        (LIMITED._replace(detail="continues"), None, False, True, LimitPlan(END, "agent")),
    ],
)
def test_who_continues_it(
    verdict: Verdict, plan: MonitorPlan | None, watched: bool, cancelled: bool, found: LimitPlan
) -> None:
    assert limit_plan.plan_limit(verdict, plan, watched=watched, cancelled=cancelled) == found


@pytest.mark.parametrize(
    ("plan", "clock", "left", "words"),
    [
        (LimitPlan(END, "monitor"), "03:10", 7510.0, "continues 03:10 (in 2h 05m)"),
        (LimitPlan(END, "agent"), "03:10", 0.2, "continues 03:10, by itself"),
        (LimitPlan(None, "agent"), "", None, "continues when its limit is over, by itself"),
        (
            LimitPlan(END, "", "not-watched"), "03:10", 60.0,
            "until 03:10 (in 1m); nobody continues it: midwatch monitor -d api",
        ),
        (
            LimitPlan(None, "", "end-unknown"), "", None,
            "until a time that is not known; nobody continues it: midwatch send api 'go on'",
        ),
    ],
)  # fmt: skip
def test_what_a_person_reads(plan: LimitPlan, clock: str, left: float | None, words: str) -> None:
    assert limit_plan.format_plan("api", plan, clock, left) == words
