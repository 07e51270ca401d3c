"""A run judged again from its events: the judge is asked what was asked then, with what was known then.

What the events hold is enough to build the very facts: policy and start of each attempt, when each source last moved
and when the judge looked, the ends. Where a line says too little, that is said, and nothing is claimed.
"""

from __future__ import annotations

from midwatch.core.job_model import Alive, Attempt, End, Identity, JobFacts, ProgressSnapshot, ProgressSource, Record
from midwatch.core.policy import Policy
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.rules import stall
from midwatch.jobs.rules.stall import ShimInstruction
from midwatch.jobs.rules.verdict import judge
from midwatch.replay.model import ReplayRow, RunHappening

SLACK = 1.0
"""Seconds by which an event may be noted later than what it tells of."""
NO_POLICY = "the start of this run, with its policy, is not in the evidence"
NOT_SEEN = "what the judge saw is not in the evidence"
NO_RETRIES = "how often it may be tried is not in the evidence"
OVERTAKEN = "it moved, or time was lost, while the judge was answering"
WHO = Identity("", "", "", 2, 0)


class RunState(Value):
    """What is known of a run at one of its events."""

    name: str
    run: str
    first: float
    first_wall: float
    """When it began: the moment of its first event, and that on the wall."""
    policy: Policy | None = None
    retries: int | None = None
    backoff_s: float = 0.0
    attempt: int = 1
    began: float = 0.0
    lost: float = 0.0
    """Seconds of this attempt that do not count: suspended, asleep."""
    last: float = 0.0
    """When anything last moved, as far as that was noted; lost time is added."""
    stale_since: float | None = None
    stuck: bool = False
    suspended_at: float | None = None
    shifted_at: float = 0.0
    """When time was last found to be lost."""
    stopping: str = ""
    answer: ShimInstruction | None = None
    """What the judge says now where it was asked last."""
    attempts: tuple[Attempt, ...] = ()


Step = tuple[RunState, ReplayRow | None]


def begin_run(it: RunHappening, record: Record | None = None) -> RunState:
    """What is known before the first event. ``record``: the run's own, where it is still there."""
    story = RunState(it.name, it.run, it.when, it.at)
    return story if record is None else story._replace(retries=record.retries, backoff_s=record.backoff_s)


def replay_event(story: RunState, it: RunHappening) -> Step:
    """What is known after an event, and the verdict that was given at it, if there was one, beside today's."""
    known = STEPS.get(it.event)
    after, row = known(story, it) if known else (story, ReplayRow(None, None, note="no verdict of a shim"))
    if row is None:
        return after, None
    at = it.when - after.first if known else it.at - after.first_wall
    return after, mark_sameness(row._replace(at=max(0.0, at), event=it.event, attempt=after.attempt))


def mark_sameness(row: ReplayRow) -> ReplayRow:
    given, now = row.given or {}, row.now or {}
    return row._replace(differs=not row.uncertain and any(now.get(word) != said for word, said in given.items()))


def build_facts(story: RunState, now: float, moved: dict[str, float], *, end: End | None = None) -> JobFacts:
    """What a look at the job found at a moment of its story."""
    assert story.policy is not None
    record = Record(
        story.name, story.run, (), "", story.policy, 0.0, story.first, WHO, WHO, (), end, attempt=story.attempt,
        attempt_mono=story.began, retries=story.retries or 0, backoff_s=story.backoff_s, attempts=story.attempts,
    )  # fmt: skip
    sources = {name: ProgressSource(0.0, moment, moment) for name, moment in moved.items()}
    work = Alive(WHO.pid, "S" if story.suspended_at is None else "T")
    seen = ProgressSnapshot(story.run, "", now, story.stale_since, story.stuck, sources)
    return JobFacts(story.name, now, record=record, shim=Alive(WHO.pid, "S"), work=work, seen=seen)


def build_sources(story: RunState, moment: float) -> dict[str, float]:
    """All sources as if they had last moved together."""
    return dict.fromkeys(story.policy.progress if story.policy else (), moment)


def verdict_axes(verdict: Verdict) -> dict[str, object]:
    """A verdict as rows hold it."""
    suspected = {"progress": verdict.progress} if verdict.state == "working" and verdict.progress == "stalled" else {}
    return {"state": verdict.state, **suspected, "reason": verdict.reason}


# One function for each event ------------------------------------------------------------------------------------


def _replay_start(story: RunState, it: RunHappening) -> Step:
    began = it.when if it.began is None else it.began
    story = RunState(
        story.name, story.run, min(story.first, began), story.first_wall, it.policy,
        story.retries if it.retries is None else it.retries, story.backoff_s if it.backoff_s is None else it.backoff_s,
        it.attempt or 1, began, last=began, attempts=story.attempts,
    )  # fmt: skip
    return story, _replay_verdict(story, {"state": "working"}, began)


def _replay_quiet(story: RunState, it: RunHappening) -> Step:
    """A silence that ended in time: nothing was given. A judge who suspects it now is another than then."""
    if it.since is None or it.until is None:
        return story, None
    after, row = story._replace(last=it.until, stale_since=None), None
    if story.policy is not None and it.until - it.since < story.policy.stale_s:
        now = verdict_axes(judge(build_facts(story, it.until, build_sources(story, it.since))))
        row = None if "progress" not in now else ReplayRow({"state": "working", "progress": None}, now)
    return after, row


def _replay_stale(story: RunState, it: RunHappening) -> Step:
    given: dict[str, object] = {"state": "working", "progress": "stalled", "reason": it.reason}
    answer, row = _replay_instruction(story._replace(stale_since=None), it, given)
    return story._replace(last=_last_movement(story, it), stale_since=it.when, answer=answer), row


def _replay_stuck(story: RunState, it: RunHappening) -> Step:
    story = story._replace(stale_since=it.stale_since)
    answer, row = _replay_instruction(story, it, {"state": "stuck", "reason": it.reason})
    return story._replace(last=_last_movement(story, it), stuck=True, answer=answer), row


def _replay_instruction(
    story: RunState, it: RunHappening, given: dict[str, object]
) -> tuple[ShimInstruction | None, ReplayRow]:
    """What the shim is told now, beside what it was told."""
    if story.policy is None or it.judged is None or not it.moved:
        return None, ReplayRow(given, given, NOT_SEEN if story.policy else NO_POLICY)
    if max(*it.moved.values(), story.stale_since or 0.0, story.shifted_at) > it.judged:
        return None, ReplayRow(given, given, OVERTAKEN)
    answer = stall.instruct_shim(build_facts(story, it.judged, it.moved), story.policy)
    state = "stuck" if answer.word == "stuck" else "working"
    suspected: dict[str, object] = {"progress": "stalled"} if answer.word == "stale" else {}
    return answer, ReplayRow(given, {"state": state, **suspected, "reason": answer.reason})


def _replay_movement(story: RunState, it: RunHappening) -> Step:
    moment = it.when if it.until is None else it.until
    story = story._replace(last=moment, stale_since=None, stuck=False)
    return story, _replay_verdict(story, {"state": "working"}, moment)


def _replay_suspension(story: RunState, it: RunHappening) -> Step:
    story = story._replace(suspended_at=it.when)
    return story, _replay_verdict(story, {"state": "waiting"}, story.last)


def _replay_continuation(story: RunState, it: RunHappening) -> Step:
    """Time in which it was suspended does not count: it is as silent as it was."""
    gap = 0.0 if story.suspended_at is None else max(0.0, it.when - story.suspended_at)
    story = _shift_times(story, gap, it.when)._replace(suspended_at=None)
    suspected: dict[str, object] = {} if story.stale_since is None or story.stuck else {"progress": "stalled"}
    given: dict[str, object] = {"state": "stuck" if story.stuck else "working", **suspected}
    return story, _replay_verdict(story, given, it.when if story.stale_since is None else story.last, it.when)


def _replay_lost_time(story: RunState, it: RunHappening) -> Step:
    since = story.suspended_at
    return _shift_times(story, it.seconds, it.when)._replace(suspended_at=since and since + it.seconds), None


def _replay_stop(story: RunState, it: RunHappening) -> Step:
    """Only the first counts, and only if a policy was the cause: a person's wish is no verdict."""
    before, story = story.stopping, story._replace(stopping=it.state)
    given: dict[str, object] = {"state": it.state, "stop": True, "reason": it.reason}
    if before or it.state not in ("stuck", "timeout"):
        return story, None
    if story.policy is None:
        return story, ReplayRow(given, given, NO_POLICY)
    if it.state == "stuck":
        if story.answer is None:
            return story, ReplayRow(given, given, NOT_SEEN)
        now: dict[str, object] = {"state": "stuck", "stop": story.answer.what == "stop", "reason": story.answer.reason}
        return story, ReplayRow(given, now)
    ran = it.when - story.began - story.lost
    up = story.policy.timeout_s is not None and ran + SLACK >= story.policy.timeout_s
    return story, ReplayRow(given, given if up else {"state": "working", "stop": False, "reason": ""})


def _replay_attempt(story: RunState, it: RunHappening) -> Step:
    assert it.end is not None
    number = it.attempt or story.attempt
    row = _replay_end(story, it)[1]
    return story._replace(attempts=(*story.attempts, Attempt(number, it.end)), attempt=number), row


def _replay_retry(story: RunState, it: RunHappening) -> Step:
    given: dict[str, object] = {"state": "starting", "in_s": it.in_s, "reason": it.reason}
    if story.policy is None or story.retries is None or not story.attempts:
        return story, ReplayRow(given, given, NO_RETRIES if story.policy else NO_POLICY)
    answer = stall.instruct_shim(build_facts(story, it.when if it.judged is None else it.judged, {}), story.policy)
    state = "starting" if answer.what == "retry" else story.attempts[-1].end.state
    return story, ReplayRow(given, {"state": state, "in_s": answer.seconds, "reason": answer.reason})


def _replay_end(story: RunState, it: RunHappening) -> Step:
    assert it.end is not None
    given: dict[str, object] = {"state": it.end.state, "exit_code": it.end.exit_code, "signal": it.end.signal}
    if story.policy is None:
        return story, ReplayRow(given, given, NO_POLICY)
    verdict = judge(build_facts(story, it.when, {}, end=it.end))
    now: dict[str, object] = {
        "state": verdict.state,
        "exit_code": verdict.exit_code,
        "signal": verdict.signal,
        "reason": verdict.reason,
    }
    return story, ReplayRow(given, now)


def _replay_undecided(story: RunState, it: RunHappening) -> Step:
    return story, ReplayRow(None, None, note=f"nobody judged: {it.reason}")


STEPS = {
    "started": _replay_start, "quiet": _replay_quiet, "stale": _replay_stale, "stuck": _replay_stuck,
    "moved": _replay_movement, "suspended": _replay_suspension,
    "continued": _replay_continuation, "lost": _replay_lost_time, "stopping": _replay_stop, "attempt": _replay_attempt,
    "retrying": _replay_retry,
    "ended": _replay_end, "undecided": _replay_undecided,
}  # fmt: skip


def _replay_verdict(story: RunState, given: dict[str, object], moved: float, now: float | None = None) -> ReplayRow:
    """A verdict of which only the state was noted; its reason would be told from moments that nobody noted."""
    if story.policy is None:
        return ReplayRow(given, given, NO_POLICY)
    said = verdict_axes(judge(build_facts(story, moved if now is None else now, build_sources(story, moved))))
    return ReplayRow(given, {axis: word for axis, word in said.items() if axis != "reason"})


def _shift_times(story: RunState, gap: float, now: float) -> RunState:
    return story._replace(last=story.last + gap, lost=story.lost + gap, shifted_at=now)


def _last_movement(story: RunState, it: RunHappening) -> float:
    return max(it.moved.values()) if it.moved else story.last
