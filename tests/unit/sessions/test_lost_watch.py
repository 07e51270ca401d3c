"""Which watched sessions are brought back after a reboot."""

from __future__ import annotations

import pytest

from midwatch.core.causes import Cause
from midwatch.core.job_model import End, Record
from midwatch.core.states import VerdictState
from midwatch.core.verdict import Verdict
from midwatch.jobs.codec import sentinel
from midwatch.jobs.monitor_plan import MonitorPlan
from midwatch.sessions.rules import lost_watch
from tests.unit.core.test_frozen import text

RECORD = sentinel.decode_record(text("completed.json"))
PLAN = MonitorPlan("run", job="api.monitor")
assert RECORD.end is not None
END: End = RECORD.end


def ended(state: VerdictState, cause: Cause = "signal", signal: int | None = None, detail: str = "") -> Verdict:
    return Verdict("api", "session", state, True, "", "gone", "unknown", cause, signal=signal, detail=detail)


def stopped(cause: Cause) -> Record:
    return RECORD._replace(end=END._replace(cause=cause))


@pytest.mark.parametrize(
    ("verdict", "record", "plan", "lost"),
    [
        (ended("crashed"), RECORD._replace(end=None), PLAN, True),
        (ended("crashed", signal=9), RECORD, PLAN, True),
        (ended("unknown", "exit-unseen"), RECORD, PLAN, True),
        (ended("unknown", "exit-unseen", detail="turn-ended"), RECORD, PLAN, False),
        (ended("stopped", "hangup"), stopped("hangup"), PLAN._replace(ended="stopped"), True),
        (ended("stopped", "stop-asked"), stopped("stop-asked"), PLAN, True),
        (ended("stopped", "interrupt"), stopped("interrupt"), PLAN, False),
        (ended("stopped", "left-mid-turn"), stopped("exit"), PLAN, False),
        (ended("crashed", signal=9), RECORD, PLAN._replace(ended="crashed"), False),
        (ended("completed", "exit"), RECORD, PLAN, False),
        (ended("failed", "exit"), RECORD, PLAN, False),
    ],
)
def test_what_neither_its_work_nor_a_person_ended_is_lost(
    verdict: Verdict, record: Record, plan: MonitorPlan, *, lost: bool
) -> None:
    assert lost_watch.is_lost(verdict, record, plan) is lost


@pytest.mark.parametrize(
    ("plan", "is_open"),
    [(PLAN, True), (PLAN._replace(ended="stopped"), True), (PLAN._replace(ended="completed"), False),
     (PLAN._replace(ended="abandoned"), False), (PLAN._replace(job=""), False)],
)  # fmt: skip
def test_a_watch_is_open_until_it_came_to_the_end_of_the_work(plan: MonitorPlan, *, is_open: bool) -> None:
    assert lost_watch.is_watch_open(plan) is is_open


@pytest.mark.parametrize(("turn", "more"), [("working", True), ("limited", True), ("", True), ("idle", False)])
def test_only_an_agent_that_was_at_work_is_told_to_go_on(turn: str, *, more: bool) -> None:
    assert lost_watch.has_more_to_do(turn) is more
