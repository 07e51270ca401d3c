"""One name that is waited for: what a wait knows of it, and what it holds on to."""

from __future__ import annotations

from dogwatch.loops.look import Memory
from dogwatch.model.facts import Alive, Gone, JobFacts, Record
from dogwatch.model.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dogwatch.senses.exits import Held
    from dogwatch.senses.logs import LogScan

MOST_HELD = 128
"""Jobs that one wait holds on to while their shims live."""


class WaitedSubject:
    """What is known of one name while it is waited for. There may be ten thousand: it is kept small."""

    __slots__ = (
        "away_since", "known", "log", "memory", "name", "news", "pid", "pid_start", "run", "said", "seated", "settled"
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.memory = Memory()
        self.known = False
        self.away_since: float | None = None
        """Since when its directory cannot be seen."""
        self.run = ""
        """Which run is waited for: the one that was there at the first look, though the next may begin meanwhile."""
        self.settled = True
        self.pid = self.pid_start = 0
        self.log: LogScan | None = None
        self.news: tuple[Verdict, Record, float] | None = None
        """What nobody but us can have somebody told: its shim is gone."""
        self.said: Verdict | None = None
        """What was told of it by us."""
        self.seated = False
        """It is a session: it has a pane."""


def held(facts: JobFacts, before: Held | None, *, many: bool) -> Held | None:
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
    from dogwatch.senses.exits import Held  # noqa: PLC0415  # who finds an end at once needs it not

    return Held(*which)
