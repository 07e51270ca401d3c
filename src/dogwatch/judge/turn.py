"""One turn out of what every source says of it.

Sources are ranked, but a source rules only over what it can express: a dialog or a limit that a lower source sees
refines a higher source's `working` or `idle`. Hooks and transcripts tell what happened at a moment; a state file, a
server, a title and a screen show what is. A condition that began clearly after an event outweighs it, because agents
call no hook and write no line in just the cases that matter (Esc before the first word, a killed daemon).
"""

from __future__ import annotations

from dogwatch.model.turns import Presence, Said
from dogwatch.model.value import Value

EVENTS = ("hook", "transcript")
SUPERSEDED_AFTER = 2.0
"""Seconds by which a condition must be younger than an event, or have lasted since, to outweigh it."""
OLD = 3.0
"""An event of that age says little against a condition whose beginning nobody saw."""
REFINE = {"limited": 2, "waiting": 1}


class Turn(Value):
    turn: str
    """One of TURNS, or `unknown`."""
    detail: str
    rule: str
    source: str
    until: str = ""
    against: tuple[Said, ...] = ()
    """What other sources say differently."""


def fuse(said: tuple[Said, ...], there: Presence, since: dict[str, float] | None = None, wall: float = 0.0) -> Turn:
    """The turn. ``since`` tells for each source from when on it has said this, in wall-clock seconds."""
    if there.state == "gone":
        return _but(said, Turn("exited", "", "process-gone", "process"))
    if there.state == "suspended":
        return _but(said, Turn("exited", "suspended", "process-suspended", "process"))
    said = tuple(each for each in said if each.turn != "exited" or there.state == "unseen")
    if not said:
        return Turn("unknown", "", "nothing-said", "process")
    base = _strongest(said, since or {}, wall)
    ended_well = any(each.source in EVENTS and each.detail == "turn-ended" for each in said)
    for each in said[said.index(base) + 1 :]:
        if each.turn == "limited" and each.source == "screen" and ended_well:
            continue  # an answer that only reads like a limit: a real one fails the turn
        if REFINE.get(each.turn, 0) > REFINE.get(base.turn, 0) and not _older(each, base, since or {}):
            base = each
    detail = base.detail or next((each.detail for each in said if each.turn == base.turn and each.detail), "")
    until = base.until or next((each.until for each in said if each.turn == base.turn and each.until), "")
    return _but(said, Turn(base.turn, detail, base.rule, base.source, until))


def _but(said: tuple[Said, ...], turn: Turn) -> Turn:
    return turn._replace(against=tuple(each for each in said if each.turn != turn.turn))


def _strongest(said: tuple[Said, ...], since: dict[str, float], wall: float) -> Said:
    """The highest source that nothing outweighs."""
    for rank, each in enumerate(said):
        if each.source not in EVENTS:
            shown = next((low for low in said[rank + 1 :] if low.source == "screen"), None)
            if each.source == "title" and each.turn == "idle" and shown is not None and shown.turn == "working":
                return shown  # a title may be stale or plain; a status line that runs is there to be seen
            return each
        if not any(_outweighs(low, each, since, wall) for low in said[rank + 1 :]):
            return each
    return said[-1]


def _outweighs(low: Said, event: Said, since: dict[str, float], wall: float) -> bool:
    """Whether a lower source knows better than an event: because it tells of a later one, or shows what came after."""
    if low.turn == event.turn or event.at is None:
        return False
    if low.source in EVENTS:
        return low.at is not None and low.at > event.at
    if event.firm and low.turn == "idle":
        return False
    if low.source not in since:
        return wall > event.at + OLD
    # No hook tells that a permission was given: what began after the question, however soon, is the answer to it. Nor
    # does any tell of every failure: what began right after the prompt and has lasted is its end.
    began = since[low.source]
    settled = event.turn == "waiting" or began > event.at + SUPERSEDED_AFTER or wall > began + SUPERSEDED_AFTER
    return began > event.at and settled


def _older(low: Said, high: Said, since: dict[str, float]) -> bool:
    """Whether the higher source has spoken since the lower one began to say this."""
    if high.at is None:
        return False
    if low.source in EVENTS:
        return low.at is not None and high.at > low.at
    return low.source in since and high.at > since[low.source] + SUPERSEDED_AFTER
