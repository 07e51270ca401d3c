"""What is said of a subject: separate axes, one word for people, and the evidence."""

from __future__ import annotations

from midwatch.core.causes import Cause
from midwatch.core.errors import StateError
from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.job_model import Beat
from midwatch.core.states import VerdictState
from midwatch.core.value import Value

LIVE = ("starting", "working", "waiting", "limited", "idle", "stuck", "unknown")
FINAL = ("completed", "failed", "crashed", "timeout", "incomplete", "not_found", "stopped", "abandoned")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from midwatch.core.process_state import ProcessState
    from midwatch.core.turn_state import TurnState

    Doubt = Literal["untested-release", "sources-disagree"]
    """Why a session may be read wrong: nobody has tried this release, or a strong source contradicts another one."""
else:
    Doubt = str


class Evidence(Value):
    """One observation."""

    source: str
    says: str
    """On one line: what others wrote is worded so."""
    age_s: float | None = None
    """Seconds since it became true, where that is known."""


class LimitPlan(Value):
    """What happens when the limit of a session ends."""

    ends: float | None
    """When that is, on the wall clock; None where nobody knows."""
    by: str
    """Who continues the work then: `monitor` or `agent`; empty where nobody does."""
    why: str = ""
    """Why nobody does: `not-watched`, `cancelled`, `none-left` or `end-unknown`."""
    left: int | None = None
    """How often the monitor may still continue it."""


class Verdict(Value):
    name: str
    kind: str
    state: VerdictState
    final: bool
    reason: str
    """For people, on one line without anything hidden. Programs decide by the cause."""
    process: ProcessState
    progress: str
    cause: Cause = ""
    exit_code: int | None = None
    signal: int | None = None
    elapsed_s: float | None = None
    result: object = None
    log: str | None = None
    silent_s: float | None = None
    """Seconds since anything that counts as progress moved."""
    deadline: tuple[str, float] | None = None
    """What happens next if nothing moves, and in how many seconds."""
    look_at: float | None = None
    """Monotonic moment at which time alone may change this verdict."""
    settled: bool = True
    """False while a second look a moment later may say more (a status just being written)."""
    beat: Beat | None = None
    turn_s: float | None = None
    """Of a session: for how long its turn has been so, where that was watched."""
    turn: str = ""
    """Of a session: working, waiting, limited, idle, exited or unknown."""
    detail: str = ""
    """For what it waits, after what it is idle, which limit."""
    until: ForeignText = NOTHING
    """When a limit ends, in the words of whoever said so."""
    ends: float | None = None
    """When a limit ends, on the wall clock."""
    message: ForeignText = NOTHING
    """What the agent itself says of it, such as an error."""
    matched: ForeignText | None = None
    """The line of its log that ended a wait for one."""
    evidence: tuple[Evidence, ...] = ()
    against: tuple[Evidence, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    """Of a session: why this may be wrong."""
    limit: LimitPlan | None = None
    """Of a limited session, where that was looked up: who continues it, and when."""
    ended: float | None = None
    """When it ended, on the wall clock, where our record tells that."""

    @property
    def turn_state(self) -> TurnState:
        """Where its turn is, as a value."""
        from midwatch.core.turn_state import read_turn  # noqa: PLC0415  # jobs have no turn

        return read_turn(self.turn, self.detail, self.until, self.ends)

    @property
    def ok(self) -> bool:
        """Whether the work is completed."""
        return self.state == "completed"

    def raise_for_state(self, *fine: VerdictState) -> Verdict:
        """Return this verdict if the work is completed, or in one of the states ``fine``; else raise StateError.

        A live state raises it too: when the timeout of a wait has run out, nothing is completed yet.

        >>> import midwatch
        >>> done = midwatch.run(["true"], name="build").raise_for_state("starting", "working", "completed")
        >>> midwatch.wait(done).raise_for_state().exit_code
        0
        >>> midwatch.run(["sh", "-c", "exit 3"], name="test").name
        'test'
        >>> try:
        ...     midwatch.wait("test").raise_for_state()
        ... except midwatch.StateError as error:
        ...     print(error.verdict.state, error.verdict.exit_code)
        failed 3
        """
        if self.ok or self.state in fine:
            return self
        raise StateError(self)
