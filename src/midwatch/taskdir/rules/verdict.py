"""The verdict on a task of a task directory.

What the wrapper wrote down comes first, whatever became of session and pid file. Then the agent's process: one that
has ended without a word is given a moment, and its wrapper the time it needs, before the word is `crashed`. Only then
does silence count, and never as long as a person or a limit is waited for.
"""

from __future__ import annotations

from midwatch.core import stuck
from midwatch.core.causes import Cause
from midwatch.core.evidence_text import SUSPENDED, format_processes, format_sources, process_evidence
from midwatch.core.job_model import Alive, Gone, Unseen
from midwatch.core.process_state import Exited, ProcessState
from midwatch.core.states import VerdictState
from midwatch.core.stuck import Patience, Suspicion, WatchedSource
from midwatch.core.text import format_duration, signal_name, visible
from midwatch.core.verdict import FINAL, Evidence, Verdict
from midwatch.taskdir.model import TaskFacts, TaskNumbers

LAST_WORDS = 2.0
"""Seconds that `done` may come later than the agent's end."""
FIRST_SEEN = "first looked at"
SIGNALLED, LAST_SIGNAL = 128, 64
BY_KEYBOARD: dict[int | None, tuple[Cause, str]] = {
    2: ("interrupt", "interrupted (Ctrl-C)"), 3: ("quit", "quit from the keyboard"),
}  # fmt: skip
"""Ends that a person meant: never resumed."""


def judge(facts: TaskFacts, numbers: TaskNumbers) -> Verdict:
    """Say what is true of a task, from one look at it."""
    if not facts.exists:
        return _build_verdict(facts, "not_found", "not-found", f"there is no directory {facts.directory}", "unknown")
    if facts.done:
        return _judge_done(facts)
    match facts.agent:
        case Alive():
            return _judge_live(facts, facts.agent, numbers)
        case Gone():
            return _judge_gone(facts, facts.agent, numbers)
        case Unseen(why=why):
            return _judge_unknown(facts, why, numbers)
    return _judge_unstarted(facts, numbers)


# Ends


def _judge_done(facts: TaskFacts) -> Verdict:
    if facts.code is not None:
        return _judge_end(facts, facts.code, "exit_code")
    since = facts.now if facts.notes.gone_since is None else facts.notes.gone_since
    reason = "it is done, but neither exit_code nor its manifest tells how"
    verdict = _build_verdict(facts, "unknown", "exit-unseen", reason, Exited())
    over = facts.now >= since + LAST_WORDS
    return verdict._replace(final=True, settled=over, look_at=None if over else since + LAST_WORDS)


def _judge_end(facts: TaskFacts, code: int, source: str) -> Verdict:
    """An end that somebody wrote down or saw. Which of them may be resumed: see ``is_resumable``."""
    number = code - SIGNALLED if 0 < code - SIGNALLED <= LAST_SIGNAL else None
    told = "" if source == "exit_code" else f" ({source})"
    state: VerdictState
    cause: Cause = "exit" if number is None else "signal"
    if number in BY_KEYBOARD:
        state, (cause, reason) = "stopped", BY_KEYBOARD[number]
    elif number is not None:
        state, reason = "crashed", f"killed by {signal_name(number)}"
    else:
        state, reason = ("failed", f"exit {code}") if code else ("completed", "exit 0")
    exited = Exited(None if number else code, number)
    verdict = _build_verdict(facts, state, cause, reason + told, exited, (Evidence(source, str(code)),))
    return verdict._replace(exit_code=None if number else code, signal=number)


def _judge_gone(facts: TaskFacts, agent: Gone, numbers: TaskNumbers) -> Verdict:
    """The agent has ended and there is no `done`: its wrapper may be about to write it, or be gone too."""
    since = facts.now if facts.notes.gone_since is None else facts.notes.gone_since
    pane = facts.session.pane
    ending = isinstance(facts.wrapper, Alive) or bool(isinstance(facts.wrapper, Unseen) and pane and pane.busy)
    patience = max(LAST_WORDS, numbers.silence_s) if ending else LAST_WORDS
    seen = (process_evidence("agent", agent), process_evidence("wrapper", facts.wrapper), *_session_evidence(facts))
    if facts.now < since + patience:
        reason = "the agent has ended; its wrapper is about to say how"
        verdict = _build_verdict(facts, "working", "ending", reason, Exited(), seen)
        return verdict._replace(settled=False, look_at=since + patience)
    code, source = facts.code, "exit_code, but its wrapper did not come to `done`"
    if code is None:
        code, source = facts.notes.code, "told by the kernel; its wrapper was gone"
    if code is not None:
        return _judge_end(facts, code, source)
    reason = f"the agent ended without `done`: {agent.why}"
    if ending:
        reason += f"; its wrapper has said nothing since we saw that, {format_duration(facts.now - since)} ago"
    if facts.session.there is False:
        reason += f"; {facts.session.why}"
    return _build_verdict(facts, "crashed", "no-status", reason, "gone", seen)


def is_resumable(verdict: Verdict) -> bool:
    """Whether an end is one to come back from.

    A signal, or an end without a word. Not an exit code that the agent chose, and not what a person ended.
    """
    return verdict.state == "crashed"


# Beginnings


def _judge_unstarted(facts: TaskFacts, numbers: TaskNumbers) -> Verdict:
    """There is no pid file: not yet, or it was taken away for a resume."""
    notes, session = facts.notes, facts.session
    if notes.phase == "typed" and notes.resumed_at is not None:
        return _judge_dispatched(facts, notes.resumed_at, numbers)
    if notes.phase == "ready":
        where = f"; its pane is busy with {session.pane.busy.line()}" if session.pane and session.pane.busy else ""
        reason = f"{notes.cause}; about to be resumed ({notes.total} of {numbers.retries}){where}"
        return _build_verdict(facts, "starting", "starting", reason, "starting", _session_evidence(facts))
    if notes.phase == "resuming":
        reason = f"{notes.cause}; its resume was cut short"
        return _build_verdict(facts, "crashed", "no-status", reason, "gone", _session_evidence(facts))
    if session.there is False:
        reason = f"there is neither a pid file nor `done`, and {session.why}"
        return _build_verdict(facts, "not_found", "not-found", reason, "gone")
    if session.there is None:
        return _judge_unknown(facts, f"there is no pid file, and {session.why}", numbers)
    idle = session.pane is not None and not session.pane.busy
    patience = numbers.dispatch_s if facts.marker else numbers.silence_s
    until = notes.began + patience
    if idle and facts.now >= until:
        if facts.marker:
            reason = "a resume was asked for, and nothing runs in its pane"
            return _build_verdict(facts, "crashed", "no-status", reason, "gone")
        looked = format_duration(facts.now - notes.began)
        reason = f"nothing was started: no pid file since we look, {looked} ago, and a shell in its pane"
        return _build_verdict(facts, "not_found", "not-found", reason, "gone", _session_evidence(facts))
    verdict = _build_verdict(
        facts, "starting", "starting", "there is no pid file yet", "starting", _session_evidence(facts)
    )
    return verdict._replace(look_at=until if facts.now < until else None)


def _judge_dispatched(facts: TaskFacts, typed: float, numbers: TaskNumbers) -> Verdict:
    """The wrapper was run again; its pid file is waited for."""
    pane, waited = facts.session.pane, facts.now - typed
    idle = facts.session.there is False or (pane is not None and not pane.busy)
    if idle and waited >= numbers.dispatch_s:
        reason = f"its wrapper was run again, but wrote no pid file in {format_duration(waited)}"
        return _build_verdict(facts, "crashed", "no-status", reason, "gone", _session_evidence(facts))
    if waited >= max(numbers.silence_s, numbers.dispatch_s):
        reason = f"its wrapper was run again and is there, but has written no pid file for {format_duration(waited)}"
        return _build_verdict(facts, "stuck", "no-progress", reason, "starting", _session_evidence(facts))
    reason = f"resumed {format_duration(waited)} ago ({facts.notes.total} of {numbers.retries}, {facts.notes.cause})"
    following = typed + (numbers.dispatch_s if waited < numbers.dispatch_s else numbers.silence_s)
    return _build_verdict(facts, "starting", "starting", reason, "starting", _session_evidence(facts))._replace(
        look_at=following
    )


def _judge_unknown(facts: TaskFacts, why: str, numbers: TaskNumbers) -> Verdict:
    """Nobody can tell. That may pass, so it must last before anybody is told."""
    since = facts.now if facts.notes.unknown_since is None else facts.notes.unknown_since
    until = since + numbers.silence_s
    verdict = _build_verdict(facts, "unknown", "not-seen", why, "unknown", _session_evidence(facts))
    return verdict._replace(settled=facts.now >= until, look_at=None if facts.now >= until else until)


# Movement


def build_patience(numbers: TaskNumbers) -> Patience:
    """When silence of a task counts."""
    return Patience(numbers.stale_s, numbers.grace_s, min(stuck.QUIET_AFTER, numbers.stale_s / 2))


def _judge_live(facts: TaskFacts, agent: Alive, numbers: TaskNumbers) -> Verdict:
    orphan = isinstance(facts.wrapper, Gone)
    process: ProcessState = "unsupervised" if orphan or facts.session.there is False else "alive"
    seen = (process_evidence("agent", agent), process_evidence("wrapper", facts.wrapper), *_session_evidence(facts))
    note = "its wrapper is gone, the agent goes on" if orphan else ""
    if facts.session.there is False:
        note = f"{facts.session.why}, but the agent goes on (pid {agent.pid})"
    if agent.suspended:
        return _build_verdict(facts, "waiting", "suspended", SUSPENDED, "suspended", seen)
    if facts.turn[0]:
        state, why, reason = facts.turn
        return _build_verdict(facts, state or "unknown", why, reason, process, seen)
    cause: Cause = "unsupervised" if process == "unsupervised" else ""
    verdict = _build_verdict(facts, "working", cause, note or "alive", process, seen)
    notes = facts.notes
    if not notes.sources:
        return verdict
    sources = tuple(
        WatchedSource(name, source.moved, observed=source.moved > notes.met) for name, source in notes.sources.items()
    )
    silence = stuck.assess(sources, build_patience(numbers), Suspicion(notes.stale_since, notes.stuck), facts.now)
    verdict = stuck.apply_silence(verdict, silence, facts.now)
    verdict = verdict._replace(
        evidence=(*verdict.evidence, *stuck.movement_evidence(sources, facts.now, FIRST_SEEN)),
        reason=note or stuck.format_latest(sources, facts.now, FIRST_SEEN),
    )
    if not silence.suspected:
        return verdict
    watched = facts.now - silence.lasted <= notes.met  # nobody knows for how long before
    lasted = format_duration(silence.lasted)
    what = f"no {format_sources(tuple(notes.sources))} {f'since we look, {lasted} ago' if watched else f'for {lasted}'}"
    if facts.below:
        what += f", with {format_processes(facts.below)} below it"
    what = f"{note}; {what}" if note else what
    return verdict._replace(reason=f"{what} ({silence.outlook})" if silence.stuck else f"{what}; {silence.outlook}")


# Words


def _build_verdict(
    facts: TaskFacts, state: VerdictState, cause: Cause, reason: str, process: ProcessState,
    evidence: tuple[Evidence, ...] = (),
) -> Verdict:  # fmt: skip
    told = (Evidence("manifest", f"status {visible(facts.status)}"),) if facts.status else ()
    return Verdict(
        name=facts.name, kind="session", state=state, final=state in FINAL, reason=reason, process=process,
        cause=cause,
        progress="unknown", elapsed_s=facts.elapsed_s, log=facts.log, evidence=(*evidence, *told),
        against=tuple(Evidence("trouble", trouble) for trouble in facts.troubles),
    )  # fmt: skip


def _session_evidence(facts: TaskFacts) -> tuple[Evidence, ...]:
    session = facts.session
    if session.there is None:
        return (Evidence("session", f"cannot tell: {session.why}"),)
    if not session.there:
        return (Evidence("session", session.why),)
    pane = session.pane
    where = "no pane of its own" if pane is None else f"{pane.id}, {pane.busy.line() or 'a shell'} in the foreground"
    return (Evidence("session", f"{visible(session.name)}: {where}"),)
