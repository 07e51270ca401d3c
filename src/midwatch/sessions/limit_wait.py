"""How a monitor waits for the end of a limit (`--on-limit wait`).

It does three things at most, and only to a session of ours: it takes the choice "wait" of the agent's limit menu, it
waits until the limit is over, and then it gives the agent one prompt to continue. An agent that shows that it will
continue by itself is left to do so. What does not continue is reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from midwatch.agents import definition
from midwatch.core.errors import RefusedError
from midwatch.core.turn_state import Idle, Limited, Working
from midwatch.core.verdict import Verdict
from midwatch.sessions import resume
from midwatch.sessions.monitor_lease import MonitorLease
from midwatch.sessions.prompting.pane_lock import PaneLock
from midwatch.sessions.prompting.rules import readiness
from midwatch.sessions.targets import ForeignPane, ManagedSession, TargetView
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import sgr
from midwatch.tmux.pane_input import KeyTyper
from midwatch.tmux.pane_snapshot import take_snapshot

LASTS = 5.0
"""Seconds for which the limit must be over: an agent that continues by itself shows nothing of that for a moment."""
READY = 90.0
"""Seconds that an agent may take to come to its prompt."""


class LimitWait:
    """One monitor's wait. ``say`` hears what is done, ``stopped`` tells that the monitor is to end."""

    def __init__(
        self, subject: ManagedSession | ForeignPane, say: Callable[[Verdict], None], stopped: Callable[[], bool],
        actor: MonitorLease | None,
    ) -> None:  # fmt: skip
        self.subject = subject
        self.actor = actor
        self.say = say
        self.stopped = stopped
        self.ends = 0.0
        """When the limit ends that is waited for, on the wall clock."""
        self.answered = 0.0
        """The end of the limit whose menu was answered."""
        self.over_since: float | None = None
        self.told = False
        """The agent was given its prompt for this limit."""

    def attend(self, view: TargetView, said: Verdict | None, left: float) -> Verdict | None:
        """None while there is something to wait for; else what there is to be said. ``left``: seconds to the deadline.

        ``said`` is what the monitor would say of this look.
        """
        verdict, now = view.verdict, time.time()
        turn = verdict.turn_state
        if isinstance(turn, Limited):
            self.over_since = None
            return self._limited(view, turn, now, left)
        if not isinstance(turn, Idle) or turn.after != "limit-over":
            self.over_since, self.told = None, self.told and not isinstance(turn, Working)
            return said
        self.over_since = now if self.over_since is None else self.over_since
        return None if self.stopped() or now < self.over_since + LASTS else self._over(verdict)

    def _limited(self, view: TargetView, limit: Limited, now: float, left: float) -> Verdict | None:
        verdict = view.verdict
        if self.actor and not limit.continues and (refused := self.actor.refuses_to_continue()):
            return verdict._replace(reason=f"{verdict.reason}; it is not waited for: {refused}")
        if limit.ends is None:
            return verdict._replace(reason=f"{verdict.reason}; its end is not known, so it is not waited for")
        if limit.ends > now + left:
            return verdict._replace(reason=f"{verdict.reason}; that is beyond the monitor's deadline")
        if limit.ends != self.ends:
            self.ends, self.told = limit.ends, False
        if self.answered != self.ends and isinstance(self.subject, ManagedSession) and _choose_wait(self.subject, view):
            self.answered = self.ends
            self.say(verdict._replace(reason=f"{verdict.reason}; its menu was answered with: wait"))
        return None

    def _over(self, verdict: Verdict) -> Verdict | None:
        if not isinstance(self.subject, ManagedSession):
            return _not_continued(verdict, "it runs in a pane that Midwatch did not open, so nothing is typed there")
        if self.told:
            return _not_continued(verdict, "it was told to continue, and did not")
        if self.actor and (refused := self.actor.refuses_to_continue()):
            return _not_continued(verdict, refused)
        self.told = True
        if self.actor:
            self.actor.count_continuation()
        self.say(verdict._replace(state="starting", cause="starting", reason="its limit is over; it is told to go on"))
        sent = self.subject.session.deliver(
            resume.GO_ON, until=time.monotonic() + READY, past_limit=True, stopped=self.stopped
        )
        return None if sent.submitted or self.stopped() else _not_continued(verdict, sent.reason)


def _not_continued(verdict: Verdict, why: str) -> Verdict:
    reason = f"its limit is over, but it does not continue: {why}"
    return verdict._replace(state="waiting", final=False, cause="not-continued", reason=reason)


def _choose_wait(subject: ManagedSession, view: TargetView) -> bool:
    """Take the choice "wait" of the agent's limit menu, if that is open and marked; whether it was taken."""
    if view.record is None or view.record.pane is None:
        return False
    seat, agent = view.record.pane, subject.session.detector(view.record)
    if agent.limits is None or view.seen is None or not definition.offers_to_wait(agent, view.seen.sighting.rows):
        return False
    try:
        with PaneLock(tmux_client.socket_path(seat.server), seat.id):
            shown = take_snapshot(seat.server, seat.id)
            if shown is None or readiness.find_key_refusal(shown, seat.id, time.time()):
                return False
            if not definition.offers_to_wait(agent, sgr.split_styles(shown.rows)[0]):
                return False
            return KeyTyper(seat.server, seat.id).press(agent.limits.wait, shown.guard)
    except RefusedError:
        return False  # somebody else types there, or tmux does not answer: the next look tries again
