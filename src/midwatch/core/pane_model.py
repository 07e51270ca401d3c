"""What a look at one agent's pane found: every source that there is, as it was at one moment."""

from __future__ import annotations

from midwatch.core.value import Value

REPORTS = "osc7501"
"""What the agent reports of itself in-band, by the protocol of that name."""
SOURCES = (REPORTS, "state", "api", "hook", "transcript", "title", "screen", "process")
"""Who can say something of a session's turn, strongest first: its reports, its state file, its server, its hooks …"""

TURNS = ("working", "waiting", "limited", "idle", "exited")


class Pane(Value):
    """What tmux says of a pane."""

    server: tuple[str, ...]
    """Arguments that reach its server: (), ("-L", name) or ("-S", path)."""
    id: str
    session: str
    pid: int
    title: str
    command: str
    """Name of the process in the foreground of the pane's terminal."""
    path: str
    width: int
    height: int
    cursor_x: int
    cursor_y: int
    cursor_visible: bool
    alternate: bool
    dead: bool
    dead_status: str
    activity: int
    """When its window last printed, in whole seconds of the wall clock."""
    tty: str = ""
    window: str = ""
    dead_signal: str = ""
    """Number of the signal that ended it. Dead with neither status nor signal: tmux has not noticed how (yet)."""
    also: tuple[str, ...] = ()
    """Further sessions that show the same window."""


class ProcessInfo(Value):
    """One process of a pane's tree."""

    pid: int
    parent: int
    letter: str
    """Its state as the kernel names it."""
    name: str
    args: tuple[str, ...]
    start: int
    """Clock ticks between boot and its start."""
    foreground: bool = False
    """It belongs to the process group that owns the terminal."""
    cpu_s: float = 0.0
    io: float = 0.0


class RunningAgent(Value):
    """One agent that runs: the process to ask for, and where its files are."""

    agent: str
    pid: int
    start: int
    """Clock ticks between boot and its start: a pid alone may be another's by now."""
    started: float
    """The same as wall-clock seconds."""
    cwd: str
    args: tuple[str, ...]
    environment: dict[str, str]
    """Only the variables that the agent's file asks for, and HOME."""


class SourceReport(Value):
    """What one source other than pane and processes says, in that source's own words."""

    source: str
    """One of SOURCES."""
    at: float | None
    """When this became true, in wall-clock seconds, as the source tells it; None where it does not."""
    words: dict[str, str]
    """Field and value, as flat text, for the rules of the agent's file."""
    trouble: str = ""
    """Why the source could not be read, in words for a person; then it has no words."""
    unclear: bool = False
    """It knows several conversations that may be this agent's: a source that knows fewer must not choose one."""


class Observation(Value):
    """Everything that one look at one agent's pane found."""

    agent: str
    pane: Pane
    rows: tuple[str, ...]
    tasks: tuple[ProcessInfo, ...]
    reports: tuple[SourceReport, ...] = ()
    now: float = 0.0
    """Monotonic seconds."""
    wall: float = 0.0
    """The same moment on the wall clock."""
    styles: tuple[str, ...] = ()
    """How each row begins and ends (`tmux.codec.sgr`); empty where colours are not known."""
