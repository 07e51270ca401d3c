"""One rule for all: the same silence under the same thresholds is called the same, whoever judges it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from midwatch.agents.turn_model import Presence, SessionFacts, SessionMemory, SourceReading, TrackedValue
from midwatch.core import stuck
from midwatch.core.job_model import Alive, Identity, JobFacts, ProgressSnapshot, ProgressSource, Record
from midwatch.core.policy import PATIENT, Policy
from midwatch.core.stuck import Patience, Suspicion, WatchedSource
from midwatch.core.verdict import Verdict
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.sessions.rules import verdict as session_verdict
from midwatch.taskdir.model import TaskFacts, TaskNotes, TaskNumbers
from midwatch.taskdir.rules import verdict as task_verdict

WHO = Identity("h", "b", "n", 42, 7)
TOLD = ("state", "progress", "cause", "silent_s", "look_at", "deadline")
spans = st.integers(0, 4000).map(lambda quarter: quarter / 4)
"""Quarters of a second: their sums are exact, so that a threshold is met or not."""


def judge_job(now: float, moved: float, noted: Suspicion, policy: Policy) -> Verdict:
    record = Record("n", "r", ("x",), "/", policy, 0.0, -1.0, WHO, WHO, (), None)
    seen = ProgressSnapshot("r", "b", now, noted.since, noted.confirmed, {"output": ProgressSource(0.0, now, moved)})
    alive = Alive(42, "S")
    return job_verdict.judge(JobFacts("n", now, record=record, shim=alive, work=alive, seen=seen))


def judge_task(now: float, moved: float, noted: Suspicion, policy: Policy) -> Verdict:
    numbers = TaskNumbers(base_s=policy.stale_s / 3, grace_s=policy.grace_s)
    notes = TaskNotes(
        "b", now, 0.0, met=-1.0, sources={"output": ProgressSource(0.0, now, moved)}, stale_since=noted.since,
        stuck=noted.confirmed,
    )  # fmt: skip
    return task_verdict.judge(TaskFacts("n", "/d", now, notes, agent=Alive(42, "S")), numbers)


def judge_session(now: float, moved: float, before: float | None, policy: Policy) -> tuple[Verdict, SessionMemory]:
    """A turn with a spinner: its screen moved just now, its text then."""
    facts = SessionFacts(
        "n", "Claude", now, now, (SourceReading("state", "working", "", "rule"),), Presence("alive", "runs", 7),
        {"text": "a"}, {"screen": str(now)},
    )  # fmt: skip
    text = {"progress text": TrackedValue("a", moved, ever=True), "life screen": TrackedValue("", moved, ever=True)}
    memory = SessionMemory(
        "working", "", moved, None, {"state": ("working", 0.0)}, text, (0.0, 0.0, moved, moved), before, looked=now
    )
    return session_verdict.judge(facts, memory, policy)


def policies() -> st.SearchStrategy[Policy]:
    stale = st.integers(1, 300).map(lambda third: third * 0.75)
    return st.builds(lambda stale, grace: PATIENT._replace(stale_s=stale, grace_s=grace), stale, spans)


@given(policies(), spans, st.none() | spans, st.booleans())
def test_jobs_and_task_directories_say_the_same_of_the_same_silence(
    policy: Policy, silent: float, ago: float | None, confirmed: bool
) -> None:
    now, noted = 5000.0, Suspicion(None if ago is None else 5000.0 - ago, confirmed)
    job, task = judge_job(now, now - silent, noted, policy), judge_task(now, now - silent, noted, policy)
    assert [getattr(job, axis) for axis in TOLD] == [getattr(task, axis) for axis in TOLD]


@given(policies(), spans, st.none() | spans)
def test_a_turn_whose_spinner_goes_on_is_suspected_and_stuck_when_a_job_is(
    policy: Policy, silent: float, ago: float | None
) -> None:
    now, before = 5000.0, None if ago is None else 5000.0 - ago
    turn, memory = judge_session(now, now - silent, before, policy)
    suspected = judge_job(now, now - silent, Suspicion(before), policy).progress == "stalled"
    noted = Suspicion(before).next(now, policy.grace_s, suspected=suspected)
    job = judge_job(now, now - silent, noted, policy)
    assert memory.stale_since == noted.since
    assert (turn.state, turn.progress == "stalled", turn.silent_s) == (job.state, suspected, job.silent_s)
    if suspected:
        assert (turn.look_at, turn.deadline, turn.cause) == (job.look_at, job.deadline, job.cause)


@given(policies(), spans, st.lists(spans, max_size=4), st.booleans())
def test_whoever_looks_when_it_was_announced_finds_it_stuck_after_three_looks(
    policy: Policy, moved: float, signs: list[float], freezes: bool
) -> None:
    patience = Patience(policy.stale_s, policy.grace_s, 60.0, 90.0 if freezes else float("inf"))
    sources = (WatchedSource("output", moved), *(WatchedSource("screen", at, progress=False) for at in signs))
    begin = max(moved, *signs, 0.0)
    found, noted, now = stuck.assess(sources, patience, Suspicion(), begin), Suspicion(), begin
    for _ in range(3):
        if found.look_at is None:
            break
        assert found.look_at >= now, "what is announced is never past"
        now = found.look_at
        suspected = stuck.assess(sources, patience, noted, now).suspected
        noted = noted.next(now, patience.grace_s, suspected=suspected)
        found = stuck.assess(sources, patience, noted, now)
    assert found.stuck
    assert now >= min(moved + patience.stale_s, begin + patience.frozen_s) + patience.grace_s
