"""What a report holds: spans, periods, and what became of each job and session. All moments are wall clock."""

from __future__ import annotations

from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict

WORKING, WAITING, LIMITED, STUCK, IDLE, UNOBSERVED, ABSENT = (
    "working", "waiting", "limited", "stuck", "idle", "not observed", "absent",
)  # fmt: skip
SHOWN = (WORKING, WAITING, LIMITED, STUCK, IDLE, UNOBSERVED)
"""What is told of a subject, in this order. Absent is what does not run."""


class Span(Value):
    begin: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.begin


class Period(Value):
    """A time in which a subject was in one state."""

    state: str
    begin: float
    end: float


class Occurrence(Value):
    """What a report reads of one event of the journal."""

    name: str
    run: str
    at: float
    event: str
    state: str = ""
    cause: str = ""
    reason: ForeignText = NOTHING
    monitor: str = ""
    """The monitor that noted it: pid and start time."""
    seconds: float = 0.0
    """Of a `lost`: how much."""
    attempt: int = 1
    session: bool = False
    """Of a `started`: its shim sees the process alone, and not what the agent does."""


class PresentState(Value):
    """What a look finds of a subject that is there."""

    run: str
    verdict: Verdict
    agent: str = ""
    began: float | None = None
    """When this run began."""
    session: bool = False
    """As in `Occurrence`."""
    seen_until: float | None = None
    """Until when its shim has shown that it lives; None: it still does."""
    monitor: str = ""
    """The monitor that watches it at this moment; empty where none does."""
    reach: str = ""
    """The command that shows it to a person."""


class Remark(Value):
    """Something worth telling that happened at one moment."""

    at: float
    what: str
    """`resumed`, `retried`, or the state that it came to."""
    reason: ForeignText


class SubjectReport(Value):
    """What became of one job or session in the span."""

    name: str
    kind: str
    directory: str
    agent: str
    state: str
    """How it was at the end of the span."""
    final: bool
    cause: str
    reason: ForeignText
    verified: bool | None
    """What the check of its work said last; None: there was none."""
    needs_you: bool
    reach: str
    runs: int
    periods: tuple[Period, ...]
    remarks: tuple[Remark, ...]
    last: float
    """When something was last heard of it."""

    def total(self, state: str) -> float:
        """Seconds in one state."""
        return sum([period.end - period.begin for period in self.periods if period.state == state])

    def count(self, what: str) -> int:
        return sum([remark.what == what for remark in self.remarks])


class WorkReport(Value):
    span: Span
    subjects: tuple[SubjectReport, ...]
    made: float
    """When the report was made."""
    place: str
    """The project, or that all of them are meant."""
    several: bool = False
    """It is about more than one project."""
