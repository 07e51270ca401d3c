"""Running a program that a check asks, for its exit code and the end of what it prints."""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText
from midwatch.core.program_result import ProgramResult
from midwatch.system import run_program
from midwatch.system.run_program import OutputCap, RunLimits

KEPT = OutputCap(1 << 14)
MERCY = 1.0
"""Seconds between asking a program to end and ending it."""


def run(command: list[str], cwd: str, limit: float, cancel: int) -> ProgramResult:
    """Run a program to its end, its time's end, or the end of the pipe ``cancel``. Raises OSError if it cannot be.

    What it leaves running when it ends by itself is not touched.
    """
    done = run_program.run_program(command, RunLimits(limit, KEPT, mercy=MERCY), cwd=cwd, cancel=cancel)
    text = done.output.decode("utf-8", "replace")
    return ProgramResult(done.code, late=not done.ended, text=ForeignText(text))
