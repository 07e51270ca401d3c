"""Finds the pane that a person means: %pane, =session of tmux, or the name of a session of ours."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from midwatch.agents import catalog
from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.job_model import Record
from midwatch.core.names import is_pane
from midwatch.core.pane_model import Pane
from midwatch.core.policy import PATIENT, Policy
from midwatch.jobs.codec import sentinel
from midwatch.sessions.agent_session import is_own_pane
from midwatch.sessions.model import PanesObservation, PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import exited_agent
from midwatch.tmux.codec import commands as codec

Server = tuple[str, ...]
"""The arguments by which tmux reaches a server."""


class NoAgentError(RefusedError):
    """There is no such pane, session or name, or no agent in it."""


class NoServerError(RefusedError):
    """No tmux server is there in which anybody could be."""


class FoundPane:
    """The pane that was meant, with an agent in it or not, and what looks at its server until it is closed."""

    def __init__(self, panes: PaneObserver, pane: str) -> None:
        self.panes = panes
        self.id = pane

    @property
    def server(self) -> Server:
        return self.panes.tmux.server

    def has_agent(self, pane: str) -> bool:
        """Whether there is an agent in another pane of the same server."""
        return bool(self.panes.observe(pane).seen)

    def close(self) -> None:
        self.panes.close()


class FoundAgent(FoundPane):
    """The agent that was meant, as it was found."""

    def __init__(self, panes: PaneObserver, seen: PaneVerdict) -> None:
        super().__init__(panes, seen.sighting.pane.id)
        self.seen = seen

    @property
    def pane(self) -> Pane:
        return self.seen.sighting.pane


def observe_servers(servers: Iterable[Server], only: str | None = None) -> Iterator[PanesObservation]:
    """One look at the agents of each server, or at its pane of that id."""
    known, spool = catalog.load_all(), paths.hook_spool()

    def look(server: Server) -> PanesObservation:
        panes = PaneObserver(known, spool, server)
        try:
            return panes.observe(only)
        finally:
            panes.close()

    return map(look, servers)


def find_agent(server: Server, target: str, policy: Policy = PATIENT) -> FoundAgent:
    """The one agent in %pane, or in exactly that =session. RefusedError where it cannot be told, or is not one."""
    with _open(server, policy) as panes:
        return FoundAgent(panes, _only_agent(panes, target))


def find_agent_of_session(directory: str, name: str) -> FoundAgent:
    """The agent of a session of ours. RefusedError where it is not in its pane any more."""
    record = _recorded(directory, name)
    assert record.pane is not None
    with _open(record.pane.server) as panes:
        return FoundAgent(panes, _its_agent(panes, record, name))


def find_pane(server: Server, target: str) -> FoundPane:
    """The pane that is meant, with an agent in it or not: one that has ended may be brought back."""
    with _open(server) as panes:
        return FoundPane(panes, target if is_pane(target) else _only_pane(panes, target.removeprefix("=")))


def find_pane_of_session(directory: str, name: str) -> FoundPane:
    """The pane of a session of ours, as long as it is still its own: the same number may be another's by now."""
    record = _recorded(directory, name)
    assert record.pane is not None
    with _open(record.pane.server) as panes:
        return FoundPane(panes, _its_pane(panes, record, name, directory))


def open_server(server: Server) -> FoundPane:
    """A server of which no pane is meant in particular."""
    with _open(server) as panes:
        return FoundPane(panes, "")


def in_words(target: str) -> str:
    """That there is no agent where it was looked for."""
    where = f"pane {target}" if target.startswith("%") else f"a session {target.removeprefix('=')!r}"
    return f"no agent in {where} there; `midwatch ls --panes` lists them"


@contextlib.contextmanager
def _open(server: Server, policy: Policy = PATIENT) -> Iterator[PaneObserver]:
    """What looks at a server. It is closed where nothing is found; else whoever is given the find closes it."""
    panes = PaneObserver(catalog.load_all(), paths.hook_spool(), server, policy)
    try:
        yield panes
    except BaseException:
        panes.close()
        raise


def _look(panes: PaneObserver, only: str | None = None) -> PanesObservation:
    looked = panes.observe(only)
    if looked.trouble:
        raise RefusedError(looked.trouble)
    return looked


def _only_agent(panes: PaneObserver, target: str) -> PaneVerdict:
    only = target if is_pane(target) else None
    looked = panes.observe(only)
    if looked.trouble:
        raise (NoServerError if looked.cause == codec.ABSENT else RefusedError)(looked.trouble)
    session = target.removeprefix("=")
    found = [seen for seen in looked.seen if only or codec.is_in_session(seen.sighting.pane, session)]
    if not found:
        raise NoAgentError(in_words(target))
    if len(found) > 1:
        several = ", ".join(f"{seen.sighting.pane.id} ({seen.sighting.agent})" for seen in found)
        raise RefusedError(f"there are {len(found)} agents in {session}: {several}; name the pane")
    return found[0]


def _only_pane(panes: PaneObserver, session: str) -> str:
    looked = _look(panes)
    inside = [pane.id for pane in looked.panes if codec.is_in_session(pane, session)]
    agents = [seen.sighting.pane.id for seen in looked.seen if seen.sighting.pane.id in inside]
    if not inside:
        raise NoAgentError(f"there is no session {session!r}; `tmux list-sessions` lists them")
    one = agents or inside
    if len(one) > 1:
        what = "agents" if agents else "panes without an agent"
        raise RefusedError(f"there are {len(one)} {what} in {session}: {', '.join(one)}; name the pane")
    return one[0]


def _recorded(directory: str, name: str) -> Record:
    """The record of a session, which has a pane."""
    if others := paths.find_sharing(directory):
        raise RefusedError(f"{others}; nothing is typed where such a directory says")
    try:
        text = sentinel_files.read(f"{directory}/{name}.json")
        record = sentinel.decode_record(text) if text is not None else None
    except FormatError as error:
        raise RefusedError(f"{name}: {error}") from error
    if record is None:
        raise NoAgentError(f"no session is called {name!r} here; `midwatch ls` lists them")
    if record.pane is None:
        raise RefusedError(f"{name} is a job without a pane; nothing can be typed there")
    return record


def _its_agent(panes: PaneObserver, record: Record, name: str) -> PaneVerdict:
    assert record.pane is not None
    seen = next((each for each in _look(panes, record.pane.id).seen if is_own_pane(record, each)), None)
    if seen is None:
        raise NoAgentError(f"the agent of {name} is not in its pane any more; `midwatch why {name}` tells more")
    return seen


def _its_pane(panes: PaneObserver, record: Record, name: str, directory: str) -> str:
    assert record.pane is not None
    pane = record.pane.id
    looked = _look(panes, pane)
    there = next((each for each in looked.panes if each.id == pane), None)
    ended = there is not None and there.dead and exited_agent.find_record(there, directory) == record
    if not ended and not any(is_own_pane(record, seen) for seen in looked.seen):
        raise NoAgentError(f"{name} is not in its pane any more; `midwatch why {name}` tells more")
    return pane
