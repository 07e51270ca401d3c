"""What the sources of a session say of its turn, each for itself; the judge makes one verdict of it."""

from __future__ import annotations

from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.value import Value
from midwatch.core.verdict import Doubt


class SourceReading(Value):
    """What one source says."""

    source: str
    """One of SOURCES."""
    turn: str
    """One of TURNS."""
    detail: str
    """For what it waits, after what it is idle …; empty where the source does not tell."""
    rule: str
    """Which rule of the agent's file heard it."""
    at: float | None = None
    """When it became true, in wall-clock seconds, as the source tells it."""
    until: ForeignText = NOTHING
    """When a limit ends, as the source words it."""
    text: ForeignText = NOTHING
    """What the agent itself says of it, such as an error."""
    ends: float | None = None
    """When a limit ends, on the wall clock."""
    firm: bool = False
    """This source tells of every end of a turn, so what it said holds until it says otherwise."""


class SubAgentReading(Value):
    """A sub-agent of a conversation, as its own transcript tells of it."""

    id: str
    event: str
    """The last that happened, by `transcripts.transcript_state.EVENTS`; empty where nothing is known yet."""
    tools: str
    """The tool calls that are open."""
    at: float
    """When it last wrote, in wall-clock seconds."""


class Presence(Value):
    """Whether the agent's process is there."""

    state: str
    """`alive`, `suspended`, `gone` or `unseen`."""
    why: str
    pid: int = 0


class Departure(Value):
    """What tells how the process of an agent ended. Each is kept once it was seen: a screen is soon cleared."""

    code: int | None = None
    signal: int | None = None
    """Exit code or signal, by the word of the kernel or of tmux."""
    goodbye: bool = False
    """It took its leave: its last words stand on the screen, or it called its hook for that."""
    shell: int | None = None
    """The signal that the shell in its pane told of."""
    after: str = ""
    """Where its turn was: `turn-ended`, `mid-turn`, or empty where nobody knows."""


class SessionFacts(Value):
    """What one look at a session found, as the judge takes it."""

    name: str
    agent: str
    """Its name for people."""
    now: float
    """Monotonic."""
    wall: float
    said: tuple[SourceReading, ...]
    there: Presence
    progress: dict[str, str]
    """What moves only when the work does: source and a value that differs when it moved."""
    life: dict[str, str]
    """What may move although the work hangs: spinner, title, clock."""
    tool_cpu_s: float = 0.0
    tool_io: float = 0.0
    tool: ForeignText = NOTHING
    """The tool call that is open, and what runs for it; empty where none is to be seen."""
    started: float | None = None
    """Wall-clock second of the agent's start."""
    notes: tuple[str, ...] = ()
    """What a person should know: a version never tested, a source that cannot be read."""
    left: Departure = Departure()
    """Of an agent that is gone: what this look tells of how."""
    release: str = ""
    """The agent's version; empty where nothing tells it."""
    doubts: tuple[Doubt, ...] = ()
    """Why what is read of this agent may be wrong."""


class TrackedValue(Value):
    """One thing that may move: its last value, and when that last changed (monotonic)."""

    value: str
    at: float
    ever: bool = False
    """It has moved in this turn."""


class SessionMemory(Value):
    """What a watcher remembers between its looks at one session."""

    turn: str
    detail: str
    since: float
    """Monotonic moment from which on the turn is this."""
    pending: tuple[str, float] | None
    """A change that only a weak source has seen so far, and when it first did."""
    sayings: dict[str, tuple[str, float]]
    """For each source what it says, and since when on the wall clock."""
    moved: dict[str, TrackedValue]
    tools: tuple[float, float, float, float]
    """CPU seconds and bytes of tools, when taken, when they last moved."""
    stale_since: float | None
    until: str = ""
    looked: float = 0.0
    """Monotonic moment of the last look."""
    limit: tuple[str, float] | None = None
    """When the limit that was last told ends: in the words of its source, and on the wall clock."""
    clock: tuple[str, float] | None = None
    """The latest time that its status line has shown, and since when it shows that."""
    left: Departure = Departure()
    """Of an agent that is gone: what all looks have told of how."""
