"""What somebody waits for, and what came of it."""

from __future__ import annotations

from midwatch.core.job_model import Record
from midwatch.core.value import Value
from midwatch.core.verdict import FINAL, LIVE, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

UNTIL = ("final", "exited", *LIVE, *FINAL)
"""What can be waited for; `exited` means the end of the process alone, whatever a session's turns come to."""


class WaitOptions(Value):
    """What a wait is for."""

    until: str | None = None
    """One of UNTIL, or None: whatever a caller must be told."""
    match: re.Pattern[str] | None = None
    start_s: float = 0.0
    """How long a name may not be there yet."""
    timeout_s: float | None = None
    verify: str = ""
    """What tells whether the work is there, where that is not what was said when it was started."""


class WaitOutcome(Value):
    verdict: Verdict
    how: str
    """`state`, `match`, or `timeout`: the caller's own time ran out."""
    record: Record | None = None
    """Of the run that it is about."""
