"""What the watchdog of a controller knows at a tick, and what it does about it."""

from __future__ import annotations

from dogwatch.model.value import Value

CONFIRM, AUTO = "confirm", "auto"
EXIT_MODES = (CONFIRM, AUTO)


class State(Value):
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
    free: bool = True
    """A worker is there that could take something, or nobody works at all."""

    @property
    def is_open(self) -> bool:
        """Whether there is work left."""
        return not self.closed


class Memory(Value):
    """What earlier ticks have done. Times are monotonic."""

    told: State | None = None
    """The state that the controller was last told of."""
    at: float | None = None
    """When that was delivered: patience is counted from there, not from when it was tried."""
    repeats: int = 0
    """How often the same was told again."""
    sent: tuple[float, ...] = ()
    """When the last ones were delivered, within an hour."""
    unread: bool = False
    """Nothing proves that the last one was taken."""
    closed: int = 0
    """How often it was told that the epic is closed."""


class Rules(Value):
    interval: float = 420.0
    exit_mode: str = CONFIRM
    longest: float = 3600.0
    """Seconds between two that say the same, at most."""
    ceiling: int = 8
    """Messages within an hour."""
    notices: int = 10
    """How often a closed epic is told of."""


class Wake(Value):
    """What is to be done at a tick."""

    send: str
    """`tick`, `closed`, or empty for nothing."""
    why: str
    """For the log."""
    end: bool = False
    """The watchdog has nothing more to do."""
