"""When limits end, on the wall clock: reckoned once, from the words in which they were told."""

from __future__ import annotations

from datetime import datetime, tzinfo

from midwatch.agents.turn_model import SessionFacts, SessionMemory, SourceReading
from midwatch.sessions.codec import limit_time

MARGIN = 10.0
"""Seconds beyond the moment that was printed: clocks differ, and whoever comes first is turned away again."""
DAY, SAME = 86400.0, 120.0
"""Seconds in a day; and by which two wordings of one moment may differ."""


def date_limits(facts: SessionFacts, memory: SessionMemory | None) -> SessionFacts:
    """The same, with the moment at which each limit ends that is told of.

    The moment is kept with the words: read again later, a time of day would mean that of the next day.
    """
    if not any(each.turn == "limited" and each.until for each in facts.said):
        return facts
    said = tuple(_date_limit(each, facts, memory) for each in facts.said)
    ends = next((each.ends for each in said if each.ends is not None), None)  # sources tell of one limit
    return facts._replace(
        said=tuple(each._replace(ends=ends) if each.turn == "limited" and each.ends is None else each for each in said)
    )


def _date_limit(said: SourceReading, facts: SessionFacts, memory: SessionMemory | None) -> SourceReading:
    if said.turn != "limited" or not said.until:
        return said
    known = memory.limit if memory is not None else None
    if known is not None and known[0] == said.until.raw:
        return said._replace(ends=known[1])
    told = facts.wall if said.at is None else said.at
    end = limit_time.parse_limit_end(said.until.raw, told, _local_zone(), _find_zone)
    if end is None:
        return said
    if known is not None and abs(end + MARGIN - known[1] - DAY) < SAME:
        return said._replace(ends=known[1])  # sources word it differently, and this one's moment has just passed
    return said._replace(ends=end + MARGIN)


def _local_zone() -> tzinfo:
    found = datetime.now().astimezone().tzinfo
    assert found is not None
    return found


def _find_zone(name: str) -> tzinfo | None:
    from zoneinfo import ZoneInfo  # noqa: PLC0415  # few limits name a zone

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        return None
