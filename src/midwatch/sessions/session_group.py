"""The sessions of one directory, and the agents of tmux servers, observed together, once or again and again.

Each tmux server gets one question for each observation, however many sessions and panes are meant.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from midwatch.agents import evidence
from midwatch.agents.definition import find_presence
from midwatch.config import paths
from midwatch.core.policy import Policy
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.sessions.agent_session import AgentSession, Servers, SessionObservation, find_observer
from midwatch.sessions.model import PanesObservation, PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.rules.child import ChildVerdict, find_shells, judge_shell, judge_sub_agent

Server = tuple[str, ...]


class SessionGroup:
    """Keeps what was seen of each session for the next observation."""

    def __init__(self, looker: JobDirectory, policy: Policy) -> None:
        self.looker = looker
        self.policy = policy
        self.panes: dict[Server, PanesObservation] = {}
        """The last observation of each server that was asked for as a whole."""
        self._servers: Servers = {}
        self._sessions: dict[str, AgentSession] = {}

    def observe(self, names: Iterable[str], servers: Sequence[Server] = ()) -> dict[str, SessionObservation]:
        """The sessions of these names. ``servers``: those whose panes are all observed."""
        self._sessions = {
            name: self._sessions.get(name) or AgentSession(self.looker, name, self.policy, self._servers)
            for name in names
        }
        waiting: dict[PaneObserver, list[AgentSession]] = {self._observer(server): [] for server in servers}
        whole = set(waiting)
        foreign = bool(paths.find_sharing(self.looker.directory))
        for session in self._sessions.values():
            session.batch = None
            record = None if foreign else session.facts().record
            if record is not None and record.pane is not None and record.end is None:
                observer = self._observer(record.pane.server)
                waiting.setdefault(observer, []).append(session)
        found = {
            observer: observer.observe()
            for observer, several in waiting.items()
            if len(several) > 1 or observer in whole
        }
        for observer, several in waiting.items():
            for session in several:
                session.batch = found.get(observer)
        self.panes = {server: found[self._observer(server)] for server in servers}
        return {name: session.observe_reported() for name, session in self._sessions.items()}

    def find_children(self, found: SessionObservation) -> tuple[ChildVerdict, ...]:
        """The children of a session's agent, as the last observation found it."""
        record = found.facts.record
        if found.seen is None or record is None or record.pane is None:
            return ()
        return _find_children(self._observer(record.pane.server), found.seen, found.verdict)

    def find_pane_children(self, server: Server, pane: str) -> tuple[ChildVerdict, ...]:
        """The same of an agent in a pane that is no session's."""
        seen = next((each for each in self.panes[server].seen if each.sighting.pane.id == pane), None)
        return () if seen is None else _find_children(self._observer(server), seen, seen.verdict)

    def close(self) -> None:
        for observer in set(self._servers.values()):
            observer.close()

    def _observer(self, server: Server) -> PaneObserver:
        return find_observer(self._servers, server, self.policy)


def add_pane_verdicts(looker: JobDirectory, verdicts: list[Verdict], policy: Policy) -> list[Verdict]:
    """The same verdicts, with those on sessions by a look at their panes."""
    group = SessionGroup(looker, policy)
    try:
        found = group.observe([each.name for each in verdicts if each.kind == "session"])
    finally:
        group.close()
    return [found[verdict.name].verdict if verdict.name in found else verdict for verdict in verdicts]


def _find_children(panes: PaneObserver, seen: PaneVerdict, parent: Verdict) -> tuple[ChildVerdict, ...]:
    """``seen`` is the last look of ``panes`` at the agent; ``parent`` is the verdict on it that is shown."""
    sighting, known = seen.sighting, panes.known.get(seen.sighting.pane.id)
    found = [judge_sub_agent(each, parent, time.time()) for each in panes.sub_agents(sighting.pane.id)]
    if known is not None:
        there = find_presence(known.detector, sighting.tasks, sighting.pane.command, dead=sighting.pane.dead)
        tools = evidence.find_tools(known.detector, sighting, there)
        found += [judge_shell(task, parent) for task in find_shells(tools)]
    return tuple(found)
