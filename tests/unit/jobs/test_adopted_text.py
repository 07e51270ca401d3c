"""The judge on work that somebody else started: what nobody saw is not guessed."""

from __future__ import annotations

import pytest

from midwatch.core.exit_codes import exit_code
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import (
    Adopted,
    Alive,
    End,
    Gone,
    Identity,
    JobFacts,
    Process,
    ProgressSnapshot,
    ProgressSource,
    Record,
    Unseen,
    WorkResult,
)
from midwatch.core.policy import PATIENT, STRICT, Policy
from midwatch.core.process_state import Exited
from midwatch.jobs.rules import adopted_text
from midwatch.jobs.rules import verdict as job_verdict

NOW = 10_000.0
BEGAN = NOW - 100.0
ALIVE = Alive(42, "S")
GONE = Gone("process 42 has ended")
A_PROCESS = Adopted("", "", stop=False, log="")
A_STEP = Adopted("/pipeline", "build", stop=False, log="/pipeline/build.log")


def record(adopted: Adopted = A_PROCESS, end: End | None = None, policy: Policy = PATIENT) -> Record:
    who = Identity("host", "boot", "pid:[1]", 42, 7)
    found = Record("build", "r1", ("make",), "/", policy, 0.0, NOW - 900.0, who, who, (), end)
    return found._replace(adopted=adopted, attempt_mono=BEGAN)


def text(status: str | None) -> ForeignText | None:
    return None if status is None else ForeignText(status)


def facts(keeper: Process, work: Process, of: Record | None = None, **more: object) -> JobFacts:
    return JobFacts("build", NOW, record=of or record(), shim=keeper, work=work)._replace(**more)  # type: ignore[arg-type]


def test_a_process_whose_end_nobody_saw_is_unknown_for_good_and_neither_crashed_nor_completed() -> None:
    verdict = job_verdict.judge(facts(GONE, GONE))
    assert (verdict.state, verdict.final, verdict.settled) == ("unknown", True, True)
    assert (verdict.exit_code, verdict.process) == (None, Exited())
    assert "ended while nobody kept watch" in verdict.reason
    assert "exit status is not known" in verdict.reason
    assert exit_code(verdict.state) == 12


def test_our_own_work_whose_end_nobody_saw_is_crashed_as_ever() -> None:
    assert job_verdict.judge(facts(GONE, GONE, record()._replace(adopted=None))).state == "crashed"


@pytest.mark.parametrize(("status", "state"), [("SUCCESS\n", "completed"), ("FAILED\n", "failed"), (None, "crashed")])
def test_a_step_whose_keeper_is_gone_is_what_its_own_files_say(status: str | None, state: str) -> None:
    result = WorkResult(valid=True, value={"n": 1})
    verdict = job_verdict.judge(facts(GONE, GONE, record(A_STEP), status=text(status), result=result))
    assert (verdict.state, verdict.final) == (state, True)
    assert verdict.result == ({"n": 1} if state == "completed" else None)


def test_work_whose_keeper_is_gone_goes_on_unsupervised() -> None:
    verdict = job_verdict.judge(facts(GONE, ALIVE))
    assert (verdict.state, verdict.process) == ("working", "unsupervised")
    assert "its keeper is gone" in verdict.reason


def test_work_that_has_ended_waits_for_its_keeper_to_say_how() -> None:
    verdict = job_verdict.judge(facts(ALIVE, GONE))
    assert (verdict.state, verdict.final) == ("working", False)
    assert "its keeper is about to say how" in verdict.reason


@pytest.mark.parametrize("keeper", [ALIVE, GONE])
def test_suspended_work_waits_for_a_person(keeper: Process) -> None:
    assert job_verdict.judge(facts(keeper, Alive(42, "T"))).state == "waiting"


def test_what_cannot_be_seen_is_unknown_but_not_for_good() -> None:
    verdict = job_verdict.judge(facts(Unseen("elsewhere"), Unseen("elsewhere")))
    assert (verdict.state, verdict.final) == ("unknown", False)


def test_an_end_whose_status_could_not_be_found_out_is_told_as_such() -> None:
    end = End("unknown", None, None, "it ended, but its exit status is not known: hidden", 0.0, 5.0, ())
    verdict = job_verdict.judge(facts(GONE, GONE, record(end=end)))
    assert (verdict.state, verdict.final, verdict.process) == ("unknown", True, Exited())
    assert verdict.reason == end.reason


def test_abandoned_work_is_not_said_to_have_exited() -> None:
    end = End("abandoned", None, None, "not done after 30m: it is left as it is", 0.0, 5.0, ())
    verdict = job_verdict.judge(facts(GONE, ALIVE, record(end=end)))
    assert (verdict.state, verdict.final, verdict.process) == ("abandoned", True, "unknown")


def test_silence_and_timeout_are_reckoned_from_the_adoption_not_from_the_start() -> None:
    notes = ProgressSnapshot("r1", "boot", NOW, None, stuck=False, sources={"cpu": ProgressSource(1.0, BEGAN, BEGAN)})
    verdict = job_verdict.judge(facts(ALIVE, ALIVE, record(policy=STRICT._replace(stale_s=1e6)), seen=notes))
    assert verdict.reason == "adopted 1m 40s ago"
    assert verdict.deadline == ("timeout", 1700.0)


@pytest.mark.parametrize(
    ("adopted", "says"), [(A_PROCESS, "process 42"), (A_STEP, "build in /pipeline"), (A_STEP, "left alone")]
)
def test_why_names_where_it_came_from_and_what_may_be_done_to_it(adopted: Adopted, says: str) -> None:
    evidence = job_verdict.judge(facts(ALIVE, ALIVE, record(adopted))).evidence
    assert any(piece.source == "adopted" and says in piece.says for piece in evidence)


def test_work_that_may_be_ended_is_said_to_be() -> None:
    evidence = job_verdict.judge(facts(ALIVE, ALIVE, record(A_PROCESS._replace(stop=True)))).evidence
    assert any("the policy may end it" in piece.says for piece in evidence)


# A policy that may end a foreign step ------------------------------------------------------------------------------


def step(shim: Process = ALIVE, **more: object) -> JobFacts:
    return JobFacts("build", NOW, policy=STRICT, shim=shim)._replace(**more)  # type: ignore[arg-type]


HUNG = ProgressSnapshot("", "boot", NOW, NOW - 40.0, True, {"output": ProgressSource(0.0, NOW, NOW - 100.0)})
LATER = NOW + 1.0


@pytest.mark.parametrize(
    ("facts", "timeout_at", "state"),
    [
        (step(seen=HUNG), LATER, "stuck"),
        (step(seen=HUNG), NOW, "stuck"),
        (step(), NOW, "timeout"),
        (step(status=text("")), NOW, "timeout"),
        (step(), LATER, None),
        (step(status=text("SUCCESS\n")), NOW, None),
        (step(shim=GONE), NOW, None),
        (step(shim=Alive(42, "T"), seen=HUNG), NOW, None),
        (step(shim=Unseen("hidden"), seen=HUNG), NOW, None),
        (step(earlier=text("SUCCESS\n"), open_until=LATER), NOW, None),
        (step(earlier=text("SUCCESS\n")), NOW, "timeout"),
    ],
)
def test_a_strict_policy_ends_a_step_that_hangs_or_is_too_slow_and_no_other(
    facts: JobFacts, timeout_at: float, state: str | None
) -> None:
    found = adopted_text.required_end(facts, job_verdict.judge(facts), STRICT, timeout_at)
    assert (found and found[0]) == state


def test_a_policy_that_reports_does_not_end_what_hangs() -> None:
    facts = step(seen=HUNG)
    assert adopted_text.required_end(facts, job_verdict.judge(facts), STRICT._replace(on_stuck="report"), LATER) is None


def test_a_job_of_ours_is_left_to_its_own_keeper() -> None:
    ours = facts(ALIVE, ALIVE)
    assert adopted_text.required_end(ours, job_verdict.judge(ours), STRICT, NOW) is None


# Files of an earlier run --------------------------------------------------------------------------------------------


def test_the_status_of_an_earlier_run_is_named_and_changes_nothing() -> None:
    verdict = job_verdict.judge(step(earlier=text("SUCCESS\n")))
    assert (verdict.state, verdict.settled) == ("working", True)
    assert ("status file", "SUCCESS, written by an earlier run") in [each[:2] for each in verdict.evidence]


def test_until_it_is_known_whose_the_status_is_nothing_is_settled() -> None:
    verdict = job_verdict.judge(step(earlier=text("SUCCESS\n"), open_until=LATER))
    assert (verdict.state, verdict.settled, verdict.look_at) == ("working", False, LATER)


def test_a_run_that_ended_without_a_status_of_its_own_is_crashed() -> None:
    assert job_verdict.judge(step(shim=GONE, earlier=text("SUCCESS\n"))).state == "crashed"


@pytest.mark.parametrize("status", [None, "FAILED\n"])
def test_what_we_ended_is_what_we_ended_it_for(status: str | None) -> None:
    end = End("stuck", None, None, "no output for 90s", 0.0, 95.0, (), "no-progress")
    verdict = job_verdict.judge(step(shim=GONE, status=text(status), ending=end))
    assert (verdict.state, verdict.final, verdict.cause, verdict.reason) == (
        "stuck", True, "no-progress", "no output for 90s",
    )  # fmt: skip
