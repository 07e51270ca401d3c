"""Processes of this user, the marks in their environment, and those that outlived their job or session."""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText
from midwatch.core.value import Value

LEFTOVER, SERVER, DAEMON, OWN = "leftover", "server", "daemon", "midwatch"
SPARED = (SERVER, DAEMON, OWN)
"""Kinds that are ended only when they are named: who listens, an agent's shared daemons, and processes of Midwatch."""


class Mark(Value):
    """What `run` and `spawn` export to the work."""

    directory: str
    """The sentinel directory."""
    name: str
    run: str


class OwnProcess(Value):
    """One living process of this user."""

    pid: int
    parent: int
    start: int
    """Clock ticks between boot and its start."""
    command: ForeignText
    age_s: float
    cpu_s: float
    memory: int
    """Bytes in memory."""
    mark: Mark | None = None
    keeps_job: bool = False
    """It is a shim or a supervisor: it, and what is below it, belongs to a job of its own."""
    own: bool = False
    """It is another process of Midwatch itself."""


class Origin(Value):
    """What became of the job or session that a mark names."""

    alive: bool
    state: str
    """Its final state, or `gone` where no record of that run is left."""


class Orphan(Value):
    process: OwnProcess
    mark: Mark
    state: str
    kind: str
    listens: tuple[str, ...] = ()
    """Addresses, and paths of sockets."""


class Selection(Value):
    """What `--stop` was told to end."""

    names: frozenset[str] = frozenset()
    pids: frozenset[int] = frozenset()

    @property
    def everything(self) -> bool:
        return not self.names and not self.pids
