"""What a look at panes finds, and what a monitor is told to do."""

from __future__ import annotations

from midwatch.core.pane_model import Observation, Pane
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.monitor_plan import CONTINUES

DEADLINE = 5 * 3600.0
"""Seconds that a step or a delegated task may take, unless told otherwise."""
NO_DEADLINE = float("inf")
FINAL = "final"


class PaneVerdict(Value):
    """One agent's pane, as one look found it."""

    sighting: Observation
    verdict: Verdict


class PanesObservation(Value):
    seen: tuple[PaneVerdict, ...]
    trouble: str
    """Why nothing, or not everything, could be seen; then what is missing is unknown, not gone."""
    cause: str
    """The same for a program."""
    forks: int
    panes: tuple[Pane, ...] = ()
    """All that there are, with an agent or not."""


class MonitorOptions(Value):
    """What a monitor was told to do."""

    deadline_s: float = NO_DEADLINE
    resumes: int = 0
    on_limit: str = "report"
    """Or `wait`: until the limit ends, and then go on; or `watch`: on, until the agent does something about it."""
    continues: int = CONTINUES
    """How often the session is told to continue after a limit (`wait`)."""
    until: str = "outcome"
    """Or FINAL: what waits for a person, for a limit or hangs is reported, and the watch goes on."""
    cleanup: bool = False
    verify: str = ""
    """What tells whether the work is there, where that is not what was said when it was started."""
    afresh: bool = False
    """Its deadline is reckoned from now on, whatever a monitor that was killed had used up of its own."""
    unbegun_s: float | None = None
    """Seconds after which an agent at its prompt that never began is not waited for any more; None: it always is."""
    guest: bool = False
    """It watches in somebody else's program, whose signals it does not hear."""
