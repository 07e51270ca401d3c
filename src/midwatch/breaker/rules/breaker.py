"""What a breaker says: a row of failures opens it, a success closes it, a trial finds out.

The order is that of the file, whatever the clocks say; times serve the cool-down alone. Jobs of one key may run side
by side: what counts is the order in which they end. Every success closes, also one of a run that was let through
before it opened; every failure counts, but only a trial's own makes an open breaker wait anew. What a person did
holds: a tripped breaker is closed by nothing but a reset.
"""

from collections.abc import Iterable

from midwatch.breaker.model import (
    COUNTING,
    AttemptOutcome,
    Closed,
    Failure,
    Happening,
    Ledger,
    Open,
    Reset,
    RunningAttempt,
    SetBack,
    Started,
    State,
    TrialRun,
    Trip,
    Tripped,
    Void,
)
from midwatch.core.text import format_duration, visible
from midwatch.core.value import Value


class BreakerDecision(Value):
    """Whether a run may start."""

    admitted: bool
    trial: bool = False
    wait_s: float | None = None
    """Seconds until a trial is let through; None where time alone changes nothing."""


def fold(before: Ledger, happened: Iterable[Happening], threshold: int) -> Ledger:
    """The ledger after what happened. Going on from any moment gives the same as going through all at once."""
    state, running = before.state, dict(before.running)
    for each in happened:
        match each:
            case Started(run=run, name=name, trial=trial):
                if run not in running:
                    running[run] = RunningAttempt(name)
                    state = TrialRun(run, name, state) if trial and isinstance(state, Open) else state
            case AttemptOutcome(run=run, attempt=attempt):
                known = running.get(run)
                if known is not None and attempt > known.attempt:  # else it was told before; the first word holds
                    running[run] = known._replace(attempt=attempt)
                    if each.state not in COUNTING:
                        del running[run]  # a failure may be tried again, all else is an end
                    state = _next_state(state, each, threshold)
            case Void(run=run):
                running.pop(run, None)
                state = state.before if isinstance(state, TrialRun) and state.run == run else state
            case Reset(over=over):
                state, running = Closed(), _raise_attempts(running, over)
            case Trip(at=at, reason=reason):
                state = Tripped(at, reason)
            case SetBack(at=at):
                state = state._replace(since=min(at, state.since)) if isinstance(state, Open) else state
    return Ledger(state, running)


def _raise_attempts(running: dict[str, RunningAttempt], over: Iterable[tuple[str, int]]) -> dict[str, RunningAttempt]:
    """Runs after a reset: what is told later of attempts that were over by then is heard no more."""
    last = {run: max(attempt for each, attempt in over if each == run) for run, _ in over}
    return {run: known._replace(attempt=max(known.attempt, last.get(run, 0))) for run, known in running.items()}


def _next_state(state: State, outcome: AttemptOutcome, threshold: int) -> State:
    if isinstance(state, Tripped):
        return state
    if outcome.state == "completed":
        return Closed()
    ours = isinstance(state, TrialRun) and state.run == outcome.run
    if outcome.state not in COUNTING:
        return state.before if isinstance(state, TrialRun) and ours else state
    last = Failure(outcome.name, outcome.state, outcome.at)
    match state:
        case Closed(failures=failures):
            failures += 1
            return Open(outcome.at, failures, last) if failures >= threshold else Closed(failures, last)
        case Open(since=since, failures=failures):
            return Open(since, failures + 1, last)
        case TrialRun(before=before):
            again = Open(outcome.at if ours else before.since, before.failures + 1, last)
            return again if ours else state._replace(before=again)


def decide(state: State, cooldown_s: float, now: float) -> BreakerDecision:
    match state:
        case Closed():
            return BreakerDecision(admitted=True)
        case Open(since=since):
            left = min(cooldown_s, since + cooldown_s - now)  # not more, although it may have opened in the future
            return (
                BreakerDecision(admitted=False, wait_s=left) if left > 0 else BreakerDecision(admitted=True, trial=True)
            )
        case TrialRun() | Tripped():
            return BreakerDecision(admitted=False)


# Words


def format_refusal(key: str, state: State, cooldown_s: float, now: float) -> str:
    """Why a run may not start, and what to do about it."""
    way_out = f"`midwatch breaker reset {key}` closes it"
    way_out = f"only {way_out}" if isinstance(state, Tripped) else f"{way_out} now"
    return f"breaker {key} is open: {format_state(state, cooldown_s, now)}; {way_out}"


def format_state(state: State, cooldown_s: float, now: float) -> str:
    """A state in words: why it is so, and what happens next."""
    match state:
        case Closed(failures=failures, last=last):
            return _format_failures(failures, last, now) if last else "no failure since the last success or reset"
        case Open(failures=failures, last=last):
            wait = decide(state, cooldown_s, now).wait_s
            when = "now" if wait is None else f"in {_format_seconds(wait)}"
            return f"{_format_failures(failures, last, now)}; a trial is let through {when}"
        case TrialRun(name=name, before=before):
            return f"{_format_failures(before.failures, before.last, now)}; its trial {visible(name)} has not ended yet"
        case Tripped(since=since, reason=reason):
            return f"tripped by a person {_format_seconds(now - since)} ago{f' ({visible(reason)})' if reason else ''}"


def _format_failures(failures: int, last: Failure, now: float) -> str:
    many = f"{failures} failures in a row" if failures > 1 else "1 failure"
    how = {"stuck": "was stuck", "timeout": "timed out"}.get(last.state, last.state)
    return f"{many} (last: {last.name} {how} {_format_seconds(now - last.at)} ago)"


def _format_seconds(seconds: float) -> str:
    """A duration for people, in whole seconds; one that a clock set back makes negative is shown as nothing."""
    return format_duration(float(-(-max(0.0, seconds) // 1)))
