"""What a monitor makes of one look."""

from __future__ import annotations

import pytest

from midwatch.agents.turn_model import SessionMemory, TrackedValue
from midwatch.core.states import VerdictState
from midwatch.core.verdict import FINAL, Evidence, Verdict
from midwatch.jobs.rules import resume_condition
from midwatch.sessions import model as sessions_model
from midwatch.sessions.model import MonitorOptions
from midwatch.sessions.rules import monitor
from midwatch.sessions.rules.monitor import MonitorContext
from midwatch.verification.model import VerificationResult

LOOK = Verdict("api", "session", "working", False, "the model answers", "alive", "advancing", turn="working")
IDLE = LOOK._replace(state="idle", turn="idle", reason="its turn has ended")
UNSEEN = LOOK._replace(state="unknown", final=True, cause="exit-unseen", reason="gone", turn="exited")


@pytest.mark.parametrize("state", ["working", "starting", "unknown"])
def test_what_goes_on_is_watched(state: VerdictState) -> None:
    assert monitor.find_outcome(LOOK._replace(state=state), MonitorContext(worked=True, idle_s=9.0)) is None


@pytest.mark.parametrize("state", ["stuck", "waiting", "limited"])
def test_what_needs_somebody_is_said_at_once(state: VerdictState) -> None:
    verdict = LOOK._replace(state=state)
    assert monitor.find_outcome(verdict, MonitorContext()) == verdict


@pytest.mark.parametrize("state", sorted(FINAL))
def test_an_end_is_said_once_it_is_sure(state: VerdictState) -> None:
    verdict = LOOK._replace(state=state, final=True)
    assert monitor.find_outcome(verdict, MonitorContext()) == verdict
    assert monitor.find_outcome(verdict._replace(settled=False), MonitorContext()) is None


def test_what_nobody_here_can_see_is_said_once_a_second_look_agrees() -> None:
    verdict = LOOK._replace(state="unknown", process="unknown", turn="")
    assert monitor.find_outcome(verdict, MonitorContext()) == verdict
    assert monitor.find_outcome(verdict._replace(settled=False), MonitorContext()) is None


def test_a_turn_that_has_ended_is_completed_with_nothing_to_verify_against() -> None:
    found = monitor.find_outcome(IDLE._replace(detail="turn-ended"), MonitorContext(idle_s=1.0))
    assert found is not None
    assert (found.state, found.final) == ("completed", True)
    assert monitor.apply_verification(found, None).reason == "its turn has ended; nothing to verify against"


def test_a_turn_that_failed_has_failed() -> None:
    found = monitor.find_outcome(IDLE._replace(detail="turn-failed"), MonitorContext(idle_s=1.0))
    assert found is not None
    assert (found.state, found.final) == ("failed", True)


def test_an_interrupted_turn_waits_for_a_person() -> None:
    interrupted = IDLE._replace(state="waiting", detail="interrupted", reason="it was interrupted")
    found = monitor.find_outcome(interrupted, MonitorContext(idle_s=1.0))
    assert found is not None
    assert (found.state, found.final) == ("waiting", False)
    assert found.reason == "it was interrupted: somebody must say how it goes on"


@pytest.mark.parametrize("detail", ["turn-ended", "turn-failed", "interrupted", "background-work", ""])
def test_a_queued_message_may_begin_the_next_turn_at_once(detail: str) -> None:
    assert monitor.find_outcome(IDLE._replace(detail=detail), MonitorContext(worked=True, idle_s=0.9)) is None


def test_background_work_goes_on() -> None:
    assert (
        monitor.find_outcome(IDLE._replace(detail="background-work"), MonitorContext(worked=True, idle_s=900.0)) is None
    )


def test_at_its_prompt_after_a_turn_of_which_nobody_told_the_end_it_waits_for_a_person() -> None:
    idle = IDLE._replace(reason="at its prompt")
    found = monitor.find_outcome(idle, MonitorContext(worked=True, idle_s=2.5))
    assert found is not None
    assert (found.state, found.final) == ("waiting", False)
    assert found.reason == "at its prompt, but nothing tells that its turn has ended: was it interrupted?"
    assert monitor.find_outcome(idle, MonitorContext(worked=True, idle_s=2.4)) is None


def test_at_its_prompt_before_any_turn_there_is_nothing_to_say() -> None:
    assert monitor.find_outcome(IDLE, MonitorContext(worked=False, idle_s=900.0)) is None


@pytest.mark.parametrize(
    ("verdict", "wanted"),
    [
        (LOOK._replace(state="stuck"), True),
        (LOOK._replace(state="stuck", final=True), False),  # it was stopped for that, as was asked for
        (LOOK._replace(state="crashed", final=True, signal=9), True),
        (LOOK._replace(state="crashed", final=True, signal=11), True),
        (LOOK._replace(state="crashed", final=True), True),
        (LOOK._replace(state="crashed", final=True, signal=15), False),
        (LOOK._replace(state="crashed", final=True, signal=1), False),
        (LOOK._replace(state="crashed", final=True, signal=2), False),
        (LOOK._replace(state="crashed", final=True, signal=3), False),
        (LOOK._replace(state="completed", final=True), False),
        (LOOK._replace(state="failed", final=True, exit_code=3), False),
        (LOOK._replace(state="stopped", final=True), False),
        (LOOK._replace(state="waiting"), False),
        (LOOK._replace(state="limited"), False),
        (LOOK._replace(state="waiting", process="suspended"), False),
        (UNSEEN, True),
        (UNSEEN._replace(detail="turn-ended"), False),
        (LOOK._replace(state="unknown", cause="not-seen"), False),
    ],
)
def test_only_what_hangs_or_crashed_is_brought_back(verdict: Verdict, wanted: bool) -> None:
    assert resume_condition.is_resumable(verdict) is wanted


def test_an_end_that_nobody_saw_is_completed_if_the_work_is_there() -> None:
    assert monitor.is_verifiable(UNSEEN)
    assert not monitor.is_verifiable(LOOK._replace(state="unknown", cause="not-seen"))
    found = monitor.apply_verification(UNSEEN, VerificationResult(done=True, reason="a.txt is there"))
    assert (found.state, found.cause, found.reason) == ("completed", "verified", "gone; verified: a.txt is there")
    assert not resume_condition.is_resumable(found)


@pytest.mark.parametrize("found", [None, VerificationResult(done=False, reason="a.txt is missing")])
def test_it_stays_unknown_if_nothing_tells_that_it_is(found: VerificationResult | None) -> None:
    assert monitor.apply_verification(UNSEEN, found) == UNSEEN


def test_what_is_abandoned_is_left_as_it_is_and_said_to_be() -> None:
    why = monitor.format_timeout(MonitorOptions(deadline_s=7200.0))
    found = monitor.abandoned_verdict(LOOK._replace(settled=False), "deadline", why)
    assert (found.state, found.final, found.settled, found.process) == ("abandoned", True, True, "alive")
    assert found.cause == "deadline"
    assert found.reason == "the monitor's time was up (2h 00m); it was left as it is (working: the model answers)"


def test_what_waits_for_nobody_knows_what_is_looked_at_once_more() -> None:
    """An agent writes that it waits before it has drawn its question."""
    vague = LOOK._replace(state="waiting", turn="waiting", reason="it waits for a person")
    assert monitor.is_vague(vague)
    assert monitor.find_outcome(vague, MonitorContext(vague_s=0.3)) is None
    assert monitor.find_outcome(vague, MonitorContext(vague_s=1.0)) == vague
    assert not monitor.is_vague(vague._replace(detail="permission"))
    menu = vague._replace(detail="menu")
    assert monitor.is_vague(menu), "only its state file tells of it: it may be the menu of a limit"
    assert not monitor.is_vague(menu._replace(evidence=(Evidence("screen", "a menu"),)))
    assert not monitor.is_vague(vague._replace(turn="exited")), "suspended: nothing more will be drawn"


def test_a_limit_may_be_watched_through() -> None:
    limited = LOOK._replace(state="limited", turn="limited")
    assert monitor.find_outcome(limited, MonitorContext(), MonitorOptions(on_limit="watch")) is None
    assert monitor.find_outcome(limited, MonitorContext(), MonitorOptions(on_limit="wait")) == limited


def test_who_never_begins_may_be_given_up() -> None:
    rest = IDLE._replace(reason="at its prompt")
    assert monitor.find_outcome(rest, MonitorContext(idle_s=59.0), MonitorOptions(unbegun_s=60.0)) is None
    found = monitor.find_outcome(rest, MonitorContext(idle_s=60.0), MonitorOptions(unbegun_s=60.0))
    assert found is not None
    assert (found.state, found.reason) == ("incomplete", "at its prompt for 1m, and was never seen to begin")


# A watch that goes on ------------------------------------------------------------------------------------------------


ON = MonitorOptions(until=sessions_model.FINAL)


@pytest.mark.parametrize(
    ("said", "live", "goes_on"),
    [
        (("waiting", False), False, True), (("limited", False), False, True), (("stuck", False), False, True),
        (("incomplete", True), False, True), (("incomplete", True), True, False), (("completed", True), False, False),
        (("failed", True), False, False), (("crashed", True), True, False), (("stopped", True), True, False),
    ],
)  # fmt: skip
def test_a_watch_to_the_end_of_the_work_goes_on_after_what_is_no_end(
    said: tuple[VerdictState, bool], *, live: bool, goes_on: bool
) -> None:
    verdict = Verdict("api", "session", said[0], said[1], "", "alive", "unknown")
    now = verdict._replace(final=live)
    assert monitor.is_ongoing(verdict, now, ON) is goes_on
    assert not monitor.is_ongoing(verdict, now, MonitorOptions())


def test_turns_are_told_apart_by_what_the_agent_writes_and_else_by_what_it_shows() -> None:
    def memory(**moved: str) -> SessionMemory:
        values = {name.replace("_", " "): TrackedValue(value, 1.0) for name, value in moved.items()}
        return SessionMemory("idle", "", 1.0, None, {}, values, (0.0, 0.0, 0.0, 0.0), None, "", 1.0)

    written = memory(progress_text="a", progress_transcript_size="7", life_screen="x")
    assert monitor.turn_marks(written) == (("progress transcript size", "7"),)
    assert monitor.turn_marks(memory(progress_text="a", life_screen="x")) == (("progress text", "a"),)
    assert monitor.turn_marks(None) == ()


# Told to go on ------------------------------------------------------------------------------------------------------

BROKEN_OFF = LOOK._replace(state="waiting", cause="interrupted", turn="idle", detail="interrupted")


def test_an_interruption_from_before_it_was_told_to_go_on_says_nothing() -> None:
    assert monitor.is_old_interruption(BROKEN_OFF, 0.0)
    assert monitor.is_old_interruption(BROKEN_OFF, monitor.BEGINS - 0.1)


@pytest.mark.parametrize(
    ("verdict", "continued_s"),
    [
        (BROKEN_OFF, None),
        (BROKEN_OFF, monitor.BEGINS),
        (BROKEN_OFF._replace(final=True), 1.0),
        (LOOK, 1.0),
        (IDLE._replace(detail="turn-ended"), 1.0),
        (IDLE._replace(detail="turn-failed"), 1.0),
        (LOOK._replace(state="waiting", turn="waiting", detail="permission"), 1.0),
    ],
)
def test_all_else_counts(verdict: Verdict, continued_s: float | None) -> None:
    assert not monitor.is_old_interruption(verdict, continued_s)
