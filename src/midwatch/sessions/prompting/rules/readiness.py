"""May we type into an agent's pane now?

Only where its prompt is confirmed and nobody else types. A dialog would take the first letters for an answer, a turn
under way would be steered or get a queue, and what a person has begun to write would be sent with ours behind it.
"""

from __future__ import annotations

from midwatch.core.exhaustive import assert_never
from midwatch.core.text import format_duration
from midwatch.core.turn_state import (
    Departed,
    Idle,
    Limited,
    Suspended,
    TurnState,
    Unread,
    Waiting,
    Working,
)
from midwatch.core.verdict import Verdict
from midwatch.sessions.prompting.model import DRAFT, UNSEEN, InputBox, PromptOutcome, PromptRefusal
from midwatch.tmux.codec.guarded_input import PaneSnapshot

HANDS_OFF = 30.0
"""Seconds after a person's last key in a pane, in which it is that person's."""
FIRST_HAND = ("state", "api", "hook", "transcript")
"""Sources that know of a turn themselves. Screens are redrawn in steps: what only they show must be seen twice."""

SETTLED = 1.0
"""Seconds that a reason must last before we give up for it: half a screen may look like anything."""
CERTAIN = (PromptOutcome.PERSON, PromptOutcome.REFUSED, PromptOutcome.UNKNOWN)
"""Reasons that no screen tells."""


def find_refusal(
    verdict: Verdict, *, front: bool, snapshot: PaneSnapshot, box: InputBox, pane: str, wall: float,
    past_limit: bool = False, alone: bool = False,
) -> PromptRefusal | None:  # fmt: skip
    """Why not; None when we may.

    ``front`` tells whether the agent is in its terminal's foreground, ``past_limit`` that the limit is over which it
    may still show: its words stay on the screen. ``alone``: not while a person is there, though their hands rest.
    """
    return (
        _turn_refusal(verdict, Idle() if past_limit and isinstance(verdict.turn_state, Limited) else verdict.turn_state)
        or _pane_refusal(snapshot)
        or (
            None
            if front
            else PromptRefusal(PromptOutcome.PERSON, "something else is in the foreground of its terminal")
        )
        or _person_refusal(snapshot, pane, wall)
        or (
            PromptRefusal(PromptOutcome.PERSON, "a person is in that pane")
            if alone and has_person(snapshot, pane)
            else None
        )
        or _box_refusal(box)
    )


def has_person(snapshot: PaneSnapshot, pane: str) -> bool:
    """Whether a person is in that pane: it is the one that their keys go to. A program that looks on is nobody."""
    return any(client.pane == pane and not client.control for client in snapshot.clients)


def find_key_refusal(snapshot: PaneSnapshot, pane: str, wall: float) -> PromptRefusal | None:
    """Why no key may be pressed in a pane, whatever runs there: those reasons that have nothing to do with an agent."""
    return _pane_refusal(snapshot) or _person_refusal(snapshot, pane, wall)


def is_final_refusal(why: PromptRefusal, lasted: float, *, over: bool) -> bool:
    """Whether to give up for that reason, which has held for so long; ``over``: nobody has time to wait any longer."""
    if why.outcome in PromptOutcome.PASSING and not over:
        return False
    return lasted >= SETTLED or (over and why.outcome in CERTAIN)


def is_sure(verdict: Verdict) -> bool:
    """Whether one look is enough to believe what it does."""
    return any(piece.source in FIRST_HAND for piece in verdict.evidence)


def _turn_refusal(verdict: Verdict, turn: TurnState) -> PromptRefusal | None:
    match turn:
        case Idle():
            shown = any(piece.source == "screen" for piece in verdict.evidence)
            return None if shown else PromptRefusal(PromptOutcome.STARTING, "its screen does not show it at its prompt")
        case Working():
            why = f"it is at work ({verdict.reason}), and nothing is queued; try again when its turn has ended"
            return PromptRefusal(PromptOutcome.WORKING, why)
        case Waiting(reason=wanted):
            return PromptRefusal(PromptOutcome.WAITING, verdict.reason, wanted)
        case Limited():
            return PromptRefusal(PromptOutcome.LIMITED, verdict.reason)
        case Suspended():
            return PromptRefusal(PromptOutcome.WAITING, verdict.reason, "suspended")
        case Departed(after=after):
            return PromptRefusal(PromptOutcome.EXITED, verdict.reason, after)
        case Unread():
            return PromptRefusal(PromptOutcome.STARTING, verdict.reason)
        case other:
            return assert_never(other)


def _pane_refusal(snapshot: PaneSnapshot) -> PromptRefusal | None:
    if snapshot.dead:
        return PromptRefusal(PromptOutcome.EXITED, "the pane's process has ended")
    if snapshot.mode:
        return PromptRefusal(
            PromptOutcome.PERSON,
            "the pane is in a mode of tmux (copy mode, say), which would take the keys; press q there",
        )
    if snapshot.deaf:
        return PromptRefusal(
            PromptOutcome.REFUSED, "input to the pane is switched off; `tmux select-pane -e` switches it on"
        )
    if snapshot.together:
        return PromptRefusal(
            PromptOutcome.REFUSED, "what is typed in the pane goes to others, too; set synchronize-panes to off first"
        )
    return None


def last_key_time(snapshot: PaneSnapshot, pane: str) -> int:
    """When a person last pressed a key in a pane, in whole seconds of the wall clock."""
    there = [each for each in snapshot.clients if each.pane == pane and not each.control and not each.readonly]
    return max([client.active for client in there], default=0)


def _person_refusal(snapshot: PaneSnapshot, pane: str, wall: float) -> PromptRefusal | None:
    since = wall - last_key_time(snapshot, pane)
    if since >= HANDS_OFF:
        return None
    ago, rest = format_duration(max(0.0, float(int(since)))), format_duration(HANDS_OFF)
    return PromptRefusal(
        PromptOutcome.PERSON, f"somebody is typing there (the last key {ago} ago); try again {rest} after the last one"
    )


def _box_refusal(box: InputBox) -> PromptRefusal | None:
    if box.state == UNSEEN:
        return PromptRefusal(
            PromptOutcome.STARTING, "its input box is not on the screen, or is one that we do not know"
        )
    if box.state == DRAFT:
        words = f"a draft stands in its box: {_shorten(box.text)}" if box.text else "something stands in its box"
        return PromptRefusal(PromptOutcome.DRAFT, f"{words}; send it or clear it first")
    return None


def _shorten(text: str) -> str:
    line = " ".join("".join([c for c in text if c.isprintable() or c.isspace()]).split())
    return repr(line if len(line) <= 40 else f"{line[:39]}…")  # noqa: PLR2004
