"""What happened to a subject at one moment, as it is remembered."""

from __future__ import annotations

from midwatch.core.json_text import load
from midwatch.core.value import Value


class Event(Value):
    run: str
    """The run of a job that it belongs to; empty where there is none."""
    n: int | None
    """Its number within the run, as the shim counted; None for what somebody else noted."""
    at: float
    """Wall clock."""
    name: str
    event: str
    body: str
    """All else that was said of it: a JSON object, in ASCII."""
    seq: int = 0
    """Its place in the journal; 0 until it has one."""

    @property
    def fields(self) -> dict[str, object]:
        """The body as a dictionary: `state`, `exit_code`, `reason` and others. Texts in it come from elsewhere."""
        found: dict[str, object] = load(self.body)
        return found
