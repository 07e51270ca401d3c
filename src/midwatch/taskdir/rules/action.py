"""What a monitor notes after a look at a task, and what it does about what it saw.

A resume is counted before anything is touched, so that no monitor that is killed half way makes the number of resumes
endless; each of its phases can be begun again by the next one. After a resume the next waits as long as the looks of
the protocol lay apart: an agent that crashes at once must not use up all its resumes while a service is down.
"""

from __future__ import annotations

from midwatch.core.causes import Cause
from midwatch.core.exit_codes import REPORTED
from midwatch.core.job_model import Alive, Gone
from midwatch.core.stuck import SUSPECTED, Suspicion, shift_moment, shift_sources
from midwatch.core.text import format_duration
from midwatch.core.verdict import Verdict
from midwatch.taskdir import codec
from midwatch.taskdir.model import TaskFacts, TaskNotes, TaskNumbers, TaskStep
from midwatch.taskdir.rules.verdict import SIGNALLED, is_resumable, judge

SOON = 0.2
"""Seconds between looks at a pane whose shell is about to come back: nothing tells of that."""
TIMED_LOOK = 2.0
PATIENCE = 5.0
"""Seconds, besides those for a wrapper, in which tmux may come to its senses."""
SAMPLES = 10
"""Looks at CPU and I/O in the time after which silence counts."""
USED = ("cpu", "io")
PRINTED = ("output", "screen")
"""What moves when the agent prints: as it was captured, and as its pane shows it."""
SHORTEST_SAMPLE, LONGEST_SAMPLE = 1.0, 3.0
LEFT = "monitor_ended"
CLOCKS_STOOD = ("waiting", "limited")


def plan_step(facts: TaskFacts, before: TaskNotes, numbers: TaskNumbers) -> TaskStep:
    """What to do after a look. ``before``: the notes that the look began with; it brought them up to its moment."""
    if _left_over(facts):
        facts = facts._replace(done=False, code=None)
    notes = update_notes(facts, before, numbers)
    facts = facts._replace(notes=notes)
    verdict = judge(facts, numbers)
    over = verdict.final and verdict.settled
    if over and not is_resumable(verdict):
        return TaskStep("say", verdict, notes, facts.now)
    if facts.now >= notes.began + numbers.deadline_s:
        return TaskStep("say", verdict if over else _timeout_verdict(verdict, numbers), notes, facts.now)
    if not verdict.settled:
        return _wait_step(facts, verdict, numbers)
    if is_resumable(verdict) or (verdict.state == "stuck" and isinstance(facts.agent, Alive)):
        return _resume_step(facts, verdict, numbers)
    if verdict.state in REPORTED or verdict.state == "unknown":
        return TaskStep("say", verdict, notes, facts.now)
    if notes.phase == "ready":
        return _run_wrapper_step(facts, verdict, numbers)
    return _wait_step(facts, verdict, numbers)


def _left_over(facts: TaskFacts) -> bool:
    """Whether an end is that of the agent which was ended for the resume that is under way: told late, by its shell."""
    killed = facts.done and facts.code is not None and facts.code > SIGNALLED
    return killed and facts.agent is None and facts.notes.phase in ("ready", "typed")


def update_notes(facts: TaskFacts, before: TaskNotes, numbers: TaskNumbers) -> TaskNotes:
    """What is remembered of a look."""
    notes, now = facts.notes, facts.now
    verdict = judge(facts, numbers)
    ended = facts.done or isinstance(facts.agent, Gone)
    notes = notes._replace(
        at=now,
        gone_since=(now if notes.gone_since is None else notes.gone_since) if ended else None,
        unknown_since=(now if notes.unknown_since is None else notes.unknown_since)
        if verdict.state == "unknown"
        else None,
    )
    suspicion = Suspicion(notes.stale_since, notes.stuck)
    suspicion = suspicion.next(now, numbers.grace_s, suspected=verdict.progress in SUSPECTED)
    notes = notes._replace(stale_since=suspicion.since, stuck=suspicion.confirmed)
    if notes.agent == before.agent and any(_has_moved(name, before, notes) for name in PRINTED):
        notes = notes._replace(retry=0)
    return notes._replace(phase=_next_phase(facts, notes, before))


def _has_moved(name: str, before: TaskNotes, after: TaskNotes) -> bool:
    return name in before.sources and name in after.sources and after.sources[name].moved > before.sources[name].moved


def _next_phase(facts: TaskFacts, notes: TaskNotes, before: TaskNotes) -> str:
    """A resume is over when there is a new pid file, and called off when what hung moves again."""
    phase = notes.phase
    if phase in ("ready", "typed"):
        return "" if facts.agent is not None or facts.done else phase
    if phase == "resuming" and isinstance(facts.agent, Alive):
        return phase if notes.stuck and notes.agent == before.agent else ""
    return phase


def shift_times(notes: TaskNotes, gap: float) -> TaskNotes:
    """Notes after time was lost: every moment that something is reckoned from moves along."""
    return notes._replace(
        at=notes.at + gap,
        began=notes.began + gap,
        met=notes.met + gap,
        resumed_at=shift_moment(notes.resumed_at, gap),
        gone_since=shift_moment(notes.gone_since, gap),
        unknown_since=shift_moment(notes.unknown_since, gap),
        stale_since=shift_moment(notes.stale_since, gap),
        sources=shift_sources(notes.sources, gap),
    )


def take_over_notes(before: TaskNotes | None, mine: TaskNotes, now: float, directory: str) -> TaskNotes:
    """Notes to go on with where the last monitor was ended before it could say anything; else those of a new watch."""
    if before is None:
        return mine
    script = codec.script_command(directory)
    command = mine.command or before.command if before.command in ("", script) else before.command
    if before.verdict and before.verdict.final and before.verdict.detail != LEFT:
        return mine._replace(command=command)
    if before.boot != mine.boot:
        before = shift_times(before, now - before.at)._replace(
            boot=mine.boot, agent=(0, 0), wrapper=(0, 0), pane=("", 0), gone_since=None
        )
    if before.verdict and before.verdict.state in CLOCKS_STOOD:
        before = before._replace(agent=(0, 0))
    if before.verdict and before.verdict.detail == LEFT:
        before = before._replace(began=now)  # somebody ended it, and somebody has started this one
    return before._replace(verdict=None, ended_at=0.0, monitor=mine.monitor, command=command)


def comparable_notes(notes: TaskNotes) -> TaskNotes:
    """What another monitor would judge by: of movement, only when."""
    moved = {name: source._replace(value=0.0, at=0.0) for name, source in notes.sources.items()}
    return notes._replace(at=0.0, sources=moved)


# Coming back


def _resume_step(facts: TaskFacts, verdict: Verdict, numbers: TaskNumbers) -> TaskStep:
    """What has crashed or hangs is resumed, if it may be, once the time for it has come."""
    notes, now = facts.notes, facts.now
    if numbers.retries == 0:
        return TaskStep("say", verdict, notes, now)
    if facts.rival:
        said = verdict._replace(reason=f"{verdict.reason}; its own monitor ({facts.rival}) may resume it", final=False)
        return _wait_step(facts, said, numbers)
    since = notes.gone_since if notes.stale_since is None else notes.stale_since + numbers.grace_s
    if facts.session.there is None and not facts.foreign and now < (since or now) + PATIENCE + numbers.dispatch_s:
        return TaskStep("wait", verdict, notes, now + TIMED_LOOK)
    if why := _find_obstacle(facts):
        return TaskStep("say", _unresumed_verdict(verdict, why), notes, now)
    if notes.command in ("", codec.script_command(facts.directory)):
        if facts.recipe is None:
            return TaskStep("derive", verdict, notes, now)
        if facts.recipe.why:
            return TaskStep("say", _unresumed_verdict(verdict, facts.recipe.why), notes, now)
        notes = notes._replace(command=codec.script_command(facts.directory))
    if notes.phase == "resuming":
        return TaskStep("resume", verdict, notes, now)
    if notes.total >= numbers.retries:
        reason = f"resumed {notes.total} times, and again: {verdict.reason}"
        return TaskStep("say", _abandon(verdict, "retries-exhausted", reason, "max_retries_exceeded"), notes, now)
    due = now if notes.resumed_at is None else notes.resumed_at + numbers.interval(notes.retry)
    if now < due:
        said = verdict._replace(reason=f"{verdict.reason}; resumed in {format_duration(due - now)}", final=False)
        return TaskStep("wait", said, notes, min(due, notes.began + numbers.deadline_s))
    counted = notes._replace(
        total=notes.total + 1,
        retry=notes.retry + 1,
        resumed_at=now,
        phase="resuming",
        cause="hung" if verdict.state == "stuck" else "crashed",
    )
    return TaskStep("resume", verdict, counted, now)


def _unresumed_verdict(verdict: Verdict, why: str) -> Verdict:
    return verdict._replace(reason=f"{verdict.reason}; not resumed: {why}")


def _find_obstacle(facts: TaskFacts) -> str:
    """Why it cannot be resumed; empty when it can."""
    session, notes = facts.session, facts.notes
    if facts.foreign:
        return facts.foreign
    if not session.there:
        return session.why
    if session.pane is None:
        return f"which of the {session.panes} panes of {session.name} was its own is not known"
    if session.pane.pid == notes.wrapper[0]:
        return "its pane has no shell to run the wrapper in, it runs the wrapper itself"
    return ""


def _run_wrapper_step(facts: TaskFacts, verdict: Verdict, numbers: TaskNumbers) -> TaskStep:
    pane, notes = facts.session.pane, facts.notes
    if facts.session.there is False or (facts.session.there and (pane is None or facts.foreign)):
        lost = verdict._replace(state="crashed", cause="no-status", final=True, process="gone")
        return TaskStep(
            "say", lost._replace(reason=f"{notes.cause}; not resumed: {_find_obstacle(facts)}"), notes, facts.now
        )
    if pane is not None and not pane.busy:
        return TaskStep("type", verdict, notes, facts.now)
    young = facts.now < (notes.resumed_at or 0.0) + numbers.dispatch_s
    return TaskStep("wait", verdict, notes, facts.now + (SOON if young else TIMED_LOOK))


# Ends and waits


def _timeout_verdict(verdict: Verdict, numbers: TaskNumbers) -> Verdict:
    reason = f"not done after {format_duration(numbers.deadline_s)} of watching; it is left as it is ({verdict.reason})"
    return _abandon(verdict, "deadline", reason, "deadline_exceeded")


def _abandon(verdict: Verdict, cause: Cause, reason: str, detail: str) -> Verdict:
    return verdict._replace(state="abandoned", final=True, settled=True, cause=cause, reason=reason, detail=detail)


def _wait_step(facts: TaskFacts, verdict: Verdict, numbers: TaskNumbers) -> TaskStep:
    notes, now = facts.notes, facts.now
    at = min(now + numbers.interval(notes.retry), notes.began + numbers.deadline_s)
    if verdict.look_at is not None and verdict.look_at > now:
        at = min(at, verdict.look_at)
    said = [source.moved for name, source in notes.sources.items() if name not in USED]
    if said and isinstance(facts.agent, Alive):  # what it uses counts once all else has been silent for half the time
        sample = min(max(numbers.stale_s / SAMPLES, SHORTEST_SAMPLE), LONGEST_SAMPLE)
        at = min(at, max(max(said) + numbers.stale_s / 2, now + sample))
    return TaskStep("wait", verdict, notes, at)
