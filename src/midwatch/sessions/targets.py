"""What a monitor can watch: a session of ours, or an agent in a pane that somebody else opened."""

from __future__ import annotations

import os
import time
from functools import cached_property

from midwatch.agents.turn_model import Departure, SessionMemory
from midwatch.config import paths as config_paths
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Alive, Record
from midwatch.core.policy import Policy
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.jobs.stop import end_job
from midwatch.notifications import report_change
from midwatch.notifications.model import ChangeSubject
from midwatch.sessions.agent_session import AgentSession, Servers
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.rules import agent_exit
from midwatch.system import exit_status
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.control_client import ControlClient
from midwatch.tmux.sessions import TmuxSessions

SECOND_LOOK = 1.0
"""Seconds between the two looks that must both miss a pane before it is gone."""


class TargetView(Value):
    """One look at what is watched."""

    verdict: Verdict
    about: ChangeSubject
    """Whom notices are about."""
    ends: dict[str, tuple[int, int]]
    """Processes (pid and start) whose end is worth a look."""
    files: set[str]
    """What the agent writes to when it goes on."""
    record: Record | None = None
    agent: tuple[int, int] = (0, 0)
    memory: SessionMemory | None = None
    cwd: str = ""
    began: float | None = None
    """Where no record tells it: its directory, and when its work began (wall)."""
    seen: PaneVerdict | None = None
    """What was seen in its pane."""


class ManagedSession:
    """A session that Midwatch started or adopted."""

    def __init__(self, looker: JobDirectory, name: str, policy: Policy, waited: Servers | None = None) -> None:
        """``waited``: for who only waits. He leaves no client in tmux, judges by the patience of the last monitor, and
        shares the watchers of servers among the sessions that he waits for.
        """
        self.looker = looker
        self.directory = looker.directory
        self.name = name
        self.base = f"{looker.directory}/{name}"
        self.session = AgentSession(looker, name, policy, waited, watching=waited is None)
        record = looker.facts(name).record
        if record is None or record.pane is None:
            raise RefusedError(f"{name} is no session; `midwatch wait {name}` waits for a job")
        self.control: ControlClient | None = None
        self._notify = record.notify
        self._attaching = waited is None

    @cached_property
    def project(self) -> str:
        """Whose notices are sent; empty where nobody is to be told."""
        return self._notify or report_change.find_configured_project(config_paths.project_root(os.getcwd()))

    def observe(self) -> TargetView:
        looked = self.session.observe()
        record, seen = looked.facts.record, looked.seen
        about = report_change.change_subject(record) if record else ChangeSubject()
        ends = {}
        if record is not None:
            both = (("shim", looked.facts.shim, record.shim), ("work", looked.facts.work, record.work))
            ends = {key: (meant.pid, meant.start) for key, found, meant in both if isinstance(found, Alive)}
        if self._attaching and seen is not None and record is not None and record.adopted is None:
            self.control = self.session.panes(record).attach(seen.sighting.pane)
        known = self.session.panes(record).known.get(record.pane.id) if seen and record and record.pane else None
        return TargetView(
            looked.verdict, about, ends, _reported_files(seen), record, known.process if known else (0, 0),
            known.memory if known else None, seen=seen,
        )  # fmt: skip

    def clear_away(self) -> str:
        """End what is left, the capture, and exactly that session. Returns why not; empty when it is gone."""
        facts = self.looker.facts(self.name)
        if facts.record is None or facts.record.pane is None:
            return ""
        if not job_verdict.judge(facts).final:
            end_job(self.looker, self.name)
        return TmuxSessions(facts.record.pane.server).close(facts.record.pane)

    def close(self) -> None:
        self.session.close()


class ForeignPane:
    """An agent in a pane that somebody else opened: it is watched, and nothing is done to it."""

    def __init__(self, panes: PaneObserver, seen: PaneVerdict, name: str, directory: str) -> None:
        self.panes = panes
        self.pane = seen.sighting.pane
        self.seat = TmuxSessions(panes.tmux.server).seat(self.pane.id)
        self.name = name
        self.directory = directory
        self.project = report_change.find_configured_project(config_paths.project_root(os.getcwd()))
        self.control: ControlClient | None = None
        self._missed: float | None = None
        self._held = exit_status.HeldProcess(*panes.known[self.pane.id].process)
        self._last = self._view(seen)

    def observe(self) -> TargetView:
        looked = self.panes.observe(self.pane.id)
        now = time.monotonic()
        if looked.trouble and looked.cause != codec.ABSENT:
            unseen = self._last.verdict._replace(state="unknown", cause="not-seen", reason=looked.trouble)
            return self._last._replace(verdict=unseen)
        seen = next((each for each in looked.seen if each.sighting.pane.pid == self.pane.pid), None)
        if seen is not None:
            self._missed, self._last = None, self._view(seen)
            return self._last
        return self._last._replace(verdict=self._gone(self._last.verdict, now), ends={})

    def _gone(self, last: Verdict, now: float) -> Verdict:
        """Its pane is gone: how the agent ended, as far as the kernel tells."""
        if last.final and last.settled:
            return last
        if (found := self._held.status()) is not None:
            left = Departure(
                *exit_status.split_status(found), after=agent_exit.state_before_end(last.turn, last.detail)
            )
            if ending := agent_exit.judge_status(left):
                return agent_exit.apply_exit(last, ending, left.after)._replace(settled=True)
        self._missed = now if self._missed is None else self._missed
        gone = now >= self._missed + SECOND_LOOK
        return last._replace(
            state="not_found" if gone else "unknown", final=gone, process="gone" if gone else "unknown",
            cause="not-found" if gone else "not-seen", look_at=now + SECOND_LOOK,
            reason=f"its pane {self.pane.id} is gone; how the agent ended, nobody saw",
        )  # fmt: skip

    def clear_away(self) -> str:
        """Close exactly the session that was named."""
        return TmuxSessions(self.seat.server).close(self.seat)

    def close(self) -> None:
        self.panes.close()

    def _view(self, seen: PaneVerdict) -> TargetView:
        known = self.panes.known[self.pane.id]
        pid, start = known.process
        if known.process != self._held.process:
            self._held = exit_status.HeldProcess(*known.process)
        session, reach = self.pane.session, report_change.attach_command(self.pane.server, self.pane.session)
        where = os.path.basename(self.pane.path)
        about = ChangeSubject(
            f"{pid}-{start}", seen.sighting.agent, self.pane.id, where, session, reach, self.panes.tmux.server
        )
        ends = {"agent": (pid, start)} if seen.verdict.process == "alive" else {}
        verdict = seen.verdict._replace(name=self.name)
        began = known.running.started if known.running else None
        cwd = known.running.cwd if known.running else self.pane.path
        return TargetView(verdict, about, ends, _reported_files(seen), None, known.process, known.memory, cwd, began)


def _reported_files(seen: PaneVerdict | None) -> set[str]:
    """Transcript and state file, as far as the reports name them."""
    paths = {report.words["path"] for report in seen.sighting.reports if report.words.get("path")} if seen else set()
    return paths | {f"{path}-wal" for path in paths if path.endswith(".db")}
