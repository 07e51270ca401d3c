"""Agents as subjects: sessions by a look at their panes, the panes of tmux servers, and the children of both."""

from __future__ import annotations

from midwatch.core.value import Value
from midwatch.sessions.agent_session import SessionObservation
from midwatch.sessions.rules.child import ChildVerdict
from midwatch.sessions.session_group import SessionGroup
from midwatch.subjects.model import Subject, SubjectScope, SubjectSnapshot
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec


class _PanesFound(Value):
    subjects: list[Subject]
    troubles: list[str]
    unseen: list[str]


def observe_agents(group: SessionGroup, jobs: list[Subject], scope: SubjectScope) -> SubjectSnapshot:
    """``jobs``: jobs and sessions by their files and processes. The same, sessions by their panes; and other panes."""
    sessions = group.observe([each.verdict.name for each in jobs if each.kind == "session"], scope.servers)
    found: list[Subject] = []
    for each in jobs:
        looked = sessions.get(each.verdict.name) if each.kind == "session" else None
        found.append(each if looked is None else each._replace(verdict=looked.verdict, record=looked.facts.record))
        if looked is not None and scope.children:
            found += _child_subjects(found[-1], group.find_children(looked))
    panes = _observe_panes(group, sessions, children=scope.children)
    unreadable = [f"{each.id}/" for each in found if each.kind == "session" and each.verdict.cause == "not-seen"]
    return SubjectSnapshot((*found, *panes.subjects), tuple(panes.troubles), (*panes.unseen, *unreadable))


def pane_subject_id(server: tuple[str, ...], pane: str) -> str:
    return f"pane/{tmux_client.socket_path(server)}/{pane}"


def _observe_panes(group: SessionGroup, sessions: dict[str, SessionObservation], *, children: bool) -> _PanesFound:
    """Panes with an agent that are no session's own."""
    own = {
        pane_subject_id(each.seen.sighting.pane.server, each.seen.sighting.pane.id)
        for each in sessions.values()
        if each.seen is not None
    }
    subjects: list[Subject] = []
    found = _PanesFound(subjects, [], [])
    for server, looked in group.panes.items():
        if looked.trouble:
            found.troubles.append(looked.trouble)
            if looked.cause != codec.ABSENT:
                found.unseen.append(pane_subject_id(server, ""))
        for seen in looked.seen:
            pane = seen.sighting.pane
            if (key := pane_subject_id(server, pane.id)) in own:
                continue
            subject = Subject(key, "pane", seen.verdict, agent=seen.sighting.agent, pid=pane.pid, seen=seen)
            subjects.append(subject)
            if children:
                subjects += _child_subjects(subject, group.find_pane_children(server, pane.id))
    return found


def _child_subjects(parent: Subject, children: tuple[ChildVerdict, ...]) -> list[Subject]:
    return [
        Subject(f"{parent.id}/{each.id}", each.verdict.kind, each.verdict, parent.id, parent.agent, pid=each.pid)
        for each in children
    ]
