"""The list of agent sessions that people keep, what was found of them, and what is to be changed in the list.

A *row* is one session as the list has it; a *sight* is what one look at tmux, processes and the agents' files found; a
*drift* is one place where the two differ, with the change that would mend it.
"""

from __future__ import annotations

from datetime import UTC, datetime

from midwatch.core.foreign_text import escape_text
from midwatch.core.pane_model import RunningAgent
from midwatch.core.value import Value

RUNNING, STOPPED, TERMINATED, ARCHIVED = "running", "stopped", "terminated", "archived"
STATUSES = (RUNNING, STOPPED, TERMINATED, ARCHIVED)
INVALID = "invalid"
"""Instead of a status: the row cannot be understood."""
ENDED = (STOPPED, TERMINATED, ARCHIVED)
"""States that somebody meant. No drift ever changes them, nor what is kept for the way back."""
AUTO_DETECTED, AUTO_REGISTERED, REPORTED = "auto-detected", "auto-registered", "reported"

Place = tuple[str, ...]
"""Arguments that reach a tmux server: (), ("-L", name) or ("-S", path)."""


class RowPane(Value):
    """The pane of a row; what is not known is empty."""

    pid: int = 0
    cmd: str = ""
    cwd: str = ""
    id: str = ""
    """As tmux numbers it: %3."""
    start: int = 0
    """Clock ticks between boot and the start of its process: a pid alone may be another's by now."""
    boot: str = ""
    """The boot that these ticks count from."""


class RegistryRow(Value):
    """One session as the list has it."""

    at: int
    """Where it stands among the rows, from 0: names may stand twice."""
    name: str
    status: str
    line: int = 0
    """Of the file, from 1."""
    agent: str = ""
    """Empty where nothing tells."""
    pane: RowPane = RowPane()
    server: Place | None = None
    """The tmux server that it names; None for the usual one."""
    conversation: str = ""
    """Its own id; empty where none is known."""
    resumable: bool | None = None
    since: float | None = None
    """The latest moment that it tells of itself (ended, stopped, created), in wall-clock seconds."""
    seen_status: str = ""
    """``last_visible_status``."""
    data: dict[str, object] = {}  # noqa: RUF012  # of a named tuple, which nobody can change
    """The whole row, as it stands in the file."""
    problem: str = ""
    """Why it cannot be understood, with file and line; it is left as it stands, and nothing is known of its session."""

    def is_on(self, host: str) -> bool:
        """Whether it is a session of that machine; a row that names none is of wherever its list is."""
        return self.data.get("host") in (None, "", host)


class Registry(Value):
    """The list, as it stands in its file."""

    rows: tuple[RegistryRow, ...]


# Changes ------------------------------------------------------------------------------------------------------------


class SetFields(Value):
    """Give fields of a row these values; a field that is not there is added. Everything else stays as it stands."""

    at: int
    values: dict[str, object]
    """Field, with dots for what lies deeper (``pane.pid``) → text, number, truth, None, or a list or table of these."""


class AddRow(Value):
    """A new row, at the end."""

    name: str
    values: dict[str, object]
    """Its fields, tables within tables. The name is told by the shape of the file."""


class RemoveRow(Value):
    """Take a row out, with the comments that stand in it."""

    at: int


Change = SetFields | AddRow | RemoveRow

# The world ----------------------------------------------------------------------------------------------------------


class TmuxPane(Value):
    """One pane as tmux shows it now."""

    server: Place
    id: str
    session: str
    pid: int
    start: int = 0
    """Of its process, in clock ticks since boot; 0 where that cannot be known."""
    command: str = ""
    cwd: str = ""
    dead: bool = False
    """Its process has ended, and tmux keeps the pane."""
    agent: str = ""
    """The agent that runs in it; empty for none."""
    turn: str = ""
    """What its agent is at, in a word or two; empty where nobody looked or nothing is known."""
    conversation: str = ""
    """The one that its agent has open, beyond doubt; else empty."""


class TmuxSnapshot(Value):
    """What one look found."""

    panes: tuple[TmuxPane, ...] = ()
    troubles: dict[Place | None, str] = {}  # noqa: RUF012
    """Servers (as rows name them) that could not be asked, and why. Any other has answered, or there is none."""
    processes: dict[int, str] = {}  # noqa: RUF012
    """By row: LIVES, GONE or UNKNOWN. The process of its pane, whatever tmux says."""
    artifacts: dict[int, str] = {}  # noqa: RUF012
    """By row that has an id: THERE, GONE or UNKNOWN. What the agent has written of that conversation."""
    appeared: dict[int, str] = {}  # noqa: RUF012
    """By row without an id: the conversation that can only be its own."""
    running: dict[int, RunningAgent] = {}  # noqa: RUF012
    """By row: its agent as it runs, which tells where its conversations are."""


# Drifts -------------------------------------------------------------------------------------------------------------


class Drift(Value):
    """One place where list and world differ."""

    kind: str
    """A, B, C, D as they are called from of old, or a word of KINDS."""
    session: str
    message: str
    """What was found, for people, with what they can do where nothing is changed."""
    before: dict[str, object] = {}  # noqa: RUF012
    after: dict[str, object] = {}  # noqa: RUF012
    """The fields that are to change (with dots), before and after; nothing in ``after`` where it is only told."""
    change: Change | None = None
    deed: str = ""
    """What the change does, in words."""
    wait_s: float = 0.0
    """Seconds for which the change must still wait. The drift itself is reported at once."""


class DriftReport(Value):
    """A drift as it is reported to people and programs."""

    drift: Drift
    applied: bool = False
    """Its change was made."""
    repeated: bool = False
    """It was reported before, while its change had to wait. People need not be notified twice."""


KINDS = {
    "A": "running in the list, but tmux has no such session",
    "B": "a session that the list does not have",
    "C": "the id of its conversation has appeared",
    "D": "what its agent had written of its conversation is gone",
    "duplicate": "several rows for one session",
    "moved": "its pane is another one now, or elsewhere",
    "exited": "its agent is gone, its pane is there",
    "alive": "ended in the list, but it goes on",
    "elsewhere": "its process lives, but not where tmux was asked",
    "shared": "one conversation, open in two panes",
    "other": "its agent has another conversation open",
    "old": "ended long ago",
    "reported": "its machine has reported its end",
}


class ReconcileMemory(Value):
    """What earlier looks found, as far as the next needs it; rows are named by `row_keys`."""

    missed: dict[str, float] = {}  # noqa: RUF012
    """Since when (monotonic) something is to be seen that a second look must confirm, by kind and row."""
    turns: dict[str, str] = {}  # noqa: RUF012
    """What each agent was at."""


OUTSIDE, OTHER_LIST = "outside", "other-list"
"""Why a pane's directory is not of the workspace; UNKNOWN where tmux does not tell the directory."""


class PaneDirectory(Value):
    """Where a pane's directory really is."""

    real: str
    """Without links; empty where tmux does not tell it."""
    owner: str = ""
    """The workspace of the nearest list, in it or above it; empty where there is none."""


class UnregisteredPane(Value):
    """A pane that bears one of our names, is in no row, and is not registered because of its directory."""

    server: Place
    session: str
    pane: str
    directory: str
    cause: str
    """OUTSIDE, OTHER_LIST or UNKNOWN."""
    why: str
    """The same for people."""

    def fields(self) -> dict[str, str]:
        """For programs."""
        return {
            "session": self.session, "pane": self.pane, "directory": self.directory, "cause": self.cause,
            "why": self.why,
        }  # fmt: skip

    def line(self) -> str:
        """For people."""
        return escape_text(f"{self.session} (pane {self.pane}): not registered, {self.why}")


class ReconcileRules(Value):
    """What is known besides list and world."""

    naming: tuple[str, ...]
    """Names of sessions that belong into the list, with * and ?."""
    workspace: str
    """The directory that the list is for, without links."""
    directories: dict[str, PaneDirectory] = {}  # noqa: RUF012
    """By the directory of each pane, as tmux tells it."""
    fresh: dict[str, float] = {}  # noqa: RUF012
    """Sessions whose rows somebody has changed within the last seconds, and for how many more they are left alone."""
    keep_s: float = 30 * 86400.0
    prune: bool = False
    boot: str = ""
    host: str = ""
    """The machine that was looked at: rows that name another (``host``) are not judged by it."""


class ReconcilePlan(Value):
    drifts: tuple[Drift, ...]
    refresh: tuple[SetFields, ...]
    """What is written besides, and is no drift: what an agent is at has changed."""
    again: float | None
    """Seconds after which a further look decides what this one could not; None: nothing is open."""
    left_out: tuple[UnregisteredPane, ...] = ()


def row_keys(rows: tuple[RegistryRow, ...]) -> list[str]:
    """A name for each row that stays the same when others come and go."""
    seen: dict[str, int] = {}
    found = []
    for row in rows:
        nth = seen[row.name] = seen.get(row.name, -1) + 1
        found.append(f"{row.name}#{nth}" if nth else row.name)
    return found


def iso(wall: float) -> str:
    """A moment as a registry has it."""
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
