"""What the sources of a session say of its turn, each for itself; the judge makes one verdict of it."""

from __future__ import annotations

from dogwatch.model.value import Value


class Said(Value):
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
    until: str = ""
    """When a limit ends, as the source words it."""


class Presence(Value):
    """Whether the agent's process is there."""

    state: str
    """`alive`, `suspended`, `gone` or `unseen`."""
    why: str
    pid: int = 0
