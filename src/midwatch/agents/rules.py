"""One turn out of what every source says of it.

Sources are ranked, but a source rules only over what it can express: a dialog or a limit that a lower source sees
refines a higher source's `working` or `idle`. Hooks and transcripts tell what happened at a moment; a state file, a
server, a title and a screen show what is. A condition that began clearly after an event outweighs it, because agents
call no hook and write no line in just the cases that matter (Esc before the first word, a killed daemon).

Two things are never believed: that a turn which an event opened has ended well because an older turn's last line is on
the screen, and that it is at rest only because no sign of work is shown. The first was interrupted; the second is
unknown.
"""

from __future__ import annotations

from midwatch.agents.turn_model import Presence, SourceReading
from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.pane_model import REPORTS
from midwatch.core.value import Value

EVENTS = ("hook", "transcript")
SHOWN = ("title", "screen")
OWN = (REPORTS, "state", "api")
SUPERSEDED_AFTER = 2.0
"""Seconds by which a condition must be younger than an event, or have lasted since, to outweigh it."""
OLD = 3.0
"""An event of that age says little against a condition whose beginning nobody saw."""
REFINE = {"limited": 2, "waiting": 1}
AT_START = ("trust", "login", "startup-dialog")
"""What an agent asks before it can be given anything."""
LIMIT_FORGOTTEN = 86400.0
"""Seconds after which a limit that names no end is over, unless it was told again."""
Since = dict[str, float]
"""For each source, from when on it has said this, in wall-clock seconds; empty where nobody watched."""


class Turn(Value):
    turn: str
    """One of TURNS, or `unknown`."""
    detail: str
    rule: str
    source: str
    until: ForeignText = NOTHING
    text: ForeignText = NOTHING
    """What the agent itself says of it."""
    ends: float | None = None
    """When a limit ends, on the wall clock."""
    agree: tuple[SourceReading, ...] = ()
    against: tuple[SourceReading, ...] = ()
    """What the sources say that agree, and what others say differently."""


def fuse_sources(
    said: tuple[SourceReading, ...], there: Presence, since: Since | None = None, wall: float = 0.0
) -> Turn:
    """The turn. ``since`` tells for each source from when on it has said this, in wall-clock seconds."""
    since = since or {}
    if there.state == "gone":
        return _with_agreement(Turn("exited", "", "process-gone", "process"), said, said)
    if there.state == "suspended":
        return _with_agreement(Turn("exited", "suspended", "process-suspended", "process"), said, said)
    said = tuple(each for each in said if each.turn != "exited" or there.state == "unseen")
    over = [each for each in said if each.turn == "limited" and _is_over(each, since, wall)]
    heard = tuple(each._replace(turn="idle", detail="limit-over") if each in over else each for each in said)
    if not heard:
        return Turn("unknown", "", "nothing-said", "process")
    base = _refine(_strongest_source(heard, since, wall), heard, since)
    if base.turn == "working" and (rest := _seems_at_rest(base, heard, since, wall)) is not None:
        return _with_agreement(Turn("unknown", "", f"{rest.rule} (but a turn is open)", rest.source), said, heard)
    detail = _combined_detail(base, heard, since, wall)
    until = base.until or next((each.until for each in said if each.turn == base.turn and each.until), NOTHING)
    alike = [each.text for each in said if (each.turn, each.detail) == (base.turn, detail) and each.text]
    ends = base.ends or next((each.ends for each in said if each.turn == base.turn and each.ends), None)
    text = next(iter(alike), NOTHING)
    return _with_agreement(Turn(base.turn, detail, base.rule, base.source, until, text, ends), said, heard)


def _with_agreement(turn: Turn, said: tuple[SourceReading, ...], heard: tuple[SourceReading, ...]) -> Turn:
    """The turn with who agrees and who does not. ``heard``: what was said, as it is understood now."""
    pairs = list(zip(said, heard, strict=True))
    return turn._replace(
        agree=tuple(each for each, now in pairs if now.turn == turn.turn),
        against=tuple(each for each, now in pairs if now.turn != turn.turn),
    )


def _strongest_source(said: tuple[SourceReading, ...], since: Since, wall: float) -> SourceReading:
    """The highest source that nothing outweighs."""
    for rank, each in enumerate(said):
        at_work = next((low for low in said[rank + 1 :] if (low.source, low.turn) == ("screen", "working")), None)
        if each.source == REPORTS and any(_overtakes(low, each) for low in said[rank + 1 :]):
            continue
        if each.source not in EVENTS:
            if at_work is not None and (each.source, each.turn) == ("title", "idle"):
                return at_work  # a title may be stale or plain; a status line that runs is there to be seen
            if at_work is not None and _may_be_between_turns(each, wall):
                return at_work
            return each
        if at_work is not None and each.detail == "background-work":
            return at_work  # the turn waits for sub-agents, or they have begun the next one
        if not any(_outweighs(low, each, since, wall) for low in said[rank + 1 :]):
            return each
    return said[-1]


def _overtakes(low: SourceReading, report: SourceReading) -> bool:
    """Whether a lower source tells of something clearly later than the agent's last report, which must have been lost.

    What it is asked stays open whatever else it writes down: tools run side by side. Only what shows the present tells
    that it was answered.
    """
    later = low.at is not None and report.at is not None and low.at > report.at + OLD
    return (
        later and low.turn != report.turn and (low.source in OWN or (low.source in EVENTS and not _is_question(report)))
    )


def _may_be_between_turns(own: SourceReading, wall: float) -> bool:
    """Whether an agent's own word that it is at rest is so new that it may be meant for the blink between two turns.

    Claude Code writes `idle` when a sub-agent is back, and `busy` as soon as it has gone on with what that brought. A
    screen that still shows work after a true end is drawn anew at once.
    """
    return own.source in OWN and own.turn == "idle" and own.at is not None and wall < own.at + SUPERSEDED_AFTER


def _is_question(report: SourceReading) -> bool:
    return report.turn == "waiting"


def _outweighs(low: SourceReading, event: SourceReading, since: Since, wall: float) -> bool:
    """Whether a lower source knows better than an event: because it tells of a later one, or shows what came after."""
    if low.turn == event.turn or event.at is None:
        return False
    if low.source in EVENTS:
        return low.at is not None and low.at > event.at
    if low.turn == "idle" and event.turn == "working" and (event.firm or _is_absence(low)):
        return False
    if low.source not in since:
        return wall > event.at + OLD
    # No hook tells that a permission was given: what began after the question, however soon, is the answer to it. Nor
    # does any tell of every failure: what began right after the prompt and has lasted is its end.
    began = since[low.source]
    settled = event.turn == "waiting" or began > event.at + SUPERSEDED_AFTER or wall > began + SUPERSEDED_AFTER
    return began > event.at and settled


def _refine(base: SourceReading, said: tuple[SourceReading, ...], since: Since) -> SourceReading:
    """The same, or the dialog or limit that a lower source tells of and a higher one cannot express."""
    ended_well = any(each.source in (REPORTS, *EVENTS) and each.detail == "turn-ended" for each in said)
    for each in said[said.index(base) + 1 :]:
        if each.turn == "limited" and each.source == "screen" and ended_well:
            continue  # an answer that only reads like a limit: a real one fails the turn
        if each.detail == "menu" and base.turn == "working" and base.source in OWN:
            continue  # a person has opened it over the work, which goes on behind it
        if REFINE.get(each.turn, 0) > REFINE.get(base.turn, 0) and not _is_superseded(each, base, since):
            base = each
    return base


def _is_superseded(low: SourceReading, high: SourceReading, since: Since) -> bool:
    """Whether the higher source has spoken since the lower one began to say this. Rest does not end a limit."""
    if high.at is None:
        return False
    if low.turn == "limited" and high.turn != "working" and high.detail != "turn-ended":
        return False
    if low.source in EVENTS:
        return low.at is not None and high.at > low.at
    return low.source in since and high.at > since[low.source] + SUPERSEDED_AFTER


def _is_over(limit: SourceReading, since: Since, wall: float) -> bool:
    """Whether a limit has ended. What shows that it will continue by itself is still waiting for that."""
    if limit.detail == "continues":
        return False
    if limit.ends is not None:
        return wall >= limit.ends
    told = limit.at if limit.at is not None else since.get(limit.source, wall)
    return wall >= told + LIMIT_FORGOTTEN


# A turn that is open ---------------------------------------------------------------------------------------------


def _is_absence(low: SourceReading) -> bool:
    """Whether a source says `idle` only because it shows no sign of work."""
    return low.source in SHOWN and low.turn == "idle" and not low.detail


def _seems_at_rest(
    base: SourceReading, said: tuple[SourceReading, ...], since: Since, wall: float
) -> SourceReading | None:
    """What shows no sign of work although an event has opened a turn; None while that may pass or a tool is open."""
    if base.source not in EVENTS or base.firm or base.detail == "tool" or base.at is None:
        return None
    shown = [each for each in said[said.index(base) + 1 :] if each.source in SHOWN]
    if not shown or not all(_is_absence(each) for each in shown):
        return None
    began = max([base.at, *(since.get(each.source, base.at) for each in shown)])
    return shown[0] if wall >= began + OLD else None


def _combined_detail(base: SourceReading, said: tuple[SourceReading, ...], since: Since, wall: float) -> str:
    """For what it waits, after what it is idle: by whoever agrees and knows it."""
    detail = base.detail or next((each.detail for each in said if each.turn == base.turn and each.detail), "")
    if base.source == REPORTS and base.turn == "waiting":  # OSC 7501 has no word for these questions
        shown = (each.detail for each in said if (each.source, each.turn) == ("screen", "waiting"))
        detail = next((word for word in shown if word in AT_START), detail)
    if base.turn == "idle" and detail == "turn-failed" and any(each.detail == "limit-over" for each in said):
        return "limit-over"
    if base.source == REPORTS and detail == "turn-ended" and any(each.detail == "background-work" for each in said):
        return "background-work"  # which it does not report
    events = [each for each in said if each.source in EVENTS and each.at is not None]
    if base.turn != "idle" or base in events or not events or detail not in ("", "turn-ended"):
        return detail
    latest = max(events, key=lambda each: each.at or 0.0)
    if latest.turn != "working":
        return detail
    # The newest turn has begun, and no event tells of its end: it was cut off. A closing line is an older turn's.
    assert latest.at is not None
    began = max(latest.at, base.at or since.get(base.source, latest.at))
    return "interrupted" if wall >= began + SUPERSEDED_AFTER else ""
