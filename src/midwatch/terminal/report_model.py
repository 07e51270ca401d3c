"""What a call of ours reports to the terminal that it runs in."""

from __future__ import annotations

from midwatch.core.value import Value


class ProgramReport(Value):
    """One report of the Program Status Protocol (OSC 7501)."""

    state: str
    """idle, working, done, blocked, error or clear."""
    title: str = ""
    """Of what it speaks."""
    msg: str = ""
    kind: str = ""
    """What is wanted of a person, where it is blocked: permission, question or auth."""
    progress: int | None = None
    """In percent."""
