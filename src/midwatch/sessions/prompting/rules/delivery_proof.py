"""How it is known that an agent has taken a prompt.

The transcript that holds its text, a hook that was called since, a state file or server that has gone from idle to
working. A screen proves only that the box is empty.
"""

from __future__ import annotations

from midwatch.core.pane_model import SourceReport
from midwatch.core.verdict import Verdict

TRANSCRIPT, HOOK, STATE, SCREEN = "transcript", "hook", "state", "screen"
PROOFS = (TRANSCRIPT, HOOK, STATE, SCREEN)
"""The strongest first."""
PROVEN_BY = {
    TRANSCRIPT: "its transcript tells of it",
    HOOK: "its hook tells of a turn since",
    STATE: "it says that it works since",
    SCREEN: "it is gone from the box, but neither transcript nor hook tells of it; look there before you send it again",
}
SLACK = 0.05
"""Seconds: hooks tell time in hundredths, reckoned from the start of the machine."""
NO_TURN = ("SessionStart", "SessionEnd")
STATES = ("state", "api")


def find_proof(
    before: Verdict, after: Verdict, reports: tuple[SourceReport, ...], submitted: float, *, written: bool | None
) -> str:
    """The best proof there is, besides the screen; empty for none. The box must no longer hold the text.

    ``submitted`` is a moment of the wall clock until which the agent was idle. ``written`` tells whether its transcript
    holds the text; None where it cannot be searched for one: then it must have gone on since.
    """
    since = {each.source: each for each in reports if each.at is not None and each.at >= submitted - SLACK}
    if written or (written is None and "transcript" in since and since["transcript"].words.get("event")):
        return TRANSCRIPT
    if "hook" in since and since["hook"].words.get("event") not in NO_TURN:
        return HOOK
    idle = {piece.source for piece in before.evidence if piece.source in STATES}
    works = {piece.source for piece in after.evidence if piece.source in STATES and after.turn == "working"}
    return STATE if idle & works else ""
