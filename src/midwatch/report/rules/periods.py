"""Events of one subject as periods that fill a span: what it did in every moment, as far as that was observed.

A shim watches its job from start to end. What an agent does in its session only a monitor sees; its notes hold until
its next one, if that comes in time. All else is `not observed`.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby, islice

from midwatch.core.value import Value
from midwatch.report.model import (
    ABSENT,
    IDLE,
    LIMITED,
    STUCK,
    UNOBSERVED,
    WAITING,
    WORKING,
    Occurrence,
    Period,
    PresentState,
    Span,
)

CONFIRMED = 420.0
"""Seconds within which a monitor notes something again, if it watches on; after a longer silence it was gone."""
STATES = {
    "starting": WORKING, "working": WORKING, "waiting": WAITING, "limited": LIMITED, "idle": IDLE, "stuck": STUCK,
    "completed": IDLE, "failed": IDLE, "incomplete": IDLE,
}  # fmt: skip
"""What a monitor's word means for the time that follows; final ones of a turn, while the session is there."""
BY_SHIM = {
    "started": WORKING, "stuck": STUCK, "moved": WORKING, "suspended": WAITING, "continued": WORKING, "attempt": IDLE,
    "retrying": IDLE,
}  # fmt: skip


class StateChange(Value):
    at: float
    state: str


Timeline = list[StateChange]
"""Changes in order; before the first one there was nothing."""


def subject_periods(
    occurrences: list[Occurrence], present: PresentState | None, span: Span, now: float
) -> tuple[Period, ...]:
    """What one subject did. Its runs follow each other, in whatever order their events come."""
    runs: dict[str, list[Occurrence]] = {}
    for each in occurrences:
        runs.setdefault(each.run, []).append(each)
    if present is not None and present.run:
        runs.setdefault(present.run, [])
    timed = [(events, present if present and present.run == run else None) for run, events in runs.items()]
    lines = [line for events, there in timed if (line := _run_timeline(_in_order(events), there, now))]
    lines.sort(key=lambda line: (line[0].at, line))
    changes: Timeline = []
    ends = [*[line[0].at for line in lines[1:]], float("inf")]
    for line, end in zip(lines, ends, strict=False):  # without a run there is one end too many
        changes += [change for change in line if change.at < end]
    return fill_span(changes, span)


def fill_span(changes: Timeline, span: Span) -> tuple[Period, ...]:
    """Periods that follow each other without a gap, from the begin of the span to its end."""
    found: list[Period] = []
    inside = [StateChange(span.begin, _state_at(changes, span.begin))]
    inside += [change for change in changes if span.begin < change.at < span.end]
    moments = [*[change.at for change in inside[1:]], span.end]
    lasting = [(change, end) for change, end in zip(inside, moments, strict=True) if end > change.at]
    for state, group in groupby(lasting, key=lambda pair: pair[0].state):
        pairs = list(group)
        found.append(Period(state, pairs[0][0].at, pairs[-1][1]))
    return tuple(found)


def _in_order(events: list[Occurrence]) -> list[Occurrence]:
    """The events of one run as they stand in the journal; a clock that was set back does not turn them around."""
    found, latest = [], 0.0
    for each in events:
        latest = max(latest, each.at)
        found.append(each._replace(at=latest))
    return found


def _run_timeline(events: list[Occurrence], present: PresentState | None, now: float) -> Timeline:
    changes = _shim_changes(events, present, now)
    for layer in (_monitor_periods(events, present, now), _lost_periods(events)):
        changes = _paint(changes, layer)
    return changes


def _shim_changes(events: list[Occurrence], present: PresentState | None, now: float) -> Timeline:
    """What the shim alone tells: of a session no more than that it is there."""
    changes: Timeline = []
    session = present.session if present else any(each.session for each in events)
    if present is not None and present.began is not None and not any(each.event == "started" for each in events):
        changes.append(StateChange(min([present.began, *[each.at for each in events]]), _base(WORKING, session)))
    for each in events:
        if each.event == "ended":
            changes.append(StateChange(each.at, ABSENT))
        elif each.event in BY_SHIM and (each.event != "moved" or (changes and changes[-1].state == STUCK)):
            changes.append(StateChange(each.at, _base(BY_SHIM[each.event], session)))
    if not changes and events:  # its start is not in the journal
        changes.append(StateChange(events[0].at, UNOBSERVED))
    if changes and changes[-1].state != ABSENT:
        changes += _end_of_sight(changes[-1].at, events, present, now)
    return changes


def _base(state: str, session: bool) -> str:
    return UNOBSERVED if session and state in (WORKING, STUCK) else state


def _end_of_sight(last: float, events: list[Occurrence], present: PresentState | None, now: float) -> Timeline:
    """From when on nobody can tell of a run whose end no shim has noted."""
    if present is None:
        heard = max([last, *[each.at for each in events]])
        return [StateChange(heard, UNOBSERVED), StateChange(now, ABSENT)]
    if present.seen_until is None:
        return [StateChange(max(last, now), ABSENT)]
    seen = max(last, present.seen_until)
    return [StateChange(seen, ABSENT if present.verdict.final else UNOBSERVED), StateChange(max(seen, now), ABSENT)]


def _monitor_periods(events: list[Occurrence], present: PresentState | None, now: float) -> list[Period]:
    """What monitors saw: each note holds until the next thing that the same monitor noted, or the end of the run."""
    found: list[Period] = []
    for index, each in enumerate(events):
        if each.event != "observed" or each.state not in STATES:
            continue
        following = events[index + 1] if index + 1 < len(events) else None
        again = next((event.at for event in islice(events, index + 1, None) if event.monitor == each.monitor), None)
        if again is None and present is not None and present.monitor == each.monitor != "":
            again = now
        until = following.at if following else again
        if again is not None and until is not None and again <= each.at + CONFIRMED and each.at < until:
            found.append(Period(STATES[each.state], each.at, until))
    return found


def _lost_periods(events: list[Occurrence]) -> list[Period]:
    """Time in which the machine slept, or the shim was stopped."""
    found: list[Period] = []
    for each in events:
        if each.event == "lost" and each.seconds > 0:
            begin = max(each.at - each.seconds, found[-1].end if found else events[0].at)
            if begin < each.at:
                found.append(Period(UNOBSERVED, begin, each.at))
    return found


def _paint(changes: Timeline, over: list[Period]) -> Timeline:
    """The same changes with periods laid over them, which are in order and do not overlap."""
    if not over or not changes:
        return changes
    moments = sorted({*[each.at for each in changes], *[each.begin for each in over], *[each.end for each in over]})
    begins = [each.begin for each in over]
    found: Timeline = []
    for at in moments:
        place = bisect_right(begins, at) - 1
        covered = place >= 0 and at < over[place].end
        state = over[place].state if covered else _state_at(changes, at)
        if not found or found[-1].state != state:
            found.append(StateChange(at, state))
    return found


def _state_at(changes: Timeline, at: float) -> str:
    place = bisect_right(changes, at, key=lambda change: change.at) - 1
    return changes[place].state if place >= 0 else ABSENT
