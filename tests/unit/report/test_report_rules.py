"""What the events of one subject come to."""

from __future__ import annotations

from typing import Any

import pytest

from midwatch.core.foreign_text import ForeignText
from midwatch.report.model import Occurrence, PresentState, Span, SubjectReport
from midwatch.report.rules import periods, report
from tests.unit.report.night import verdict

NOW = 10_000.0
SPAN = Span(0.0, NOW)


def event(at: float, word: str, run: str = "r", **said: Any) -> Occurrence:
    return Occurrence("x", run, at, word, **said)


def states(
    *events: Occurrence, present: PresentState | None = None, span: Span = SPAN
) -> list[tuple[str, float, float]]:
    return [tuple(each) for each in periods.subject_periods(list(events), present, span, NOW)]  # type: ignore[misc]


def told(*events: Occurrence, present: PresentState | None = None, span: Span = SPAN) -> SubjectReport:
    found = report.subject_report("x", "/d", list(events), present, span, NOW)
    assert found is not None
    return found


def live(state: Any = "working", run: str = "r", **said: Any) -> PresentState:
    final = state in ("failed", "completed", "crashed")
    return PresentState(run, verdict("x", state, "so it is", final=final, process="gone" if final else "alive"), **said)


# Jobs ---------------------------------------------------------------------------------------------------------------


def test_a_shim_watches_a_job_from_start_to_end() -> None:
    assert states(event(100, "started"), event(600, "ended", state="completed")) == [
        ("absent", 0, 100), ("working", 100, 600), ("absent", 600, NOW),
    ]  # fmt: skip


def test_a_job_that_was_there_before_and_still_is_worked_all_the_time() -> None:
    assert states(event(-500, "started"), present=live()) == [("working", 0, NOW)]
    assert states(present=live(began=-500.0)) == [("working", 0, NOW)]


def test_a_hang_a_stop_signal_and_a_pause_before_a_retry_are_told_apart() -> None:
    events = [
        event(0, "started"), event(10, "stuck"), event(30, "moved"), event(40, "suspended"), event(50, "continued"),
        event(60, "attempt", state="failed"), event(60, "retrying"), event(70, "started"), event(80, "ended"),
    ]  # fmt: skip
    assert states(*events, span=Span(0.0, 90.0)) == [
        ("working", 0, 10), ("stuck", 10, 30), ("working", 30, 40), ("waiting", 40, 50), ("working", 50, 60),
        ("idle", 60, 70), ("working", 70, 80), ("absent", 80, 90),
    ]  # fmt: skip


def test_a_silence_that_was_never_stuck_is_no_change() -> None:
    events = [event(0, "started"), event(50, "moved"), event(90, "ended")]
    assert states(*events, span=Span(0.0, 90.0)) == [("working", 0, 90)]


def test_time_in_which_the_machine_slept_is_not_observed() -> None:
    events = [event(0, "started"), event(500, "lost", seconds=300.0), event(900, "ended")]
    assert states(*events, span=Span(0.0, 900.0)) == [
        ("working", 0, 200), ("not observed", 200, 500), ("working", 500, 900),
    ]  # fmt: skip


def test_what_became_of_a_job_whose_shim_was_killed_is_not_observed() -> None:
    assert states(event(0, "started"), present=live(seen_until=400.0)) == [
        ("working", 0, 400), ("not observed", 400, NOW),
    ]  # fmt: skip
    crashed = live("crashed", seen_until=400.0)
    assert states(event(0, "started"), present=crashed) == [("working", 0, 400), ("absent", 400, NOW)]
    assert states(event(0, "started"), event(100, "stuck")) == [
        ("working", 0, 100), ("not observed", 100, NOW),
    ]  # fmt: skip


def test_a_clock_that_was_set_back_turns_nothing_around() -> None:
    assert states(event(100, "started"), event(50, "stuck"), event(200, "ended"), span=Span(0.0, 200.0)) == [
        ("absent", 0, 100), ("stuck", 100, 200),
    ]  # fmt: skip


# Sessions -----------------------------------------------------------------------------------------------------------


def seen(at: float, state: str, monitor: str = "m", **said: Any) -> Occurrence:
    return event(at, "observed", state=state, monitor=monitor, **said)


def test_a_session_that_nobody_watched_was_not_observed() -> None:
    assert states(event(100, "started", session=True), present=live(session=True)) == [
        ("absent", 0, 100), ("not observed", 100, NOW),
    ]  # fmt: skip


def test_a_monitor_tells_what_an_agent_did_while_it_watched() -> None:
    events = [
        event(0, "started", session=True), seen(10, "working"), seen(310, "working"), seen(400, "waiting"),
        event(500, "watched", state="abandoned", monitor="m"),
    ]  # fmt: skip
    assert states(*events, present=live(session=True), span=Span(0.0, 1000.0)) == [
        ("not observed", 0, 10), ("working", 10, 400), ("waiting", 400, 500), ("not observed", 500, 1000),
    ]  # fmt: skip


def test_the_last_note_of_a_monitor_that_was_killed_tells_nothing_of_the_time_after_it() -> None:
    events = [event(0, "started", session=True), seen(10, "working"), seen(310, "working")]
    killed = [("not observed", 0, 10), ("working", 10, 310), ("not observed", 310, 400)]
    assert states(*events, present=live(session=True), span=Span(0.0, 400.0)) == killed
    assert states(*events, seen(390, "idle", "other"), present=live(session=True), span=Span(0.0, 400.0)) == killed
    assert states(*events, event(390, "ended"), span=Span(0.0, 390.0)) == [*killed[:2], ("not observed", 310, 390)]


def test_a_monitor_that_watches_now_has_seen_all_up_to_now() -> None:
    events = [event(9000, "started", session=True), seen(9700, "working")]
    watching = live(session=True, monitor="m")
    assert states(*events, present=watching)[-1] == ("working", 9700, NOW)
    assert states(*events, present=live(session=True, monitor="other"))[-1] == ("not observed", 9000, NOW)


def test_a_monitor_that_was_stopped_for_long_has_not_seen_that_time() -> None:
    events = [event(0, "started", session=True), seen(10, "working"), seen(5000, "working"), seen(5200, "idle")]
    assert states(*events, span=Span(0.0, 5200.0)) == [("not observed", 0, 5000), ("working", 5000, 5200)]


def test_runs_of_one_name_follow_each_other() -> None:
    first = [
        event(0, "started", session=True), seen(0, "working"), event(80, "ended"), event(90, "resumed", monitor="m"),
    ]  # fmt: skip
    second = [
        event(100, "started", "s", session=True), event(100, "observed", "s", state="working", monitor="m"),
        event(200, "ended", "s"), event(201, "watched", "s", state="completed", cause="verified", monitor="m"),
    ]  # fmt: skip
    found = states(*second, *first, span=Span(0.0, 300.0))
    assert [each[0] for each in found] == ["working", "absent", "working", "absent"]


# What is told of it -------------------------------------------------------------------------------------------------


def test_what_was_not_there_is_not_told() -> None:
    gone = [event(-500, "started"), event(-100, "ended", state="completed")]
    assert report.subject_report("x", "/d", gone, live("completed", seen_until=-100.0), SPAN, NOW) is None


def test_resumes_and_retries_are_told_with_their_reasons() -> None:
    found = told(
        event(0, "started"), event(10, "retrying", reason=ForeignText("attempt 1 failed")), event(20, "started"),
        event(30, "resumed", reason=ForeignText("crashed"), monitor="m"), present=live(),
    )  # fmt: skip
    assert (found.count("retried"), found.count("resumed")) == (1, 1)
    assert [(each.what, each.reason.raw) for each in found.remarks] == [
        ("retried", "attempt 1 failed"), ("resumed", "crashed"),
    ]  # fmt: skip


def test_a_state_that_a_monitor_confirms_is_told_once() -> None:
    waiting = [seen(at, "waiting") for at in (0, 300, 600)]
    found = told(event(0, "started"), *waiting, seen(700, "working"), seen(800, "waiting"))
    assert [each.at for each in found.remarks] == [0, 800]


@pytest.mark.parametrize(("cause", "verified"), [("verified", True), ("not-verified", False), ("turn-ended", None)])
def test_what_the_check_said_is_told(cause: str, verified: bool | None) -> None:
    events = [event(0, "started", session=True), event(9, "watched", state="completed", cause=cause, monitor="m")]
    assert told(*events, present=live("idle", session=True)).verified is verified


@pytest.mark.parametrize(
    ("state", "needs"),
    [
        ("waiting", True), ("stuck", True), ("failed", True), ("crashed", True), ("limited", True), ("unknown", True),
        ("working", False), ("idle", False), ("completed", False), ("stopped", False), ("starting", False),
    ],
)  # fmt: skip
def test_a_person_is_needed_where_nothing_goes_on_by_itself(state: str, needs: bool) -> None:
    assert told(event(0, "started"), present=live(state)).needs_you is needs


def test_a_limit_that_a_monitor_waits_for_needs_nobody() -> None:
    assert not told(event(0, "started"), present=live("limited", monitor="m", session=True)).needs_you


def test_of_a_time_that_is_over_the_journal_alone_tells_the_outcome() -> None:
    span = Span(0.0, 500.0)
    events = [event(0, "started"), event(100, "stuck"), event(900, "ended", state="failed")]
    assert told(*events, present=live("failed"), span=span).state == "stuck"
    assert told(*events[:1], span=span).state == "working"
    assert told(*events, present=live("failed")).state == "failed"


def test_those_that_need_a_person_come_first() -> None:
    def subject(name: str, state: str) -> SubjectReport:
        return told(event(0, "started"), present=live(state))._replace(name=name)

    several = [("c", "completed"), ("b", "working"), ("a", "working"), ("z", "failed")]
    found = report.order([subject(name, state) for name, state in several])
    assert [each.name for each in found] == ["z", "a", "b", "c"]
