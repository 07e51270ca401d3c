"""What the monitor that acts on a session was asked to do, for everyone who wants to know what will happen."""

from __future__ import annotations

from midwatch.core.value import Value

CONTINUES = 10
"""How often one watch lets a session continue after a limit, unless told otherwise."""


class MonitorPlan(Value):
    """One watch. It is kept apart from the monitor's notes, which are of one run and of one boot."""

    run: str
    """The run of the session that is watched now."""
    monitor: tuple[int, int] = (0, 0)
    """Pid and start time of the monitor that acts; zeros until it has begun."""
    boot: str = ""
    until: str = "outcome"
    """`outcome`: the watch ends at whatever there is to be said. `final`: only at the end of the work."""
    on_limit: str = "report"
    continues: int = CONTINUES
    """How often the session may still be told to continue after a limit."""
    job: str = ""
    """The job that watches; empty for a monitor in the foreground."""
    arguments: tuple[str, ...] = ()
    """What that job's monitor was given behind the session's name."""
    cwd: str = ""
    """Where that job runs."""
    ended: str = ""
    """The state that the watch came to; empty while it goes on."""
