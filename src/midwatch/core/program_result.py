"""What became of a program that was run with a deadline."""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText
from midwatch.core.value import Value


class ProgramResult(Value):
    """A program that was run to its end, or ended because its time was up."""

    code: int
    """As subprocess has it: below 0 is the signal that killed it."""
    late: bool
    text: ForeignText
    """The end of what it printed."""
