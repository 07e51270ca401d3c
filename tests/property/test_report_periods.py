"""Whatever the journal holds: the periods of a subject fill the span, and say no more than was observed."""

from __future__ import annotations

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.verdict import Verdict
from midwatch.report.codec.journal_events import READ
from midwatch.report.model import ABSENT, SHOWN, UNOBSERVED, WORKING, Occurrence, PresentState, Span
from midwatch.report.rules import periods

NOW = 100_000.0
moments = st.floats(0.0, NOW, allow_nan=False)
spans = st.tuples(moments, moments).filter(lambda pair: pair[0] < pair[1]).map(lambda pair: Span(*pair))


@st.composite
def runs(draw: st.DrawFn) -> list[Occurrence]:
    """One run, with its events in any order that a journal may hold."""
    run, session = draw(st.sampled_from("abc")), draw(st.booleans())
    monitors = st.sampled_from(["", "m", "n"])
    states = st.sampled_from(["working", "waiting", "limited", "idle", "stuck", "completed", "crashed", "odd", ""])
    events = st.builds(
        Occurrence, st.just("x"), st.just(run), moments, st.sampled_from(READ), states, monitor=monitors,
        seconds=st.floats(0.0, NOW), session=st.just(session),
    )  # fmt: skip
    return draw(st.lists(events, max_size=12))


@st.composite
def presences(draw: st.DrawFn) -> PresentState | None:
    if draw(st.booleans()):
        return None
    final = draw(st.booleans())
    state, process = ("completed", "gone") if final else ("working", "alive")
    verdict = Verdict("x", "job", state, final, "", process, "unknown")  # type: ignore[arg-type]
    return PresentState(
        draw(st.sampled_from(["", "a", "z"])), verdict, began=draw(st.none() | moments), session=draw(st.booleans()),
        seen_until=draw(st.none() | moments), monitor=draw(st.sampled_from(["", "m"])),
    )  # fmt: skip


@given(st.lists(runs(), max_size=4), presences(), spans)
def test_periods_fill_the_span_without_overlap(
    several: list[list[Occurrence]], present: PresentState | None, span: Span
) -> None:
    found = periods.subject_periods([each for run in several for each in run], present, span, NOW)
    assert (found[0].begin, found[-1].end) == (span.begin, span.end)
    assert all(before.end == after.begin for before, after in itertools.pairwise(found))
    assert all(before.state != after.state for before, after in itertools.pairwise(found))
    assert all(each.begin < each.end and each.state in (*SHOWN, ABSENT) for each in found)
    assert math.isclose(sum(each.end - each.begin for each in found), span.seconds)


@given(st.data(), presences(), spans)
def test_it_does_not_matter_how_the_events_of_different_runs_are_mixed(
    data: st.DataObject, present: PresentState | None, span: Span
) -> None:
    several = {run: [each._replace(run=run) for each in data.draw(runs())] for run in "abc"}
    in_turn = [each for run in several.values() for each in run]
    order = data.draw(st.permutations([run for run, events in several.items() for _ in events]))
    left = {run: iter(events) for run, events in several.items()}
    mixed = [next(left[run]) for run in order]
    first, second = (periods.subject_periods(events, present, span, NOW) for events in (in_turn, mixed))
    assert first == second


@given(runs(), spans)
def test_of_a_session_nothing_is_known_that_no_monitor_has_noted(events: list[Occurrence], span: Span) -> None:
    told = ("observed", "suspended", "attempt", "retrying")
    unwatched = [each._replace(monitor="", session=True) for each in events if each.event not in told]
    found = periods.subject_periods(unwatched, None, span, NOW)
    assert {each.state for each in found} <= {UNOBSERVED, ABSENT}


@given(runs(), spans)
def test_what_a_monitor_saw_holds_no_longer_than_it_confirmed(events: list[Occurrence], span: Span) -> None:
    """Of a session that is watched, no stretch of work is longer than what the monitor's own notes bridge."""
    notes = [each._replace(event="observed", state="working", monitor="m", session=True, run="a") for each in events]
    found = periods.subject_periods(notes, None, span, NOW)
    seen: list[float] = []
    for each in notes:
        seen.append(max([each.at, *seen]))
    for period in found:
        if period.state == WORKING:
            inside = [moment for moment in seen if period.begin <= moment <= period.end]
            marks = [period.begin, *inside, period.end]
            assert all(after - before <= periods.CONFIRMED for before, after in itertools.pairwise(marks))
