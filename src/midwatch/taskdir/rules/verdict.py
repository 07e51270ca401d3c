"""The verdict on a task of a task directory.

What the wrapper wrote down comes first, whatever became of session and pid file. Then the agent's process: one that
has ended without a word is given a moment, and its wrapper the time it needs, before the word is `crashed`. Only then
does silence count, and never as long as a person or a limit is waited for.
"""

from __future__ import annotations

from midwatch.core.causes import Cause
from midwatch.core.evidence_text import called, of_process, processes_named
from midwatch.core.job_model import Alive, Gone, Unseen
from midwatch.core.text import in_words, signal_name, visible
from midwatch.core.verdict import FINAL, Evidence, Verdict
from midwatch.taskdir.model import Numbers, TaskFacts

LAST_WORDS = 2.0
"""Seconds that `done` may come later than the agent's end."""
QUIET_AFTER = 60.0
FIRST_SEEN = "first looked at"
SIGNALLED, LAST_SIGNAL = 128, 64
BY_KEYBOARD: dict[int | None, tuple[Cause, str]] = {
    2: ("interrupt", "interrupted (Ctrl-C)"), 3: ("quit", "quit from the keyboard"),
}  # fmt: skip
"""Ends that a person meant: never resumed."""


def judge(facts: TaskFacts, numbers: Numbers) -> Verdict:
    """Say what is true of a task, from one look at it."""
    if not facts.exists:
        return _verdict(facts, "not_found", "not-found", f"there is no directory {facts.directory}", "unknown")
    if facts.done:
        return _done(facts)
    match facts.agent:
        case Alive():
            return _live(facts, facts.agent, numbers)
        case Gone():
            return _gone(facts, facts.agent, numbers)
        case Unseen(why=why):
            return _unknown(facts, why, numbers)
    return _unstarted(facts, numbers)


# Ends


def _done(facts: TaskFacts) -> Verdict:
    if facts.code is not None:
        return _ended(facts, facts.code, "exit_code")
    since = facts.now if facts.notes.gone_since is None else facts.notes.gone_since
    reason = "it is done, but neither exit_code nor its manifest tells how"
    verdict = _verdict(facts, "unknown", "exit-unseen", reason, "exited")
    over = facts.now >= since + LAST_WORDS
    return verdict._replace(final=True, settled=over, look_at=None if over else since + LAST_WORDS)


def _ended(facts: TaskFacts, code: int, source: str) -> Verdict:
    """An end that somebody wrote down or saw. Which of them may be resumed: see ``resumable``."""
    number = code - SIGNALLED if 0 < code - SIGNALLED <= LAST_SIGNAL else None
    told = "" if source == "exit_code" else f" ({source})"
    cause: Cause = "exit" if number is None else "signal"
    if number in BY_KEYBOARD:
        state, (cause, reason) = "stopped", BY_KEYBOARD[number]
    elif number is not None:
        state, reason = "crashed", f"killed by {signal_name(number)}"
    else:
        state, reason = ("failed", f"exit {code}") if code else ("completed", "exit 0")
    exited = f"exited({signal_name(number) if number else code})"
    verdict = _verdict(facts, state, cause, reason + told, exited, (Evidence(source, str(code)),))
    return verdict._replace(exit_code=None if number else code, signal=number)


def _gone(facts: TaskFacts, agent: Gone, numbers: Numbers) -> Verdict:
    """The agent has ended and there is no `done`: its wrapper may be about to write it, or be gone too."""
    since = facts.now if facts.notes.gone_since is None else facts.notes.gone_since
    pane = facts.session.pane
    ending = isinstance(facts.wrapper, Alive) or bool(isinstance(facts.wrapper, Unseen) and pane and pane.busy)
    patience = max(LAST_WORDS, numbers.silence_s) if ending else LAST_WORDS
    seen = (of_process("agent", agent), of_process("wrapper", facts.wrapper), *_session(facts))
    if facts.now < since + patience:
        reason = "the agent has ended; its wrapper is about to say how"
        verdict = _verdict(facts, "working", "ending", reason, "exited(unknown)", seen)
        return verdict._replace(settled=False, look_at=since + patience)
    code, source = facts.code, "exit_code, but its wrapper did not come to `done`"
    if code is None:
        code, source = facts.notes.code, "told by the kernel; its wrapper was gone"
    if code is not None:
        return _ended(facts, code, source)
    reason = f"the agent ended without `done`: {agent.why}"
    if ending:
        reason += f"; its wrapper has said nothing since we saw that, {in_words(facts.now - since)} ago"
    if facts.session.there is False:
        reason += f"; {facts.session.why}"
    return _verdict(facts, "crashed", "no-status", reason, "gone", seen)


def resumable(verdict: Verdict) -> bool:
    """Whether an end is one to come back from.

    A signal, or an end without a word. Not an exit code that the agent chose, and not what a person ended.
    """
    return verdict.state == "crashed"


# Beginnings


def _unstarted(facts: TaskFacts, numbers: Numbers) -> Verdict:
    """There is no pid file: not yet, or it was taken away for a resume."""
    notes, session = facts.notes, facts.session
    if notes.phase == "typed" and notes.resumed_at is not None:
        return _dispatched(facts, notes.resumed_at, numbers)
    if notes.phase == "ready":
        where = f"; its pane is busy with {session.pane.busy.line()}" if session.pane and session.pane.busy else ""
        reason = f"{notes.cause}; about to be resumed ({notes.total} of {numbers.retries}){where}"
        return _verdict(facts, "starting", "starting", reason, "starting", _session(facts))
    if notes.phase == "resuming":
        reason = f"{notes.cause}; its resume was cut short"
        return _verdict(facts, "crashed", "no-status", reason, "gone", _session(facts))
    if session.there is False:
        reason = f"there is neither a pid file nor `done`, and {session.why}"
        return _verdict(facts, "not_found", "not-found", reason, "gone")
    if session.there is None:
        return _unknown(facts, f"there is no pid file, and {session.why}", numbers)
    idle = session.pane is not None and not session.pane.busy
    patience = numbers.dispatch_s if facts.marker else numbers.silence_s
    until = notes.began + patience
    if idle and facts.now >= until:
        if facts.marker:
            reason = "a resume was asked for, and nothing runs in its pane"
            return _verdict(facts, "crashed", "no-status", reason, "gone")
        looked = in_words(facts.now - notes.began)
        reason = f"nothing was started: no pid file since we look, {looked} ago, and a shell in its pane"
        return _verdict(facts, "not_found", "not-found", reason, "gone", _session(facts))
    verdict = _verdict(facts, "starting", "starting", "there is no pid file yet", "starting", _session(facts))
    return verdict._replace(look_at=until if facts.now < until else None)


def _dispatched(facts: TaskFacts, typed: float, numbers: Numbers) -> Verdict:
    """The wrapper was run again; its pid file is waited for."""
    pane, waited = facts.session.pane, facts.now - typed
    idle = facts.session.there is False or (pane is not None and not pane.busy)
    if idle and waited >= numbers.dispatch_s:
        reason = f"its wrapper was run again, but wrote no pid file in {in_words(waited)}"
        return _verdict(facts, "crashed", "no-status", reason, "gone", _session(facts))
    if waited >= max(numbers.silence_s, numbers.dispatch_s):
        reason = f"its wrapper was run again and is there, but has written no pid file for {in_words(waited)}"
        return _verdict(facts, "stuck", "no-progress", reason, "starting", _session(facts))
    reason = f"resumed {in_words(waited)} ago ({facts.notes.total} of {numbers.retries}, {facts.notes.cause})"
    following = typed + (numbers.dispatch_s if waited < numbers.dispatch_s else numbers.silence_s)
    return _verdict(facts, "starting", "starting", reason, "starting", _session(facts))._replace(look_at=following)


def _unknown(facts: TaskFacts, why: str, numbers: Numbers) -> Verdict:
    """Nobody can tell. That may pass, so it must last before anybody is told."""
    since = facts.now if facts.notes.unknown_since is None else facts.notes.unknown_since
    until = since + numbers.silence_s
    verdict = _verdict(facts, "unknown", "not-seen", why, "unknown", _session(facts))
    return verdict._replace(settled=facts.now >= until, look_at=None if facts.now >= until else until)


# Movement


def _live(facts: TaskFacts, agent: Alive, numbers: Numbers) -> Verdict:
    orphan = isinstance(facts.wrapper, Gone)
    process = "unsupervised" if orphan or facts.session.there is False else "alive"
    seen = (of_process("agent", agent), of_process("wrapper", facts.wrapper), *_session(facts))
    note = "its wrapper is gone, the agent goes on" if orphan else ""
    if facts.session.there is False:
        note = f"{facts.session.why}, but the agent goes on (pid {agent.pid})"
    if agent.suspended:
        said = "suspended (stopped by a signal); `fg` or SIGCONT brings it back"
        return _verdict(facts, "waiting", "suspended", said, "suspended", seen)
    if facts.turn[0]:
        return _verdict(facts, *facts.turn, process, seen)
    cause: Cause = "unsupervised" if process == "unsupervised" else ""
    verdict = _verdict(facts, "working", cause, note or "alive", process, seen)
    sources = facts.notes.sources
    if not sources:
        return verdict
    last = max(source.moved for source in sources.values())
    silent = facts.now - last
    met = facts.notes.met
    moves = tuple(
        Evidence(called(name), "last moved" if source.moved > met else FIRST_SEEN, facts.now - source.moved)
        for name, source in sources.items()
    )
    verdict = verdict._replace(silent_s=silent, evidence=(*verdict.evidence, *moves))
    if silent >= numbers.stale_s:
        return _stalled(verdict, facts, numbers, note)
    latest = max(sources, key=lambda name: sources[name].moved)
    return verdict._replace(
        progress="advancing" if silent < min(QUIET_AFTER, numbers.stale_s / 2) else "quiet",
        reason=note
        or (f"last {called(latest)} {in_words(silent)} ago" if last > met else f"{FIRST_SEEN} {in_words(silent)} ago"),
        look_at=last + numbers.stale_s,
        deadline=("suspected if silent", last + numbers.stale_s - facts.now),
    )


def _stalled(verdict: Verdict, facts: TaskFacts, numbers: Numbers, note: str) -> Verdict:
    notes = facts.notes
    named = [called(name) for name in notes.sources]
    listed = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} or {named[-1]}"
    silent = verdict.silent_s or 0.0
    watched = facts.now - silent <= notes.met  # nobody knows for how long before
    silence = f"no {listed} {f'since we look, {in_words(silent)} ago' if watched else f'for {in_words(silent)}'}"
    if facts.below:
        silence += f", with {processes_named(facts.below)} below it"
    silence = f"{note}; {silence}" if note else silence
    if notes.stuck:
        patience = f"stale after {in_words(numbers.stale_s)}, grace {in_words(numbers.grace_s)}"
        reason = f"{silence} ({patience})"
        return verdict._replace(state="stuck", cause="no-progress", progress="stalled", reason=reason)
    end = facts.now if notes.stale_since is None else notes.stale_since + numbers.grace_s
    wait = f"stuck in {in_words(end - facts.now)} unless it moves" if end > facts.now else "its grace period begins"
    return verdict._replace(
        progress="stalled",
        reason=f"{silence}; {wait}",
        look_at=end,
        deadline=("stuck unless it moves", end - facts.now),
    )


# Words


def _verdict(
    facts: TaskFacts, state: str, cause: Cause, reason: str, process: str, evidence: tuple[Evidence, ...] = ()
) -> Verdict:  # fmt: skip
    told = (Evidence("manifest", f"status {visible(facts.status)}"),) if facts.status else ()
    return Verdict(
        name=facts.name, kind="session", state=state, final=state in FINAL, reason=reason, process=process,
        cause=cause,
        progress="unknown", elapsed_s=facts.elapsed_s, log=facts.log, evidence=(*evidence, *told),
        against=tuple(Evidence("trouble", trouble) for trouble in facts.troubles),
    )  # fmt: skip


def _session(facts: TaskFacts) -> tuple[Evidence, ...]:
    session = facts.session
    if session.there is None:
        return (Evidence("session", f"cannot tell: {session.why}"),)
    if not session.there:
        return (Evidence("session", session.why),)
    pane = session.pane
    where = "no pane of its own" if pane is None else f"{pane.id}, {pane.busy.line() or 'a shell'} in the foreground"
    return (Evidence("session", f"{visible(session.name)}: {where}"),)
