"""The moment at which a limit ends, reckoned once for all wordings of it."""

from __future__ import annotations

from datetime import UTC, datetime

from midwatch.agents.turn_model import Presence, SessionFacts, SessionMemory, SourceReading
from midwatch.core.foreign_text import ForeignText
from midwatch.core.policy import PATIENT
from midwatch.sessions import limit_tracker
from midwatch.sessions.rules import verdict as session_verdict

TOLD = datetime(2026, 11, 18, 5, 16, 10, tzinfo=UTC).timestamp()
ENDS = datetime(2026, 11, 18, 5, 17, 0, tzinfo=UTC).timestamp() + limit_tracker.MARGIN
DAY = 86400


def look(said: SourceReading, wall: float, memory: SessionMemory | None = None) -> SessionFacts:
    facts = SessionFacts("api", "Claude Code", wall, wall, (said,), Presence("alive", ""), {}, {})
    return limit_tracker.date_limits(facts, memory)


def ends(words: str, wall: float, memory: SessionMemory | None = None) -> float | None:
    return (
        look(SourceReading("screen", "limited", "plan", "limit", until=ForeignText(words)), wall, memory).said[0].ends
    )


def remembered(words: str) -> SessionMemory:
    return SessionMemory("limited", "plan", 0.0, None, {}, {}, (0.0, 0.0, 0.0, 0.0), None, limit=(words, ENDS))


def test_it_is_the_next_time_of_day_with_all_its_seconds() -> None:
    assert ends("5:16am (UTC)", TOLD) == ENDS
    assert ends("5:16am (UTC)", TOLD + 600) == ENDS + DAY


def test_another_wording_of_a_known_limit_does_not_mean_the_next_day() -> None:
    """A report says `5:16am (UTC)` and the screen `5:16am`, a moment after that minute has passed."""
    known = remembered("5:16am (UTC), as it said")
    assert ends("5:16am (UTC)", TOLD + 65, known) == ENDS
    assert ends("5:16am (UTC)", TOLD + 600, known) == ENDS
    assert ends("9am (UTC)", TOLD + 65, known) != ENDS


def test_the_same_words_on_the_next_day_are_another_limit() -> None:
    limit = SourceReading("screen", "limited", "plan", "limit", until=ForeignText("5:16am (UTC)"))
    _, memory = session_verdict.judge(look(limit, TOLD), None, PATIENT)
    assert memory.limit == ("5:16am (UTC)", ENDS)
    _, memory = session_verdict.judge(
        look(SourceReading("state", "working", "", "busy"), ENDS + 60, memory), memory, PATIENT
    )
    assert ends("5:16am (UTC)", TOLD + DAY - 3600, memory) == ENDS + DAY
