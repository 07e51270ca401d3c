"""The sessions among what is waited for: each is looked at as a monitor looks, and nothing is done to it.

A wait beside a monitor says nothing of a crash or a hang that this monitor resumes: that is no end. It says what
becomes of the session afterwards.
"""

from __future__ import annotations

import threading
import time

from midwatch.core.errors import RefusedError
from midwatch.core.job_model import JobFacts
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.observation_schedule import NEVER
from midwatch.sessions import agent_session
from midwatch.sessions.agent_session import Servers
from midwatch.sessions.model import MonitorOptions
from midwatch.sessions.session_outcome import SOONEST, SessionOutcomeTracker
from midwatch.sessions.targets import ManagedSession


class SessionWaits:
    """All sessions of one wait. They are looked at one at a time, by whichever thread.

    With ``beside`` a look, which asks tmux, is never taken while something is judged: the session is `asked` for one,
    and whoever drives the wait takes it (`observe`) and comes again.
    """

    def __init__(self, looker: JobDirectory, until: str | None, *, beside: bool) -> None:
        self.looker = looker
        self.until = until
        self.beside = beside
        self.of: dict[str, SessionWait] = {}
        self._servers: Servers = {}
        self._looking = threading.Lock()
        self._closed = False

    def over(self, facts: JobFacts, verdict: Verdict, *, current: bool) -> Verdict | None:
        """What ends the wait for a session, of which its files say this; None: it goes on.

        Of a run that is not the ``current`` one of its name only the end can be told.
        """
        if not current or self.until == "exited":
            over = verdict.settled and (verdict.final or verdict.state == "unknown")
            return (agent_session.judge_ended(self.looker, facts) if verdict.final else verdict) if over else None
        try:
            session = self._session(facts.name)
        except RefusedError:
            return None  # it has just been removed; the next look tells
        if not session.fresh and not verdict.final and facts.now < session.soonest:
            session.due = session.soonest
            return None
        if not session.fresh and self.beside:
            session.asked, session.due = True, facts.now
            return None
        if not session.fresh:
            self.observe(facts.name)
        session.fresh = False
        return session.over(self.until)

    def observe(self, name: str) -> Verdict | None:
        """Look at one now; its live state."""
        try:
            with self._looking:
                return None if self._closed else self._session(name).observe()
        finally:
            self._tidy()

    def live(self, name: str) -> Verdict | None:
        """The live state of one by the last look at it."""
        view = self.of[name].watch.view if name in self.of else None
        return view.verdict if view else None

    def is_asked(self, name: str) -> bool:
        """Whether a look is to be taken before it is judged again."""
        return name in self.of and self.of[name].asked

    def due(self, name: str) -> float:
        """Monotonic moment at which to look again though nothing may happen until then."""
        return self.of[name].due if name in self.of else NEVER

    def files(self, name: str) -> set[str]:
        """What the agent writes to when it goes on."""
        view = self.of[name].watch.view if name in self.of else None
        return view.files if view else set()

    def add_lost_time(self, seconds: float) -> None:
        for session in self.of.values():
            session.watch.add_lost_time(seconds)

    def close(self) -> None:
        self._closed = True
        self._tidy()

    def _session(self, name: str) -> SessionWait:
        if name not in self.of:
            self.of[name] = SessionWait(ManagedSession(self.looker, name, self.looker.policy, self._servers))
        return self.of[name]

    def _tidy(self) -> None:
        """Close what was opened once nobody looks through it: a wait may be cancelled while a thread looks."""
        if self._closed and self._looking.acquire(blocking=False):
            try:
                while self._servers:
                    self._servers.popitem()[1].close()
            finally:
                self._looking.release()


class SessionWait:
    """One session that is waited for."""

    def __init__(self, subject: ManagedSession) -> None:
        self.watch = SessionOutcomeTracker(subject, MonitorOptions())
        self.outcome: Verdict | None = None
        """What the last look came to; None: it goes on."""
        self.fresh = False
        """There was a look that nobody has judged yet."""
        self.asked = False
        self.soonest = 0.0
        """Monotonic moment before which nothing that is written is worth a look."""
        self.due = 0.0

    def observe(self) -> Verdict:
        began = time.monotonic()
        view, said = self.watch.observe()
        self.outcome = None if said is not None and self.watch.is_brought_back(view, said) else said
        self.fresh, self.asked = True, False
        self.soonest, self.due = began + SOONEST, self.watch.next_look(view.verdict, time.monotonic())
        return view.verdict

    def over(self, until: str | None) -> Verdict | None:
        """What ends a wait until some state, `final`, or None: until there is an outcome."""
        live, said = self.watch.view.verdict if self.watch.view else None, self.outcome
        if live is not None and live.state == until and live.settled and self.watch.vague_since is None:
            return live
        return said if said is not None and (said.final or until in (None, said.state)) else None
