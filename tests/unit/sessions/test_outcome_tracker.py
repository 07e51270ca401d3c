"""What a monitor remembers from look to look: that an agent was told to go on."""

from __future__ import annotations

from typing import cast

from midwatch.core.verdict import Verdict
from midwatch.notifications.model import ChangeSubject
from midwatch.sessions.model import MonitorOptions
from midwatch.sessions.session_outcome import SessionOutcomeTracker
from midwatch.sessions.targets import ManagedSession, TargetView

WORKING = Verdict("api", "session", "working", False, "the model answers", "alive", "advancing", turn="working")
BROKEN_OFF = WORKING._replace(state="waiting", cause="interrupted", turn="idle", detail="interrupted")


class Looks:
    """Shows one verdict after the other."""

    def __init__(self, *verdicts: Verdict) -> None:
        self.verdicts = list(verdicts)

    def observe(self) -> TargetView:
        return TargetView(self.verdicts.pop(0), ChangeSubject(), {}, set())


def tracker(*verdicts: Verdict) -> SessionOutcomeTracker:
    return SessionOutcomeTracker(cast("ManagedSession", Looks(*verdicts)), MonitorOptions())


def test_who_was_told_to_go_on_is_not_said_to_wait_before_it_has_begun() -> None:
    watch = tracker(BROKEN_OFF)
    watch.mark_continued(submitted=True)
    view, said = watch.observe()
    assert (said, view.verdict.settled) == (None, False), "and no notification tells of it"


def test_a_turn_that_is_broken_off_after_it_has_begun_counts() -> None:
    watch = tracker(WORKING, BROKEN_OFF)
    watch.mark_continued(submitted=True)
    watch.observe()
    view, _ = watch.observe()
    assert view.verdict.settled


def test_who_has_not_taken_what_it_was_told_waits() -> None:
    watch = tracker(BROKEN_OFF)
    watch.mark_continued(submitted=False)
    view, _ = watch.observe()
    assert view.verdict.settled
