"""Asking a breaker, and telling it: who may start, what became of those who did.

What a run's shim does not tell (it was killed, the disk was full, the machine went down) is found out by whoever asks
next, from the files of the job, before any answer is given. So a breaker needs nobody who watches.
"""

from __future__ import annotations

import os
import time

from midwatch.breaker import store as breaker_store
from midwatch.breaker.model import (
    AttemptOutcome,
    Closed,
    Happening,
    Ledger,
    Open,
    Reset,
    RunningAttempt,
    SetBack,
    Started,
    Tripped,
    Void,
)
from midwatch.breaker.rules import breaker
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.job_model import Alive, Breaker, Gone
from midwatch.core.value import Value
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.system import file_locks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST_OVER = 20
"""Attempts that one line of a reset names at most: it is written in one piece."""


class Admission:
    """Leave to start a run. Until it is closed nobody else is let through under its key."""

    def __init__(self, looker: JobDirectory, key: str, lock: int, run: str, name: str, *, trial: bool) -> None:
        self.looker = looker
        self.key = key
        self.lock = lock
        self.run = run
        self.name = name
        self.trial = trial

    def close(self, *, launched: bool) -> None:
        """Its shim tells the rest; or, as far as the caller knows, there is none: then that is looked at and noted."""
        try:
            if not launched:
                alone = Ledger(running={self.run: RunningAttempt(self.name)})
                untold = _find_unrecorded(self.looker, alone, time.time(), launching=False)
                breaker_store.append(self.looker.directory, self.key, *untold)
        except OSError:
            pass  # whoever asks next finds the same
        finally:
            os.close(self.lock)


def admit_run(looker: JobDirectory, rules: Breaker, run: str, name: str) -> Admission:
    """Let a run through under a key, or raise RefusedError with the reason and the way out."""
    breaker_store.prepare(looker.directory)
    lock = breaker_store.lock(looker.directory, rules.key)
    try:
        trial = _record_start(looker, rules, run, name)
    except OSError as error:
        os.close(lock)
        raise RefusedError(f"cannot write to {looker.directory}/breakers: {error.strerror}") from error
    except BaseException:
        os.close(lock)
        raise
    return Admission(looker, rules.key, lock, run, name, trial=trial)


def _record_start(looker: JobDirectory, rules: Breaker, run: str, name: str) -> bool:
    """For whoever holds the lock: write down that a run starts. Returns whether it is a trial."""
    directory, key, now = looker.directory, rules.key, time.time()
    state = _update_ledger(looker, rules, now).state
    answer = breaker.decide(state, rules.cooldown_s, now)
    if answer.admitted:
        breaker_store.append(directory, key, Started(now, run, name, answer.trial))
        return answer.trial
    if isinstance(state, Open) and state.since > now:
        breaker_store.append(directory, key, SetBack(now))  # else it would stay open until the clock has caught up
    raise RefusedError(breaker.format_refusal(key, state, rules.cooldown_s, now))


def _update_ledger(looker: JobDirectory, rules: Breaker, now: float) -> Ledger:
    """The ledger with all that nobody told yet, which is written down first."""
    reading = breaker_store.read(looker.directory, rules.key, rules.threshold)
    ledger = breaker.fold(reading.before, reading.happened, rules.threshold)
    breaker_store.write_bookmark(looker.directory, rules.key, reading, rules.threshold, ledger)
    untold = _find_unrecorded(looker, ledger, now, launching=False)
    if untold:
        breaker_store.append(looker.directory, rules.key, *untold)
    return breaker.fold(ledger, untold, rules.threshold)


def find_retry_problem(directory: str, rules: Breaker) -> str:
    """Why a run that failed may not be tried again; empty when it may. An open breaker lets only new runs try."""
    try:
        reading = breaker_store.read(directory, rules.key, rules.threshold)
    except FormatError as error:
        return str(error)
    now, state = time.time(), breaker.fold(reading.before, reading.happened, rules.threshold).state
    return "" if isinstance(state, Closed) else breaker.format_refusal(rules.key, state, rules.cooldown_s, now)


class BreakerStatus(Value):
    """What a breaker says now, to whoever only looks."""

    key: str
    ledger: Ledger
    known: bool
    """Something happened under it, ever."""
    wrong: list[str]
    """What is wrong with lines that were passed over."""
    reason: str
    """The state in words."""
    next: str
    """What becomes of a run that wants to start: `run`, `trial`, `wait`, or `reset` where only a reset lets it."""
    until: float | None
    """When an open breaker lets a trial through (wall clock)."""


def read_status(looker: JobDirectory, rules: Breaker) -> BreakerStatus:
    """What `admit_run` would go by, without writing anything down."""
    reading = breaker_store.read(looker.directory, rules.key, rules.threshold)
    # Looked at after reading: free now, nobody whose start we read is still about to launch it.
    launching = not file_locks.is_free(f"{looker.directory}/breakers/{rules.key}.lock")
    ledger = breaker.fold(reading.before, reading.happened, rules.threshold)
    now = time.time()
    ledger = breaker.fold(ledger, _find_unrecorded(looker, ledger, now, launching=launching), rules.threshold)
    answer, known = breaker.decide(ledger.state, rules.cooldown_s, now), reading.upto > 0
    reason = (
        breaker.format_state(ledger.state, rules.cooldown_s, now)
        if known
        else "nothing has happened under this key yet"
    )
    until = now + (answer.wait_s or 0.0) if isinstance(ledger.state, Open) else None
    following = "trial" if answer.trial else "run" if answer.admitted else "wait"
    following = "reset" if isinstance(ledger.state, Tripped) else following
    return BreakerStatus(rules.key, ledger, known, reading.wrong, reason, following, until)


def record_event(directory: str, key: str, happened: Happening) -> None:
    """Write down what a person did. Once it has returned, nobody goes by what was before."""
    _append_events(directory, key, lambda: [happened])


def reset_breaker(looker: JobDirectory, rules: Breaker) -> None:
    """Close a breaker. What has ended by now never counts, also where its shim has not written that down."""
    now = time.time()
    _append_events(looker.directory, rules.key, lambda: _reset_events(looker, rules, now))


def _reset_events(looker: JobDirectory, rules: Breaker, now: float) -> list[Happening]:
    try:
        reading = breaker_store.read(looker.directory, rules.key, rules.threshold)
    except FormatError:
        return [Reset(now, "")]  # nobody goes by a file that cannot be read; its reader is told so
    ledger = breaker.fold(reading.before, reading.happened, rules.threshold)
    over = _find_ended_attempts(looker, ledger)
    resets = [Reset(now, "", tuple(over[at : at + MOST_OVER])) for at in range(0, max(1, len(over)), MOST_OVER)]
    return [*_find_unrecorded(looker, ledger, now, launching=False), *resets]


def _find_ended_attempts(looker: JobDirectory, ledger: Ledger) -> list[tuple[str, int]]:
    """Attempts whose work has ended while their shim, which is frozen or has a full disk, has not said how."""
    found: list[tuple[str, int]] = []
    for run, (name, told) in ledger.running.items():
        facts = looker.facts(name)
        ended = isinstance(facts.work, Gone) and isinstance(facts.shim, Alive)
        if facts.record is not None and facts.record.run == run and facts.record.attempt > told and ended:
            found.append((run, facts.record.attempt))
    return found


def _append_events(directory: str, key: str, decide: Callable[[], list[Happening]]) -> None:
    """Write down, for good, what is decided while nobody else is let through."""
    breaker_store.prepare(directory)
    lock = breaker_store.lock(directory, key)
    try:
        breaker_store.append(directory, key, *decide(), lasting=True)
    except OSError as error:
        raise RefusedError(f"cannot write to {directory}/breakers: {error.strerror}") from error
    finally:
        os.close(lock)


def _find_unrecorded(looker: JobDirectory, ledger: Ledger, now: float, *, launching: bool) -> list[Happening]:
    """What became of runs whose shim did not, or not yet, say so. ``launching``: one of them may be just about to."""
    found: list[Happening] = []
    for run, (name, told) in ledger.running.items():
        current = looker.facts(name)
        facts = current if current.record and current.record.run == run else looker.archived(name, run)
        if facts is None or facts.record is None:
            # A shim holds the lease of its name from the start, and a record stands there only until another's claim.
            taken = current.record is None and not file_locks.is_free(f"{looker.directory}/{name}.lock")
            if not launching and not taken:
                found.append(Void(now, run))
            continue
        verdict, record = job_verdict.judge(facts), facts.record
        if verdict.final:
            if record.attempt > told:
                at = record.end.at if record.end else now
                state = "crashed" if verdict.cause == "exit-unseen" else verdict.state  # it may have been one
                found.append(AttemptOutcome(at, run, name, record.attempt, state))
            found.append(Void(now, run))
    return found
