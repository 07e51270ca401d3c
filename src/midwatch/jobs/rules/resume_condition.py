"""Whether work that hangs or has ended is brought back."""

from __future__ import annotations

from midwatch.core.verdict import Verdict

TOLD_TO_GO = (1, 2, 3, 15)
"""Signals that somebody sends to end something (HUP, INT, QUIT, TERM); whoever dies of others has crashed."""


def is_out_of_sight(verdict: Verdict) -> bool:
    return verdict.final and verdict.cause == "exit-unseen"


def is_resumable(verdict: Verdict) -> bool:
    """Whether to bring it back: it hangs or has crashed. Not what ended by itself, or because somebody wanted it to.

    An end that nobody saw may have been a crash, unless its turn had ended before.
    """
    if verdict.state == "stuck":
        return not verdict.final
    if is_out_of_sight(verdict):
        return verdict.detail != "turn-ended"
    return verdict.state == "crashed" and verdict.signal not in TOLD_TO_GO
