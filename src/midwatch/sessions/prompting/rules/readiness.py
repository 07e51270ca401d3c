"""May we type into an agent's pane now?

Only where its prompt is confirmed and nobody else types. A dialog would take the first letters for an answer, a turn
under way would be steered or get a queue, and what a person has begun to write would be sent with ours behind it.
"""

from __future__ import annotations

from midwatch.core.text import in_words
from midwatch.core.verdict import Verdict
from midwatch.sessions.prompting.model import DRAFT, UNSEEN, InputBox, PromptOutcome, Refusal
from midwatch.tmux.codec.guarded_input import PaneSnapshot

HANDS_OFF = 30.0
"""Seconds after a person's last key in a pane, in which it is that person's."""
FIRST_HAND = ("state", "api", "hook", "transcript")
"""Sources that know of a turn themselves. Screens are redrawn in steps: what only they show must be seen twice."""

SETTLED = 1.0
"""Seconds that a reason must last before we give up for it: half a screen may look like anything."""
CERTAIN = (PromptOutcome.PERSON, PromptOutcome.REFUSED, PromptOutcome.UNKNOWN)
"""Reasons that no screen tells."""


def refusal(
    verdict: Verdict, *, front: bool, glimpse: PaneSnapshot, box: InputBox, pane: str, wall: float,
    past_limit: bool = False, alone: bool = False,
) -> Refusal | None:  # fmt: skip
    """Why not; None when we may.

    ``front`` tells whether the agent is in its terminal's foreground, ``past_limit`` that the limit is over which it
    may still show: its words stay on the screen. ``alone``: not while a person is there, though their hands rest.
    """
    return (
        _of_turn(verdict, "idle" if past_limit and verdict.turn == "limited" else verdict.turn)
        or _of_pane(glimpse)
        or (None if front else Refusal(PromptOutcome.PERSON, "something else is in the foreground of its terminal"))
        or _of_person(glimpse, pane, wall)
        or (
            Refusal(PromptOutcome.PERSON, "a person is in that pane") if alone and is_somebodys(glimpse, pane) else None
        )
        or _of_box(box)
    )


def is_somebodys(glimpse: PaneSnapshot, pane: str) -> bool:
    """Whether a person is in that pane: it is the one that their keys go to. A program that looks on is nobody."""
    return any(client.pane == pane and not client.control for client in glimpse.clients)


def in_the_way(glimpse: PaneSnapshot, pane: str, wall: float) -> Refusal | None:
    """Why no key may be pressed in a pane, whatever runs there: those reasons that have nothing to do with an agent."""
    return _of_pane(glimpse) or _of_person(glimpse, pane, wall)


def is_told(why: Refusal, lasted: float, *, over: bool) -> bool:
    """Whether to give up for that reason, which has held for so long; ``over``: nobody has time to wait any longer."""
    if why.outcome in PromptOutcome.PASSING and not over:
        return False
    return lasted >= SETTLED or (over and why.outcome in CERTAIN)


def is_sure(verdict: Verdict) -> bool:
    """Whether one look is enough to believe what it does."""
    return any(piece.source in FIRST_HAND for piece in verdict.evidence)


def _of_turn(verdict: Verdict, turn: str) -> Refusal | None:
    match turn:
        case "idle":
            shown = any(piece.source == "screen" for piece in verdict.evidence)
            return None if shown else Refusal(PromptOutcome.STARTING, "its screen does not show it at its prompt")
        case "working":
            why = f"it is at work ({verdict.reason}), and nothing is queued; try again when its turn has ended"
            return Refusal(PromptOutcome.WORKING, why)
        case "waiting":
            return Refusal(PromptOutcome.WAITING, verdict.reason, verdict.detail)
        case "limited":
            return Refusal(PromptOutcome.LIMITED, verdict.reason)
        case "exited":
            return Refusal(
                PromptOutcome.WAITING if verdict.detail == "suspended" else PromptOutcome.EXITED,
                verdict.reason,
                verdict.detail,
            )
        case _:
            return Refusal(PromptOutcome.STARTING, verdict.reason)


def _of_pane(glimpse: PaneSnapshot) -> Refusal | None:
    if glimpse.dead:
        return Refusal(PromptOutcome.EXITED, "the pane's process has ended")
    if glimpse.mode:
        return Refusal(
            PromptOutcome.PERSON,
            "the pane is in a mode of tmux (copy mode, say), which would take the keys; press q there",
        )
    if glimpse.deaf:
        return Refusal(PromptOutcome.REFUSED, "input to the pane is switched off; `tmux select-pane -e` switches it on")
    if glimpse.together:
        return Refusal(
            PromptOutcome.REFUSED, "what is typed in the pane goes to others, too; set synchronize-panes to off first"
        )
    return None


def last_key(glimpse: PaneSnapshot, pane: str) -> int:
    """When a person last pressed a key in a pane, in whole seconds of the wall clock."""
    there = [each for each in glimpse.clients if each.pane == pane and not each.control and not each.readonly]
    return max([client.active for client in there], default=0)


def _of_person(glimpse: PaneSnapshot, pane: str, wall: float) -> Refusal | None:
    since = wall - last_key(glimpse, pane)
    if since >= HANDS_OFF:
        return None
    ago, rest = in_words(max(0.0, float(int(since)))), in_words(HANDS_OFF)
    return Refusal(
        PromptOutcome.PERSON, f"somebody is typing there (the last key {ago} ago); try again {rest} after the last one"
    )


def _of_box(box: InputBox) -> Refusal | None:
    if box.state == UNSEEN:
        return Refusal(PromptOutcome.STARTING, "its input box is not on the screen, or is one that we do not know")
    if box.state == DRAFT:
        words = f"a draft stands in its box: {_short(box.text)}" if box.text else "something stands in its box"
        return Refusal(PromptOutcome.DRAFT, f"{words}; send it or clear it first")
    return None


def _short(text: str) -> str:
    line = " ".join("".join([c for c in text if c.isprintable() or c.isspace()]).split())
    return repr(line if len(line) <= 40 else f"{line[:39]}…")  # noqa: PLR2004
