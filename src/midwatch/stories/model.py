"""What a log says of a step, as a model or our rules have read it."""

from __future__ import annotations

from midwatch.core.value import Value

SUCCESS, FAILURE, AMBIGUOUS = "SUCCESS", "FAILURE", "AMBIGUOUS"
PROCEED, RETRY, ESCALATE = "proceed", "retry", "escalate"
STATUSES = (SUCCESS, FAILURE, AMBIGUOUS)
ACTIONS = (PROCEED, RETRY, ESCALATE)
BY_MODEL, BY_RULES = "model", "rules"

CALL_FAILED = "sub-agent call failed"
TIMED_OUT = "sub-agent timed out"
NO_JSON = "sub-agent returned invalid json"


class ParseTrouble(Value):
    """Why a model could not tell."""

    kind: str
    """CALL_FAILED, TIMED_OUT or NO_JSON."""
    detail: str

    @property
    def words(self) -> str:
        return f"{self.kind}: {self.detail}"


class Parsed(Value):
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
