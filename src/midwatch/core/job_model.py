"""What a look at one job found: everything the judge may know, as it was at one moment."""

from __future__ import annotations

from midwatch.core.causes import Cause
from midwatch.core.foreign_text import ForeignText
from midwatch.core.policy import Policy
from midwatch.core.states import VerdictState
from midwatch.core.value import Value


class Alive(Value):
    """The process is there and is the one that was meant."""

    pid: int
    letter: str
    """Its state as the kernel names it; T is stopped by a signal."""

    @property
    def suspended(self) -> bool:
        return self.letter == "T"


class Gone(Value):
    """It is certain that the process has ended."""

    why: str


class Unseen(Value):
    """Nobody here can tell; never to be read as gone."""

    why: str


Process = Alive | Gone | Unseen


class Identity(Value):
    """Which process is meant: a pid alone may be another's by now."""

    host: str
    boot: str
    pidns: str
    pid: int
    start: int
    """Clock ticks between boot and its start; 0 where that cannot be known."""
    timens: str = ""
    """The time namespace in which its start was read; empty for the reader's own."""


class End(Value):
    state: VerdictState
    exit_code: int | None
    signal: int | None
    reason: str
    at: float
    elapsed_s: float
    left: tuple[tuple[ForeignText, int], ...]
    """Processes of the work that outlived it: name and pid."""
    cause: Cause = ""
    unsupervised: bool = False
    """The shim was gone: a watcher wrote this end, or worked it out."""


class StopRequest(Value):
    """A stop that has begun: the end that the job is to have by it, and the process that carries it out."""

    state: VerdictState
    cause: Cause
    reason: str
    by: Process


class Attempt(Value):
    """One attempt that has ended, of a run that may have more."""

    number: int
    end: End


class Breaker(Value):
    """Under which breaker a job runs, and when that opens."""

    key: str
    threshold: int
    cooldown_s: float


class Adopted(Value):
    """Work that somebody else started: a process, or what a foreign directory says under a name."""

    dir: str
    """Empty for a process."""
    name: str
    stop: bool
    """Whether it may be ended by what the policy says; a person may always."""
    log: str
    """Where its output goes, as far as that could be found out."""


class PaneRef(Value):
    """The pane that a session runs in."""

    server: tuple[str, ...]
    """Arguments that reach its tmux server, from wherever one asks."""
    id: str
    session: str
    """Its name as tmux writes it."""
    life: str = ""
    """Which life of that server: after a restart its numbers are others'."""


class Record(Value):
    """Our own file about one run of a job."""

    name: str
    run: str
    command: tuple[str, ...]
    cwd: str
    policy: Policy
    started: float
    started_mono: float
    shim: Identity
    work: Identity
    notes: tuple[ForeignText, ...]
    end: End | None
    env: dict[str, str] = {}  # noqa: RUF012  # a named tuple's default; nobody writes to it
    attempt: int = 1
    attempt_mono: float | None = None
    """When the current attempt began (monotonic)."""
    next_mono: float | None = None
    """When the next one is to begin, once the judge has said so."""
    retries: int = 0
    backoff_s: float = 30.0
    attempts: tuple[Attempt, ...] = ()
    """Those that ended and were, or may be, followed by another."""
    breaker: Breaker | None = None
    adopted: Adopted | None = None
    notify: str = ""
    """The project whose settings say who is told what becomes of it; empty where nobody is."""
    kind: str = "job"
    """Or `session`: an agent in a pane."""
    agent: str = ""
    pane: PaneRef | None = None
    conversation: str = ""
    """Its id, where that was known when the agent was started."""
    again: str = ""
    """The run that this one goes on with."""
    options: tuple[str, ...] = ()
    """What else the agent was given, and would be again."""
    verify: str = ""
    """What tells whether the work is there; empty where nothing does."""
    since: float | None = None
    """When the work began that is to be verified, if not with this run (wall)."""
    spare: tuple[str, ...] = ()
    """In command lines of what it may start and others need too: that is not ended with it."""
    withheld: tuple[str, ...] = ()
    """Variables of ``env`` whose values are not written down."""
    drop: bool = False
    """What the work writes is in a drop box, apart from our own files."""

    @property
    def began(self) -> float:
        """When the work that is there now was started (monotonic)."""
        return self.started_mono if self.attempt_mono is None else self.attempt_mono

    @property
    def between(self) -> Attempt | None:
        """The attempt that has ended while it is still open whether another follows."""
        last = self.attempts[-1] if self.attempts else None
        return last if last and last.number == self.attempt and self.end is None else None


class ProgressSource(Value):
    """One source of progress: its last value, when that was taken, when it last moved (monotonic)."""

    value: float
    at: float
    moved: float


class ProgressSnapshot(Value):
    """What the keeper of a job's time last noted; every face judges from it."""

    run: str
    boot: str
    at: float
    stale_since: float | None
    stuck: bool
    """The judge said so when the keeper asked at the end of the grace period, and nothing has moved since."""
    sources: dict[str, ProgressSource]
    helper: int = 0
    own_cpu_s: float = 0.0
    own_io: float = 0.0
    outlived: bool = False
    """The work was seen alive after its shim had gone."""


class Beat(Value):
    """What the work last said of itself."""

    note: ForeignText
    progress: float | None


class WorkResult(Value):
    """What the work left for whoever started it."""

    valid: bool
    value: object


class StatusTimes(Value):
    """When the files of a foreign step were written, and its process began: nanoseconds of the wall clock."""

    now: int
    status: int
    pid: int | None
    """None where there is no pid file."""
    result: int | None = None
    start: int | None = None
    """Of the process that the pid file names; None unless it lives."""
    moved: tuple[int, ...] = ()
    """When its heartbeat and its log were last written."""
    children: tuple[int, ...] = ()
    """When the processes directly below it began."""


class StepStatus(Value):
    """What the files of a foreign step say of the run that its pid file names."""

    status: ForeignText | None = None
    result: WorkResult | None = None
    earlier: ForeignText | None = None
    """Text of a status that is of an earlier run, or may be."""
    open_until: float | None = None
    """Until when that cannot be told (monotonic); None where it is known."""


class JobFacts(Value):
    name: str
    now: float
    """Monotonic; all ages are reckoned from it."""
    exists: bool = True
    """False when no file of that name is there."""
    others: int = 0
    """How many jobs there are then."""
    record: Record | None = None
    policy: Policy | None = None
    status: ForeignText | None = None
    """Text of the status file of this run, None when there is none."""
    earlier: ForeignText | None = None
    """Text of a status file that an earlier run of a foreign step left there."""
    open_until: float | None = None
    """Until when it cannot be told which run wrote that (monotonic); None where it is known."""
    status_since: float | None = None
    """When this watcher first saw that status; None for a single look."""
    watched: bool = False
    """Whoever looks will look again; a single look must say what it can."""
    unseen_since: float | None = None
    """Since when this watcher sees no process of it."""
    result: WorkResult | None = None
    pid_written: int | None = None
    """When the pid file of a foreign step was written (ns)."""
    ending: End | None = None
    """How Midwatch ended a foreign step, which cannot say so itself."""
    shim: Process = Unseen("not looked at")
    """The process of the pid file: our shim, or a foreign wrapper."""
    work: Process = Unseen("not looked at")
    seen: ProgressSnapshot | None = None
    """The keeper's notes, brought up to this moment by a fresh look."""
    survivors: tuple[tuple[ForeignText, int], ...] = ()
    """Processes of this run that were found although shim and work are gone."""
    stop: StopRequest | None = None
    outlived: bool = False
    """Shim and work are gone, and something shows that the work ended after its shim."""
    beat: Beat | None = None
    log: str | None = None
    elapsed_s: float | None = None
    troubles: tuple[str, ...] = ()
    """What could not be read, and why."""
