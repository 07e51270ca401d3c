"""Subjects: jobs, sessions, panes, registry rows and their children, each with its verdict; and their changes."""

from __future__ import annotations

from midwatch.core.value import Value
from midwatch.core.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.core.job_model import Record
    from midwatch.sessions.model import PaneVerdict


class Subject(Value):
    """One thing that is watched."""

    id: str
    """Unique in its project: kind and name (`job/build`); for a child after its parent's (`job/build/attempt/2`)."""
    kind: str
    """One of KINDS."""
    verdict: Verdict
    parent: str = ""
    """The id of the subject that it belongs to; empty for none."""
    agent: str = ""
    """The coding agent that it is, or runs; empty for none."""
    record: Record | None = None
    """Of a job or a session, where it was read."""
    pid: int = 0
    """A process whose end changes the verdict; 0 where none is known."""
    about: str = ""
    """Of a registry row: the id of the session or the pane that it names."""
    seen: PaneVerdict | None = None
    """Of a pane: what the observation found in it."""

    @property
    def run(self) -> str:
        """The run of a job or a session; empty for others."""
        return self.record.run if self.record is not None else ""


KINDS = ("job", "session", "pane", "row", "attempt", "sub-agent", "shell")


class SubjectScope(Value):
    """Which subjects are observed besides the jobs and sessions of a directory."""

    servers: tuple[tuple[str, ...], ...] = ()
    """Arguments that reach tmux servers: all their panes with an agent."""
    registry: str = ""
    """The path of a session registry: all its rows; empty for none."""
    children: bool = False


class SubjectSnapshot(Value):
    """All subjects of a scope at one moment: parents before their children."""

    subjects: tuple[Subject, ...]
    troubles: tuple[str, ...] = ()
    """What could not be observed, and why."""
    unseen: tuple[str, ...] = ()
    """How the ids of those subjects begin: that they are missing does not mean that they are gone."""


class KnownState(Value):
    """What the feed has last told of a subject."""

    state: str
    final: bool
    cause: str
    run: str = ""
    kind: str = ""
    name: str = ""
    parent: str = ""

    def is_same(self, other: KnownState) -> bool:
        """Whether nothing changed that is worth an event: what a turn is busy with is not."""
        busy = self.state in ("working", "starting")
        return self._replace(cause="") == other._replace(cause="") if busy else self == other


class SubjectChange(Value):
    """One change of one subject."""

    id: str
    kind: str
    name: str
    parent: str
    state: str
    """Empty where the subject is gone from the snapshot, such as a shell that has ended."""
    final: bool
    cause: str
    reason: str
    was: str
    """The state before; empty for a subject that is new."""
    run: str = ""
    seq: int = 0
    """Its number in the journal; 0 until it has one."""
    at: float = 0.0
    """Wall clock."""
