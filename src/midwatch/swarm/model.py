"""What the watchdog of a controller knows at a tick, and what it does about it."""

from __future__ import annotations

from midwatch.core.value import Value

CONFIRM, AUTO = "confirm", "auto"
EXIT_MODES = (CONFIRM, AUTO)


class MessageRecipient(Value):
    """Whom messages reach; what is empty is not known."""

    conversation: str = ""
    """Its id, as the agent's own sources have it."""
    process: str = ""
    """Pid and start of the agent."""


NOBODY = MessageRecipient()


class WorkState(Value):
    """The work at one tick, as far as the controller is to hear of it: ids only, in order."""

    closed: bool
    """The epic is."""
    ready: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    quality: tuple[str, ...] = ()
    """Beads whose quality loops are due."""
    workers: tuple[str, ...] = ()
    """Workers that have come to rest in a way that somebody should know of: `w2 is idle`, `w3 crashed` …"""
    mail: tuple[str, ...] = ()
    """Reports that nobody has read yet."""
    crew: tuple[str, ...] = ()
    """Every worker with its state: `w2 is idle`, `w4 is working` …"""
    crashed: tuple[str, ...] = ()
    """Those of `workers` that are lost with their work."""
    urgent: tuple[str, ...] = ()
    """Unfinished tasks of the highest priority."""
    free: bool = True
    """A worker is there that could take something, or there is none at all."""
    working: bool = False
    """A worker is at work."""
    turn: float | None = None
    """When the controller last began a turn (monotonic), if that was seen."""
    trouble: str = ""
    """Why the tracker could not be read; then what is told of tasks is what it last said, or nothing."""


class WakeMemory(Value):
    """What earlier ticks have done. Times are monotonic."""

    told: WorkState | None = None
    """The state that the controller was last told of."""
    at: float | None = None
    """When that was delivered: patience is counted from there, not from when it was tried."""
    repeats: int = 0
    """How often the same was told again."""
    sent: tuple[float, ...] = ()
    """When those that told something new were delivered, within an hour."""
    unread: bool = False
    """Nothing proves that the last one was taken."""
    closed: int = 0
    """How often it was told that the epic is closed."""
    to: MessageRecipient = NOBODY
    """Who was told."""


class WakeRules(Value):
    interval: float = 420.0
    exit_mode: str = CONFIRM
    longest: float = 3600.0
    """Seconds between two that say the same, at most."""
    ceiling: int = 8
    """Messages with something new within an hour. Repeats are not counted; crashes and urgent tasks do not wait."""
    notices: int = 10
    """How often a closed epic is told of."""


class WorkerState(Value):
    """An agent in a pane of the session that is not the controller."""

    pane: str
    agent: str
    state: str
    """Of a verdict."""


class SessionSnapshot(Value):
    """What one look at the session found."""

    controller: str
    """The pane; empty where there is none, or more than one."""
    trouble: str
    """Why there is none."""
    state: str
    """Of the controller."""
    workers: tuple[WorkerState, ...]
    seen: bool = True
    """False where the server did not tell: who is missing then is unknown, not gone."""
    recipient: MessageRecipient = NOBODY
    """Who is in the controller's pane."""


class Workers(Value):
    """What earlier looks have seen. Times are monotonic."""

    since: dict[str, tuple[str, str, float]] = {}  # noqa: RUF012  # of a named tuple, which nobody can change
    """Agent and state of each worker, and since when it is in that."""
    gone: tuple[str, ...] = ()
    """Workers whose panes are no more, in words, until that was told."""
    turn: float | None = None
    """When the controller last began a turn."""
    busy: bool = False


class DeliveryResult(Value):
    """What became of a message."""

    taken: bool
    """At least it is gone from the box: whoever sends it again may send it twice."""
    proven: bool
    """The controller's own records have it."""
    reason: str
    left: bool = False
    """It may still stand in the box."""


class WakeDecision(Value):
    """What is to be done at a tick."""

    send: str
    """`tick`, `closed`, or empty for nothing."""
    why: str
    """For the log."""
    end: bool = False
    """The watchdog has nothing more to do."""
    held: str = ""
    """Why a message that is due is held back."""
    message: str = ""
    """What that message would tell."""
    until: float | None = None
    """When it is sent at the latest (monotonic), where that is known."""
