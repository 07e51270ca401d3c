"""One name that is waited for: what a wait knows of it, and what it holds on to."""

from __future__ import annotations

import os

from midwatch.core.job_model import Alive, Gone, JobFacts, ProgressSnapshot, Record
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.jobs.log_scan import LogScan
    from midwatch.system.exit_status import HeldProcess

MOST_HELD = 128
"""Jobs that one wait holds on to while their shims live."""


class JobWatchState(Value):
    """What a watcher remembers between its looks at one job."""

    status_since: float | None = None
    unseen_since: float | None = None
    process: tuple[int, int] = (0, 0)
    """Pid and start time of the process that it was last seen to be."""
    pid_written: int | None = None
    """When the pid file that named it was written (ns)."""
    seen: ProgressSnapshot | None = None
    """Notes that the watcher keeps itself, where no shim does."""
    held: HeldProcess | None = None
    """The work, held on to while it lived: only so can its exit status be learnt from the kernel once it is reaped."""
    keeps: bool = False
    """The watcher holds the lease of the name."""


class WaitedSubject:
    """What is known of one name while it is waited for. There may be ten thousand: it is kept small."""

    __slots__ = (
        "away_since", "known", "last_pid", "log", "memory", "name", "news", "pid", "pid_start", "run", "said", "seated",
        "settled",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.memory = JobWatchState()
        self.known = False
        self.away_since: float | None = None
        """Since when its directory cannot be seen."""
        self.run = ""
        """Which run is waited for: the one that was there at the first look, though the next may begin meanwhile."""
        self.settled = True
        self.pid = self.pid_start = self.last_pid = 0
        self.log: LogScan | None = None
        self.news: tuple[Verdict, Record, float] | None = None
        """What nobody but us can have somebody told: its shim is gone."""
        self.said: Verdict | None = None
        """What was told of it by us."""
        self.seated = False
        """It is a session: it has a pane."""


def hold_work(facts: JobFacts, before: HeldProcess | None, *, many: bool) -> HeldProcess | None:
    """Hold on to the work: should its shim be killed, its exit status can still be learnt from the kernel.

    Descriptors are few, so of ``many`` that are waited for only those are held whose shim is gone already.
    """
    if facts.record is None or facts.record.adopted is not None or not isinstance(facts.work, Alive):
        return before
    which = facts.record.work.pid, facts.record.work.start
    if before is not None and before.process == which:
        return before
    if many and not isinstance(facts.shim, Gone):
        return None
    from midwatch.system.exit_status import HeldProcess  # noqa: PLC0415  # who finds an end at once needs it not

    return HeldProcess(*which)


def identify_directory(directory: str, links: int | None = None) -> tuple[int, int] | None:
    """Tells a directory from another that is mounted over it. With ``links``: only if it has so many; 0 is removed."""
    try:
        found = os.stat(directory)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if links in (None, found.st_nlink) else None
