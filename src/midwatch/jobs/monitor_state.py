"""What the monitor of a session remembers, for whoever comes after it."""

from __future__ import annotations

from midwatch.agents.turn_model import SessionMemory
from midwatch.core.policy import PATIENT
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict


class MonitorState(Value):
    """One monitor's notes. All moments are monotonic, of the boot named beside them."""

    run: str
    boot: str
    monitor: tuple[int, int]
    """Pid and start time of who wrote this."""
    began: float
    """When the watch began, time that was lost not counted: its deadline is reckoned from there."""
    at: float
    patience: tuple[float, float] = (PATIENT.stale_s, PATIENT.grace_s)
    """Seconds without progress, and of grace, by which it judges."""
    clock: str = PATIENT.clock
    resumes: int = 0
    """How often it may still be resumed."""
    agent: tuple[int, int] = (0, 0)
    """Pid and start of the agent's process that the memory is of."""
    memory: SessionMemory | None = None
    acting: str = ""
    """What is being done about it at this moment."""
    verdict: Verdict | None = None
    """What the watch came to; None while it goes on."""
    left: bool = False
    """It came to nothing: the monitor itself was ended, or its time was up."""
