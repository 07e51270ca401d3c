"""Which ends of an attempt at a step count as a crash."""

from __future__ import annotations

from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.core.policy import PATIENT
from midwatch.core.process_state import Exited
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.sessions.spawn import SpawnRequest
from midwatch.stories.step import StepPlan, StepRunner

UNSEEN = Verdict(
    "api", "session", "unknown", True, "it ended after its shim had gone", Exited(), "unknown",
    cause="exit-unseen",
)  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "crashes"),
    [
        (UNSEEN, 1),
        (UNSEEN._replace(detail="turn-ended"), 0),
        (UNSEEN._replace(final=False, cause="not-seen"), 0),
        (UNSEEN._replace(final=False, cause="never-began"), 0),
        (UNSEEN._replace(state="crashed", cause="signal", signal=9), 1),
        (UNSEEN._replace(state="completed", cause="verified"), 0),
    ],
)
def test_an_end_that_nobody_saw_is_a_crash_unless_the_turn_had_ended(
    tmp_path: Path, verdict: Verdict, crashes: int
) -> None:
    claude = next(each for each in catalog.load_all() if each.agent == "claude")
    plan = StepPlan(SpawnRequest("api", claude, str(tmp_path), ()), "work")
    stepper = StepRunner(JobDirectory(str(tmp_path), PATIENT), PATIENT, plan, lambda _: None, print)
    assert stepper.counted(stepper.ended(verdict)).crashes == crashes
    assert stepper.is_begun_anew(verdict) is bool(crashes)
