"""Whether the work is there: idle is not done."""

from __future__ import annotations

from midwatch.core.value import Value

COMMAND, FILE, GIT, SPRINT, BEAD = "command", "file", "git", "sprint", "bead"


class VerificationCheck(Value):
    """What tells that the work is there, as somebody worded it."""

    kind: str
    """One of COMMAND, FILE, GIT, SPRINT and BEAD."""
    subject: str
    """The command, the pattern of files, the story's key, the id of the bead; empty for GIT."""
    wanted: str = ""
    """The status that it must have, where it has one."""


class VerificationResult(Value):
    """What became of a check."""

    done: bool
    reason: str
    """What was found; of one that could not be made, why. On one line, with nothing hidden."""
