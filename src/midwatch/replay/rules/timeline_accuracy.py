"""A timeline's verdicts beside its truth: how long each was wrong, how late each change was seen, what flickered."""

from __future__ import annotations

from itertools import pairwise

from midwatch.core.value import Value


class TimelineStretch(Value):
    """A time in which one turn was true, and one was said."""

    start: float
    end: float
    truth: str
    read: str


class TrueChange(Value):
    """A true change, and how many seconds later the verdict followed; None where it never did."""

    at: float
    truth: str
    late: float | None


Said = list[tuple[float, str]]
"""Moments and what holds from then on, in order. A truth that nobody knows is empty, and held against nobody."""


def find_stretches(truths: Said, said: Said, end: float) -> list[TimelineStretch]:
    """Truth and verdict laid beside each other, cut wherever either changes."""
    cuts = sorted({at for at, _ in truths} | {at for at, _ in said} | {end})
    found: list[TimelineStretch] = []
    for start, stop in pairwise(cuts):
        truth, read = _turn_at(truths, start), _turn_at(said, start)
        if not truth or read is None or start >= end:
            continue
        if found and (found[-1].truth, found[-1].read, found[-1].end) == (truth, read, start):
            found[-1] = found[-1]._replace(end=stop)
        else:
            found.append(TimelineStretch(start, stop, truth, read))
    return found


def find_changes(truths: Said, said: Said, end: float) -> list[TrueChange]:
    """How late the verdict followed each true change."""
    found: list[TrueChange] = []
    for number, (at, truth) in enumerate(truths):
        stop = truths[number + 1][0] if number + 1 < len(truths) else end
        if not truth or (number and truths[number - 1][1] == truth):
            continue
        late = (
            0.0
            if _turn_at(said, at) == truth
            else next((t - at for t, read in said if at <= t < stop and read == truth), None)
        )
        found.append(TrueChange(at, truth, late))
    return found


def find_flickers(truths: Said, said: Said, shortest: float, grace: float) -> list[tuple[float, float, str]]:
    """States said for less than `shortest` seconds that were not true while they were said, nor just before."""
    found: list[tuple[float, float, str]] = []
    for (at, read), (until, _) in pairwise(said):
        true = {truth for start, truth in truths if at - grace <= start <= until} | {_turn_at(truths, at - grace)}
        if until - at < shortest and read not in true and "" not in true:
            found.append((at, until, read))
    return found


def _turn_at(said: Said, moment: float) -> str | None:
    found = None
    for at, word in said:
        if at > moment:
            break
        found = word
    return found
