"""What was written down of a run, and what comes of judging it again."""

from __future__ import annotations

from midwatch.core.job_model import End
from midwatch.core.policy import Policy
from midwatch.core.value import Value


class RunHappening(Value):
    """One event of a run with what it says, as far as the judge can use it; None where it says nothing."""

    name: str
    run: str
    event: str
    at: float
    """Wall clock."""
    n: int | None = None
    """Its number within the run; None for what no shim noted."""
    mono: float | None = None
    reason: str = ""
    attempt: int | None = None
    policy: Policy | None = None
    began: float | None = None
    """Of `started`: the monotonic moment from which silence and timeout are reckoned."""
    retries: int | None = None
    backoff_s: float | None = None
    in_s: float | None = None
    """Of `retrying`: seconds until the next attempt."""
    judged: float | None = None
    """The monotonic moment at which the judge looked."""
    moved: dict[str, float] | None = None
    """For each source of progress the monotonic moment at which it last moved."""
    stale_since: float | None = None
    since: float | None = None
    until: float | None = None
    """Of `quiet` and `moved`: from when to when nothing moved."""
    seconds: float = 0.0
    """Of `lost`: time that does not count."""
    state: str = ""
    end: End | None = None
    """Of `attempt` and `ended`."""

    @property
    def when(self) -> float:
        """Its moment by the clock that durations are reckoned with; the first releases noted only the wall's."""
        return self.at if self.mono is None else self.mono


class ReplayRow(Value):
    """One verdict: what was given, and what is said now."""

    given: dict[str, object] | None
    """None where nothing was given."""
    now: dict[str, object] | None
    """At least what was given, said again; None where there is nothing to judge."""
    uncertain: str = ""
    """Why the evidence does not say enough."""
    note: str = ""
    at: float = 0.0
    """Seconds since the beginning."""
    event: str = ""
    """What it was given at."""
    attempt: int = 1
    truth: str | None = None
    """Of recorded sessions: what was really going on, where somebody wrote that down."""
    differs: bool = False

    @property
    def mark(self) -> str:
        if self.now is None or (self.given is None and self.truth is None):
            return " "  # nothing to compare
        return "?" if self.uncertain else "≠" if self.differs else "="


class OtherPolicy(Value):
    """Another policy: a whole one, or some fields of the one that there was."""

    base: Policy | None
    changes: dict[str, object]

    def apply_to(self, policy: Policy) -> Policy:
        return (self.base or policy)._replace(**self.changes)  # type: ignore[arg-type]
