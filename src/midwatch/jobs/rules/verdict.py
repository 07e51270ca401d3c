"""The verdict on one job.

A final word written down beats everything; then what the processes are; then whether the work moves. Alive is not
advancing, and silence is a suspicion first: only a look at the end of the grace period makes it `stuck`.
"""

from midwatch.core import stuck
from midwatch.core.causes import Cause
from midwatch.core.evidence_text import (
    LONGEST_STATUS,
    SUSPENDED,
    format_processes,
    format_sources,
    format_status,
    process_evidence,
)
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Alive, Attempt, End, Gone, JobFacts, Record, Unseen
from midwatch.core.policy import PATIENT, Policy
from midwatch.core.process_state import Exited, ProcessState
from midwatch.core.states import VerdictState
from midwatch.core.stuck import Patience, Suspicion, WatchedSource
from midwatch.core.text import end_in_words, format_duration
from midwatch.core.verdict import FINAL, Evidence, Verdict
from midwatch.jobs.rules import adopted_text, attempts

STATUS_PATIENCE = 1.0
"""Seconds that a shim may take between the end in its record and the status: who is told may go and read that."""
RESULT_PATIENCE = 1.0
"""Seconds that a foreign SUCCESS may wait for its result."""
SECOND_LOOK = 1.0
"""Seconds between the two looks that what cannot be seen is entitled to."""
ENDING_IS_ODD_AFTER = 2.0


def judge(facts: JobFacts) -> Verdict:
    """Say what is true of a job, from one look at it."""
    if not facts.exists:
        return _build_verdict(facts, "not_found", "not-found", _format_missing(facts), "gone")
    if facts.record is not None and facts.record.end is not None:
        return _judge_end(facts, facts.record)
    if facts.ending is not None:
        return _judge_foreign_end(facts, facts.ending)
    if facts.status is not None and (facts.record is None or facts.status.raw.strip()):
        return _judge_status(facts, facts.status)
    if facts.record is not None:
        return _judge_own(facts, facts.record)
    return _judge_foreign(facts)


def _format_missing(facts: JobFacts) -> str:
    why = next(iter(facts.troubles), "there is no job of that name")
    others = {0: "no jobs exist", 1: "1 job exists"}.get(facts.others, f"{facts.others} jobs exist")
    return f"no job {facts.name}: {why}; {others} here"


# A final word -------------------------------------------------------------------------------------------------


def _judge_end(facts: JobFacts, record: Record) -> Verdict:
    end = record.end
    assert end is not None
    reason = attempts.add_attempt_number(end_in_words(end, record.policy), record)
    if end.state == "completed" and facts.result is not None and not facts.result.valid:
        reason += "; its result is not valid JSON"
    if end.left:
        reason += f"; left running: {format_processes(end.left)}"
    against = tuple(Evidence("left running", f"{command.line()} ({pid})") for command, pid in end.left)
    exited: ProcessState = Exited(None if end.signal else end.exit_code, end.signal)
    if exited == Exited() and end.state == "abandoned":
        exited = "unknown"
    said = Evidence("record", f"{end.state}: {end_in_words(end, record.policy)}")
    verdict = _build_verdict(facts, end.state, end.cause, reason, exited, (said, *_status_evidence(facts)), against)
    told = record.started_mono + end.elapsed_s + STATUS_PATIENCE
    if facts.watched and facts.status is None and isinstance(facts.shim, Alive) and facts.now < told:
        verdict = verdict._replace(settled=False, look_at=told)
    return verdict._replace(
        final=True, exit_code=end.exit_code, signal=end.signal, elapsed_s=end.elapsed_s,
        result=facts.result.value if facts.result else None, ended=end.at,
    )  # fmt: skip


def _judge_foreign_end(facts: JobFacts, end: End) -> Verdict:
    """A foreign step that Midwatch ended: its own files can only say FAILED."""
    seen = (process_evidence("pid file", facts.shim), *_status_evidence(facts))
    verdict = _build_verdict(facts, end.state, end.cause, end.reason, Exited(), seen)
    return verdict._replace(final=True, elapsed_s=end.elapsed_s)


def _judge_status(facts: JobFacts, status: ForeignText) -> Verdict:
    """A status without our record of an end: a foreign wrapper's, or our record cannot be read."""
    word, seen = status.raw.strip(), _status_evidence(facts)
    if word == "SUCCESS":
        verdict = _build_verdict(facts, "completed", "status-file", "its status says SUCCESS", Exited(0), seen)
        if facts.result is None or not facts.result.valid:
            return _wait_for_result(facts, verdict)
        return verdict._replace(result=facts.result.value, exit_code=0)
    if word == "FAILED":
        return _build_verdict(facts, "failed", "status-file", "its status says FAILED", Exited(), seen)
    if word:
        reason = f"its status says {ForeignText(word).line(LONGEST_STATUS)!r}, which is neither SUCCESS nor FAILED"
        return _build_verdict(facts, "unknown", "status-file", reason, "unknown", seen)
    if isinstance(facts.shim, Gone):
        reason = "it ended and left an empty status file"
        return _build_verdict(facts, "crashed", "status-empty", reason, "gone", seen)
    return _judge_foreign(facts)._replace(settled=False) if isinstance(facts.shim, Alive) else _judge_foreign(facts)


def _wait_for_result(facts: JobFacts, verdict: Verdict) -> Verdict:
    """agentic-process-monitor's wrapper writes SUCCESS before its result: wait until its process ends, 1 s at most."""
    verdict = verdict._replace(exit_code=0)
    if facts.result is not None:
        verdict = verdict._replace(reason=f"{verdict.reason}; its result is not valid JSON")
    if facts.record is not None or not isinstance(facts.shim, Alive) or not facts.watched:
        return verdict
    until = (facts.now if facts.status_since is None else facts.status_since) + RESULT_PATIENCE
    return verdict._replace(settled=facts.now >= until, look_at=until)


# Processes ----------------------------------------------------------------------------------------------------


def _judge_own(facts: JobFacts, record: Record) -> Verdict:
    shim, work = facts.shim, facts.work
    keeper = adopted_text.format_supervisor(record)
    seen = (process_evidence(keeper, shim), process_evidence("work", work))
    if facts.stop is not None and isinstance(facts.stop.by, Alive) and not isinstance(shim, Unseen):
        reason = f"{facts.stop.reason}: it is being ended by process {facts.stop.by.pid}"
        process: ProcessState = Exited() if isinstance(work, Gone) else "alive"
        return _build_verdict(facts, "working", "ending", reason, process, seen)
    if record.between is not None and not isinstance(shim, Unseen):
        return _judge_between_attempts(facts, record, record.between, seen)
    if isinstance(shim, Unseen) or isinstance(work, Unseen):
        why = work.why if isinstance(work, Unseen) else shim.why if isinstance(shim, Unseen) else ""
        return _judge_unseen(facts, why, seen)
    if isinstance(shim, Gone):
        if isinstance(work, Gone):
            return _judge_lost(facts, work, seen)
        notes = "" if record.policy.timeout_s is None else "; its timeout is no longer enforced"
        reason = f"unsupervised: its {keeper} is gone, the work goes on{notes}"
        return _judge_live(facts, work, "unsupervised", seen, reason)
    if isinstance(work, Gone):
        reason = f"the work has ended; its {keeper} is about to say how"
        if shim.suspended:
            reason = f"the work has ended, but its {keeper} is suspended and cannot say how"
        elif facts.seen and facts.now - facts.seen.at > ENDING_IS_ODD_AFTER:
            reason += " (if this lasts, its disk is full or read-only)"
        return _build_verdict(facts, "working", "ending", reason, Exited(), seen)
    if shim.suspended and not work.suspended:
        reason = f"alive; its {keeper} is suspended, so no deadline is kept"
        return _build_verdict(facts, "working", "unsupervised", reason, "alive", seen)._replace(progress="unknown")
    return _judge_live(facts, work, "alive", seen)


def _judge_between_attempts(facts: JobFacts, record: Record, last: Attempt, seen: tuple[Evidence, ...]) -> Verdict:
    """An attempt has ended and its shim waits to begin the next; without the shim there is none."""
    said = attempts.format_attempt(last, record.policy)
    if isinstance(facts.shim, Gone):
        reason = f"{said}; its shim is gone, so it is not tried again"
        verdict = _build_verdict(facts, last.end.state, last.end.cause, reason, "gone", seen)
        return verdict._replace(final=True, exit_code=last.end.exit_code, signal=last.end.signal)
    reason = f"{said}; {attempts.format_next_attempt(record, facts.now)}"
    return _build_verdict(facts, "starting", "between-attempts", reason, "starting", seen)


def _judge_foreign(facts: JobFacts) -> Verdict:
    seen = (process_evidence("pid file", facts.shim), *_status_evidence(facts))
    match facts.shim:
        case Alive():
            verdict = _judge_live(facts, facts.shim, "alive", seen)
            if facts.open_until is None:
                return verdict
            # Both are of one tick of its clock: whoever wrote its own status ends in a moment.
            return verdict._replace(settled=False, look_at=min(verdict.look_at or facts.open_until, facts.open_until))
        case Gone(why=why):
            return _judge_lost(facts, Gone(why), seen)
        case Unseen(why=why):
            return _judge_unseen(facts, why, seen)


def _judge_unseen(facts: JobFacts, why: str, seen: tuple[Evidence, ...]) -> Verdict:
    """No process to look at: as long as its heartbeat may still move, there is something to wait for."""
    policy = facts.record.policy if facts.record else facts.policy or PATIENT
    pulse = facts.seen.sources.get("heartbeat") if facts.seen else None
    patience = SECOND_LOOK if pulse is None else build_patience(policy).stuck_s
    since = pulse.moved if pulse else facts.now if facts.unseen_since is None else facts.unseen_since
    if pulse is not None:
        why += f"; its heartbeat moved {format_duration(facts.now - since)} ago"
    settled = not facts.watched or facts.now >= since + patience
    verdict = _build_verdict(facts, "unknown", "not-seen", why, "unknown", seen)
    return verdict._replace(settled=settled, look_at=None if settled else since + patience)


def _judge_lost(facts: JobFacts, gone: Gone, seen: tuple[Evidence, ...]) -> Verdict:
    if unseen := adopted_text.format_unseen_end(facts.record, gone):
        return _build_verdict(facts, "unknown", "exit-unseen", unseen, Exited(), seen)._replace(final=True)
    if facts.outlived and facts.record is not None and facts.record.adopted is None:
        reason = f"it ended after its shim had gone ({gone.why}); its exit status is not known"
        if facts.survivors:
            reason += f"; still running: {format_processes(facts.survivors)}"
        return _build_verdict(facts, "unknown", "exit-unseen", reason, Exited(), seen)._replace(final=True)
    reason = f"it ended without a status: {gone.why}"
    left = tuple(Evidence("left running", f"{command.line()} ({pid})") for command, pid in facts.survivors)
    if left:
        reason += f"; still running: {format_processes(facts.survivors)}"
    return _build_verdict(facts, "crashed", "no-status", reason, "gone", seen, left)


# Movement -----------------------------------------------------------------------------------------------------


def build_patience(policy: Policy) -> Patience:
    """When silence of a job counts."""
    return Patience(policy.stale_s, policy.grace_s, min(stuck.QUIET_AFTER, policy.stale_s / 2))


def _judge_live(
    facts: JobFacts, work: Alive, process: ProcessState, seen: tuple[Evidence, ...], note: str = ""
) -> Verdict:
    if work.suspended:
        said = f"unsupervised, and {SUSPENDED}" if process == "unsupervised" else SUSPENDED
        return _build_verdict(facts, "waiting", "suspended", said, "suspended", seen)
    cause: Cause = "unsupervised" if process == "unsupervised" else ""
    verdict = _build_verdict(facts, "working", cause, note or "alive", process, seen)
    keeper = facts.seen
    if keeper is None or not keeper.sources:
        return verdict
    policy = facts.record.policy if facts.record else facts.policy or PATIENT
    started = facts.record.began if facts.record else None
    sources = tuple(
        WatchedSource(name, moved, observed=moved != started) for name, (_, _, moved) in keeper.sources.items()
    )
    silence = stuck.assess(sources, build_patience(policy), Suspicion(keeper.stale_since, keeper.stuck), facts.now)
    verdict = stuck.apply_silence(verdict, silence, facts.now)
    beginning = adopted_text.format_start(facts.record)
    moves = stuck.movement_evidence(sources, facts.now, f"has not moved since it was {beginning},")
    if not silence.suspected:
        return verdict._replace(
            evidence=(*verdict.evidence, *moves), reason=note or stuck.format_latest(sources, facts.now, beginning),
            deadline=_find_deadline(facts, policy, verdict),
        )  # fmt: skip
    what = f"no {format_sources(policy.progress)} for {format_duration(silence.lasted)}"
    if process == "unsupervised":
        what = f"unsupervised, and {what}"
    if silence.stuck:
        reason = f"{what} ({silence.outlook})"
        return verdict._replace(reason=reason, evidence=moves, against=(*verdict.evidence, *verdict.against))
    return verdict._replace(reason=f"{what}; {silence.outlook}", against=(*verdict.against, *moves))


def _find_deadline(facts: JobFacts, policy: Policy, silent: Verdict) -> tuple[str, float] | None:
    """What comes first if nothing moves: the suspicion or the timeout."""
    if facts.record is not None and policy.timeout_s is not None and silent.look_at is not None:
        timeout = facts.record.began + policy.timeout_s
        if timeout < silent.look_at:
            return "timeout", timeout - facts.now
    return silent.deadline


# Words --------------------------------------------------------------------------------------------------------


def _build_verdict(
    facts: JobFacts, state: VerdictState, cause: Cause, reason: str, process: ProcessState,
    evidence: tuple[Evidence, ...] = (), against: tuple[Evidence, ...] = (),
) -> Verdict:  # fmt: skip
    troubles = tuple(Evidence("trouble", trouble) for trouble in facts.troubles)
    notes = tuple(Evidence("note", note.line()) for note in (facts.record.notes if facts.record else ()))
    if facts.record is not None:
        evidence = (*evidence, *attempts.attempt_evidence(facts.record), *adopted_text.adoption_evidence(facts.record))
    if facts.beat is not None and (facts.beat.note or facts.beat.progress is not None):
        done = "" if facts.beat.progress is None else f" ({facts.beat.progress:.0%} done)"
        evidence = (*evidence, Evidence("the work says", f"{facts.beat.note.line()}{done}".strip()))
    return Verdict(
        name=facts.name, kind=facts.record.kind if facts.record else "job", state=state, final=state in FINAL,
        reason=reason, process=process, cause=cause,
        progress="unknown", elapsed_s=facts.elapsed_s, log=facts.log, beat=facts.beat,
        evidence=evidence, against=(*against, *notes, *troubles),
    )  # fmt: skip


def _status_evidence(facts: JobFacts) -> tuple[Evidence, ...]:
    if facts.earlier is not None:
        return (Evidence("status file", f"{format_status(facts.earlier)}, written by an earlier run"),)
    return () if facts.status is None else (Evidence("status file", format_status(facts.status)),)
