"""How an attempt at a step ended, what its log says as a model or our rules have read it, and what is next."""

from __future__ import annotations

from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.value import Value

SUCCESS, FAILURE, AMBIGUOUS = "SUCCESS", "FAILURE", "AMBIGUOUS"
PROCEED, RETRY, ESCALATE = "proceed", "retry", "escalate"
STATUSES = (SUCCESS, FAILURE, AMBIGUOUS)
ACTIONS = (PROCEED, RETRY, ESCALATE)
BY_MODEL, BY_RULES = "model", "rules"

CALL_FAILED = "sub-agent call failed"
TIMED_OUT = "sub-agent timed out"
NO_JSON = "sub-agent returned invalid json"

REVIEW_CYCLES = 5
"""Reviews in which there is still something to mend, before a person must look."""
CRASH_RETRIES = 2


class ParseTrouble(Value):
    """Why a model could not tell."""

    kind: str
    """CALL_FAILED, TIMED_OUT or NO_JSON."""
    detail: str

    @property
    def words(self) -> str:
        return f"{self.kind}: {self.detail}"


class ParsedLog(Value):
    """One reading of one log."""

    step: str
    status: str
    """Of STATUSES."""
    summary: str
    """On one line, for people."""
    next_action: str
    """Of ACTIONS."""
    fields: dict[str, object]
    """What is asked of this step alone; None where nothing tells."""
    by: str
    """BY_MODEL or BY_RULES."""
    trouble: ParseTrouble | None = None


class StepEnd(Value):
    """How an attempt ended."""

    state: str
    reason: str
    step: str = ""
    signal: int | None = None
    verified: bool | None = None
    """None: nothing to verify against, or it did not come to that."""
    parsed: ParsedLog | None = None
    created: int | None = None
    """Files that are there now and were not before the first attempt; None: they are not counted."""
    until: ForeignText = NOTHING
    """When a limit ends, in the words of whoever said so."""
    unseen: bool = False
    """Nobody saw how it ended, and its turn had not: it may have crashed."""


class Tally(Value):
    """What has been, this attempt included; or how much of it there may be."""

    crashes: int = 0
    cycles: int = 1
    """Of those that did not crash: how often the step was gone through."""


class Next(Value):
    action: str
    """One of PROCEED, RETRY and ESCALATE."""
    why: str
    again: str = ""
    """`crash` or `cycle`: there is to be another attempt at once, for this cause."""
