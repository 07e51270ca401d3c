"""The states of a verdict, for type checkers: a comparison with another word is an error there.

`core.verdict` has the same words as tuples, for programs that run.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    VerdictState = Literal[
        "starting", "working", "waiting", "limited", "idle", "stuck", "unknown",
        "completed", "failed", "crashed", "timeout", "incomplete", "not_found", "stopped", "abandoned",
    ]  # fmt: skip
else:
    VerdictState = str
