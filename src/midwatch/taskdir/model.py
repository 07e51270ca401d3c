"""A task directory: an agent in a tmux session, started by a wrapper that leaves files.

``docs/guides/task-directories.md`` describes them.
"""

from __future__ import annotations

from midwatch.core.causes import Cause
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Process, ProgressSource, Unseen
from midwatch.core.states import VerdictState
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict

DOUBLINGS = 64
"""More than enough to come from a millisecond to any length, and no number overflows."""


class TaskNumbers(Value):
    """How patient to be with a task. The defaults are the protocol's own."""

    base_s: float = 30.0
    """Seconds between looks at what wakes nobody; doubled by every resume that brought no output."""
    max_s: float = 300.0
    deadline_s: float = 18000.0
    grace_s: float = 30.0
    retries: int = 10
    """Resumes in all; 0: what has crashed or hangs is only reported."""
    dispatch_s: float = 10.0
    """Seconds that a wrapper which was run again may take to write its pid file."""

    @property
    def stale_s(self) -> float:
        return 3 * self.base_s

    @property
    def silence_s(self) -> float:
        """Seconds of silence after which a task that lives is stuck."""
        return self.stale_s + self.grace_s

    def interval(self, retry: int) -> float:
        return min(self.base_s * 2.0 ** min(retry, DOUBLINGS), self.max_s)


class WrapperPane(Value):
    """The pane of the wrapper."""

    id: str
    pid: int
    busy: ForeignText
    """What runs in its foreground; empty when a shell waits there for a command."""


class TaskSession(Value):
    """What tmux says of the session, if it says anything."""

    there: bool | None
    """None: nobody could tell."""
    why: str = ""
    name: str = ""
    """As tmux writes it."""
    pane: WrapperPane | None = None
    panes: int = 0


class TaskAgent(Value):
    """What was seen of the coding agent itself while it worked: enough to go on with its conversation."""

    agent: str = ""
    """Its name; empty: none that a file describes was seen."""
    conversation: str = ""
    """Its id, by a source that knows it; never a guess."""
    cwd: str = ""
    options: tuple[str, ...] | None = None
    """What it was started with, `{prompt}` for its prompt; None where its command line does not tell."""
    environment: dict[str, str] = {}  # noqa: RUF012  # a named tuple's default; nobody writes to it
    """Where its files are."""
    program: tuple[str, ...] = ()
    """How its command line begins, up to its program."""


class TaskPaneState(Value):
    """What the pane of a task shows."""

    turn: tuple[VerdictState | None, Cause, str] = (None, "", "")
    """`waiting` or `limited`, if the agent says so, with cause and reason."""
    wrote: float | None = None
    """When it last wrote to its transcript or called a hook, on the wall clock; None: nobody knows."""
    screen: float | None = None
    """Differs when new text stands on the screen; None: nobody has looked."""
    worker: TaskAgent = TaskAgent()


class ResumeRecipe(Value):
    """How to go on with a task whose wrapper nobody knows."""

    script: str = ""
    """What the pane's shell is given to run."""
    why: str = ""
    """Why there is none."""


class TaskNotes(Value):
    """What a monitor remembers of a task, for itself and for the one that comes after it. Times are monotonic."""

    boot: str
    at: float
    began: float
    """When it was first watched: the deadline counts from here."""
    total: int = 0
    """Resumes so far."""
    retry: int = 0
    """Resumes since the agent last printed something."""
    resumed_at: float | None = None
    phase: str = ""
    """Of a resume: `resuming` (counted, the old process is being ended), `ready` (the wrapper may be run), `typed`."""
    cause: str = ""
    """Of the last resume: `crashed` or `hung`."""
    agent: tuple[int, int] = (0, 0)
    """Pid and start of the process that was last seen."""
    wrapper: tuple[int, int] = (0, 0)
    group: tuple[int, int] = (0, 0)
    """Process group of the agent, and the session of its terminal: whoever is in both was started by that wrapper."""
    pane: tuple[str, int] = ("", 0)
    """Id and pid of the pane that it was seen in."""
    command: str = ""
    """What is typed to run the wrapper again."""
    worker: TaskAgent = TaskAgent()
    met: float = 0.0
    """When a monitor first saw this agent: what has not moved since then may have been silent for longer."""
    code: int | None = None
    """How the agent ended, as the kernel told it, in the way of shells: 128 and more is a signal."""
    gone_since: float | None = None
    unknown_since: float | None = None
    sources: dict[str, ProgressSource] = {}  # noqa: RUF012  # a named tuple's default; nobody writes to it
    stale_since: float | None = None
    stuck: bool = False
    monitor: tuple[int, int] = (0, 0)
    """Pid and start of the monitor that acts."""
    verdict: Verdict | None = None
    """What the last monitor ended with, for those that watch beside it."""
    ended_at: float = 0.0
    """When it did: each end of a watch is an event of its own, however many monitors tell of it."""


class TaskFacts(Value):
    """What one look at a task found."""

    name: str
    directory: str
    now: float
    notes: TaskNotes
    exists: bool = True
    done: bool = False
    code: int | None = None
    """What `exit_code` holds, else the manifest of a task that is done."""
    status: str = ""
    """Of the manifest, which anybody may have written."""
    manifest: dict[str, object] = {}  # noqa: RUF012  # as above
    recipe: ResumeRecipe | None = None
    """None: nobody has asked for it yet."""
    marker: bool = False
    """Somebody asked the wrapper to resume, and it has not done so yet."""
    agent: Process | None = None
    """None: there is no pid file."""
    pid: int = 0
    start: int = 0
    wrapper: Process = Unseen("not known")
    session: TaskSession = TaskSession(None, "not looked at")
    turn: tuple[VerdictState | None, Cause, str] = (None, "", "")
    """`waiting` or `limited`, if the agent's pane says so, with cause and reason."""
    below: tuple[tuple[ForeignText, int], ...] = ()
    """What runs below the agent: name and pid."""
    foreign: str = ""
    """Why nothing of it may be touched; empty when it is ours."""
    rival: int = 0
    """Pid of the owner's own monitor, if that runs: then it is the one who acts."""
    elapsed_s: float | None = None
    log: str | None = None
    troubles: tuple[str, ...] = ()


class TaskStep(Value):
    """What is to be done after a look."""

    what: str
    """`wait`, `say` (the watch is over), `derive` (find out how to go on, and ask again), `resume` (end what is left,
    and make ready) or `type` (run the wrapper)."""
    verdict: Verdict
    notes: TaskNotes
    at: float
    """When to look again though nothing may have happened."""
