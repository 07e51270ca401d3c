"""What a monitor makes of a look at a session: say something and be done, do something about it, or watch on."""

from __future__ import annotations

from midwatch.agents.turn_model import SessionMemory
from midwatch.core.causes import Cause
from midwatch.core.exhaustive import assert_never
from midwatch.core.text import format_duration
from midwatch.core.turn_state import Departed, Idle, Limited, Suspended, Unread, Waiting, Working
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.rules.resume_condition import is_out_of_sight
from midwatch.sessions.model import FINAL, MonitorOptions
from midwatch.verification.model import VerificationResult

LASTS = 1.0
"""Seconds that an agent must be idle before its turn is over: a message that was queued begins the next at once."""
UNSAID = 2.5
"""Seconds after which an agent is at its prompt for good, though no source has told how its turn ended."""


BEGINS = 30.0
"""Seconds within which an agent that was told to go on begins its turn, however busy the machine is."""

SHOWN = ("progress text", "progress tools")
"""What counts as progress, and is not told by a file of the agent."""


class MonitorContext(Value):
    """What a monitor knows besides the verdict of its last look."""

    worked: bool = False
    """A turn has been under way since it began to watch."""
    idle_s: float = 0.0
    """For how long it has been idle without a break."""
    vague_s: float | None = None
    """For how long it has been waiting without that any source tells for what; None where one does."""


def is_old_interruption(verdict: Verdict, continued_s: float | None) -> bool:
    """Whether it shows how an earlier turn was broken off: it was told to go on since, and is about to begin.

    ``continued_s``: seconds since the monitor told it so, while it was not seen at work; None otherwise.
    """
    turn = verdict.turn_state
    broken_off = isinstance(turn, Idle) and turn.after == "interrupted"
    return broken_off and not verdict.final and continued_s is not None and continued_s < BEGINS


def find_outcome(verdict: Verdict, seen: MonitorContext, wanted: MonitorOptions = MonitorOptions()) -> Verdict | None:  # noqa: B008  # a value
    """What there is to be said; None: watch on."""
    if verdict.state == "limited" and wanted.on_limit == "watch":
        return None
    if seen.vague_s is not None and seen.vague_s < LASTS:
        return None  # a dialog is known of before it is drawn
    turn = verdict.turn_state
    needs_somebody = not isinstance(turn, Idle) and verdict.state in ("stuck", "waiting", "limited")
    if verdict.final or needs_somebody or _is_unseen(verdict):
        return verdict if verdict.settled else None
    match turn:
        case Idle(after=after):
            return None if seen.idle_s < LASTS else _find_idle_outcome(verdict, after, seen, wanted)
        case Working() | Waiting() | Limited() | Suspended() | Departed() | Unread():
            return None
        case other:
            return assert_never(other)


def _find_idle_outcome(verdict: Verdict, after: str, seen: MonitorContext, wanted: MonitorOptions) -> Verdict | None:
    """What there is to be said of an agent that has been at its prompt long enough."""
    match after:
        case "turn-failed":
            return verdict._replace(state="failed", final=True)
        case "interrupted":
            return verdict._replace(reason=f"{verdict.reason}: somebody must say how it goes on")
        case "background-work":
            return None
        case "limit-over":
            return verdict._replace(state="waiting", reason=f"{verdict.reason}: tell it to go on")
        case "turn-ended":
            return verdict._replace(state="completed", final=True)
        case _ if seen.worked and seen.idle_s >= UNSAID:
            why = "but nothing tells that its turn has ended: was it interrupted?"
            return verdict._replace(state="waiting", cause="turn-end-unseen", reason=f"{verdict.reason}, {why}")
        case _ if wanted.unbegun_s is not None and seen.idle_s >= wanted.unbegun_s:
            why = f"at its prompt for {format_duration(wanted.unbegun_s)}, and was never seen to begin"
            return verdict._replace(state="incomplete", final=True, cause="never-began", reason=why)
        case _:
            return None


def is_ongoing(said: Verdict, live: Verdict, wanted: MonitorOptions) -> bool:
    """Whether the watch goes on after something that is to be said: it is to end with the work (`--until final`).

    An agent whose work is not there yet is at its prompt, and may be given another.
    """
    return wanted.until == FINAL and (not said.final or (said.state == "incomplete" and not live.final))


def turn_marks(memory: SessionMemory | None) -> tuple[tuple[str, object], ...]:
    """What tells one turn from the next where both ended between two looks: what its own files have grown to.

    The text on its screen counts only where no file tells more: a person who types changes it too.
    """
    moved = memory.moved if memory is not None else {}
    found = {name: each.value for name, each in moved.items() if name.startswith("progress ")}
    told = {name: value for name, value in found.items() if name not in SHOWN}
    return tuple(sorted((told or found).items()))


def _is_unseen(verdict: Verdict) -> bool:
    """Whether nobody here can see its processes: it runs on another machine or in another container."""
    return verdict.state == "unknown" and verdict.process == "unknown" and not verdict.turn


def is_vague(verdict: Verdict) -> bool:
    """Whether it waits, and nothing tells for what: a dialog that is not drawn yet, or a menu that may be a limit's."""
    if verdict.state != "waiting" or verdict.turn != "waiting":
        return False
    return not verdict.detail or (verdict.detail == "menu" and not _is_shown(verdict))


def _is_shown(verdict: Verdict) -> bool:
    return any(piece.source == "screen" for piece in verdict.evidence)


def is_limit_planned(verdict: Verdict, *, waits: bool) -> bool:
    """Whether work continues after its limit: the monitor waits for that, or the agent continues by itself."""
    return isinstance(verdict.turn_state, Limited) and (waits or verdict.turn_state.continues)


def is_verifiable(said: Verdict) -> bool:
    """Whether the verifier has a word in it: a turn has ended, or all is over and nobody knows how."""
    return said.state == "completed" or is_out_of_sight(said)


def apply_verification(said: Verdict, found: VerificationResult | None) -> Verdict:
    """What the end of a turn is worth. The verifier says so; ``found`` is None where there is none."""
    if is_out_of_sight(said):
        return _apply_result(said, found)._replace(state="completed") if found and found.done else said
    if found is None:
        return said._replace(reason=f"{said.reason}; nothing to verify against")
    if found.done:
        return _apply_result(said, found)
    reason = f"{said.reason}, but the work is not there: {found.reason}"
    return said._replace(state="incomplete", final=True, cause="not-verified", reason=reason)


def _apply_result(said: Verdict, found: VerificationResult) -> Verdict:
    return said._replace(cause="verified", reason=f"{said.reason}; verified: {found.reason}")


def abandoned_verdict(verdict: Verdict, cause: Cause, why: str) -> Verdict:
    """The watch ends before the work does, which is left as it is."""
    return verdict._replace(
        state="abandoned",
        final=True,
        cause=cause,
        settled=True,
        reason=f"{why}; it was left as it is ({verdict.state}: {verdict.reason})",
    )


def format_timeout(wanted: MonitorOptions) -> str:
    return f"the monitor's time was up ({format_duration(wanted.deadline_s)})"
