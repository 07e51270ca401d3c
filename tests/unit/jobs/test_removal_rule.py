"""A job may be removed only where nothing lives, nothing is watched and nothing is still to be heard of it."""

from __future__ import annotations

from typing import Any

import pytest

from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Alive, JobFacts
from midwatch.core.states import VerdictState
from midwatch.core.verdict import FINAL, LIVE, Verdict
from midwatch.jobs.rules.removal import RemovalFacts, find_obstacle
from tests.unit.jobs.test_job_verdict import record


def obstacle(
    *, state: VerdictState = "completed", final: bool = True, settled: bool = True, facts: Any = None, **seen: Any
) -> str:
    found = JobFacts("build", 100.0, record=record())._replace(**(facts or {}))
    verdict = Verdict("build", "job", state, final, "", "gone", "unknown", settled=settled)
    return find_obstacle(found, verdict, RemovalFacts(**{"since_end_s": 60.0, **seen}))


@pytest.mark.parametrize("state", sorted({*FINAL, "stuck", "unknown"}))
def test_what_has_ended_for_good_may_go(state: VerdictState) -> None:
    assert obstacle(state=state) == ""


@pytest.mark.parametrize("state", LIVE)
def test_what_has_not_ended_stays(state: VerdictState) -> None:
    assert "midwatch stop build" in obstacle(state=state, final=False)


@pytest.mark.parametrize(
    "seen",
    [
        {"settled": False},
        {"facts": {"record": None}},
        {"facts": {"survivors": ((ForeignText("sleep"), 7),)}},
        {"facts": {"work": Alive(7, "S")}},
        {"older_s": 61.0},
        {"processes": 1},
        {"unsent": True},
        {"undelivered": 1},
        {"prompts": 1},
        {"mail": True},
        {"monitored": True},
        {"watches": "api"},
        {"pane": "alive"},
        {"pane": "attached"},
        {"pane": "unknown"},
    ],
    ids=str,
)
def test_each_of_these_keeps_it(seen: dict[str, Any]) -> None:
    assert obstacle(**seen) != ""


@pytest.mark.parametrize("pane", ["none", "gone", "dead"])
def test_a_pane_in_which_nothing_runs_keeps_nothing(pane: str) -> None:
    assert obstacle(pane=pane, older_s=60.0) == ""
