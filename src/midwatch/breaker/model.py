"""A breaker: what happened under its key, and the states that follow from it (``docs/guides/breaker.md``)."""

from __future__ import annotations

from midwatch.core.value import Value

COUNTING = ("failed", "crashed", "stuck", "timeout")
"""Ends that count as a failure. `completed` closes; all others say nothing of whether the work can be done."""


# What happened, in the order of the file; `at` is the wall clock's and may lie.


class Started(Value):
    at: float
    run: str
    name: str
    trial: bool
    """It was let through although the breaker was open, because the cool-down was over."""


class AttemptOutcome(Value):
    """How one attempt of a run ended."""

    at: float
    run: str
    name: str
    attempt: int
    state: str


class Void(Value):
    """Nothing more comes of a run: it never began, or all that it had to say was said."""

    at: float
    run: str


class Reset(Value):
    at: float
    reason: str
    over: tuple[tuple[str, int], ...] = ()
    """Attempts (run and number) whose work had ended by then, although their outcome was not written yet."""


class Trip(Value):
    at: float
    reason: str


class SetBack(Value):
    """Someone found the moment at which it had opened in the future: the clock was set back."""

    at: float


Happening = Started | AttemptOutcome | Void | Reset | Trip | SetBack


# What follows from it


class Failure(Value):
    name: str
    state: str
    at: float


class Closed(Value):
    failures: int = 0
    """In a row, up to now."""
    last: Failure | None = None


class Open(Value):
    since: float
    failures: int
    last: Failure


class TrialRun(Value):
    """Open, and one run was let through to find out."""

    run: str
    name: str
    before: Open
    """What it is again if the trial ends without telling anything."""


class Tripped(Value):
    """Opened by a person, and so closed by a person only."""

    since: float
    reason: str


State = Closed | Open | TrialRun | Tripped


class RunningAttempt(Value):
    """A run that was let through and may have more to say."""

    name: str
    attempt: int = 0
    """The last one whose outcome was told; 0: none yet."""


class Ledger(Value):
    """All that must be kept of what happened to go on from there."""

    state: State = Closed()
    running: dict[str, RunningAttempt] = {}  # noqa: RUF012  # a named tuple's default; nobody writes to it
    """By run, in the order of their starts."""
