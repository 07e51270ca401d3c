"""Which conversation can only be that of a row which has none noted yet.

Surest is what the agent's own process says. Where no process says anything, it is the one conversation that was written
in the pane's directory since the pane's process started; but only if nobody else there could have written it: no other
row, no other pane, no agent outside of tmux.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cached_property

from midwatch.agents import conversation_holders, parts
from midwatch.agents.conversation_exists import ConversationIndex
from midwatch.agents.definition import Detector
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.new_conversations import NewConversations, UnreadableConversationError
from midwatch.agents.state_file_reader import StateFiles
from midwatch.core.pane_model import ProcessInfo, RunningAgent
from midwatch.core.presence import THERE
from midwatch.core.value import Value
from midwatch.registry.model import RUNNING, RegistryRow
from midwatch.registry.pane_cache import CachedPane
from midwatch.system import process_tree


class RowPaneMatch(Value):
    """A row, and its pane where one is found."""

    row: RegistryRow
    kept: CachedPane | None


class UnplacedAgent(Value):
    """An agent that runs in no pane that we know."""

    cwd: str
    conversation: str
    """Empty where it does not say."""


class ConversationMatcher:
    """Kept from pass to pass."""

    def __init__(self, detectors: tuple[Detector, ...], artifacts: ConversationIndex) -> None:
        self._detectors = {each.agent: each for each in detectors}
        self._artifacts = artifacts
        self._arrivals = NewConversations()
        self._heads = FileHeadCache()
        self._homes: dict[tuple[int, int, str, str], RunningAgent | None] = {}
        self._strangers: dict[str, list[UnplacedAgent]] = {}
        self._ours: dict[str, str] = {}

    def begin(self) -> None:
        """Another pass: processes may have come and gone."""
        self._ours = dict(os.environ)
        self._strangers = {}

    def environment(self, seat: RowPaneMatch, agent: str) -> dict[str, str]:
        """By what the agent's files are found: as its process has it, else the pane's, else as we have it."""
        kept = seat.kept
        if kept is None:
            return self._ours
        running = kept.running if kept.found.agent == agent else self._of_pane(kept, agent)
        return (running and running.environment) or self._ours

    def _of_pane(self, kept: CachedPane, agent: str) -> RunningAgent | None:
        """The pane's process as if it were the agent: it was started as the agent will have been."""
        found, detector = kept.found, self._detectors.get(agent)
        if not found.start or detector is None:
            return None
        # With its command: until it became that program, it had the variables of who started it.
        who = (found.pid, found.start, agent, found.command)
        if who not in self._homes:
            task = ProcessInfo(found.pid, 0, "?", "", (), found.start)
            self._homes[who] = process_tree.find_running_agent(task, agent, detector.variables)
        running = self._homes[who]
        return running and running._replace(cwd=found.cwd)

    def appeared(self, seats: list[RowPaneMatch], panes: list[CachedPane]) -> dict[int, str]:
        """By row: the conversation that can only be its own."""
        around = _OtherAgents(seats, panes)
        self._homes = {who: home for who, home in self._homes.items() if who[:2] in around.processes}
        wanted = [seat for seat in seats if seat.row.status == RUNNING and not seat.row.conversation]
        found = {seat.row.at: name for seat in wanted if seat.kept and (name := self._only(seat, seat.kept, around))}
        counts = Counter(found.values())
        return {at: name for at, name in found.items() if counts[name] == 1}

    def running(self, seats: list[RowPaneMatch]) -> dict[int, RunningAgent]:
        """By row that runs: its agent, with the directory and the variables that tell where its conversations begin."""
        return {
            seat.row.at: running
            for seat in seats
            if seat.row.status == RUNNING and seat.kept and (agent := _expected_agent(seat, seat.kept))
            if (running := self._running(seat.kept, agent))
        }

    def _only(self, seat: RowPaneMatch, kept: CachedPane, around: _OtherAgents) -> str:
        agent, found = _expected_agent(seat, kept), kept.found
        if not agent:
            return ""
        name = found.conversation if found.agent else ""
        name = name or self._arrived(seat, kept, agent, around)
        if not name or name in around.noted or around.opened[name] > (found.conversation == name):
            return ""
        return name if self._artifacts.there(agent, name, self.environment(seat, agent)) == THERE else ""

    def _arrived(self, seat: RowPaneMatch, kept: CachedPane, agent: str, around: _OtherAgents) -> str:
        """The one that was written there since, if nobody else can have written it."""
        running = self._running(kept, agent)
        if running is None:
            return ""
        try:
            found = self._arrivals.since(running) - around.noted - around.opened.keys()
        except UnreadableConversationError:
            return ""
        if len(found) != 1 or around.doubtful(seat, kept, running):
            return ""
        strangers = [each for each in self._outside(agent, around) if each.cwd == running.cwd]
        found -= {each.conversation for each in strangers}
        return "" if any(not each.conversation for each in strangers) else next(iter(found), "")

    def _running(self, kept: CachedPane, agent: str) -> RunningAgent | None:
        """A pane's agent as it was started, or will have been; None where its directory is not known."""
        running = kept.running if kept.found.agent else self._of_pane(kept, agent)
        if running is None or not running.cwd:
            return None
        return running if running.environment else running._replace(environment=self._ours)

    def _outside(self, agent: str, around: _OtherAgents) -> list[UnplacedAgent]:
        """Agents on this machine that are in no pane of ours; looked for once in a pass, and only when it matters."""
        if agent not in self._strangers:
            known = {pid for pid, _ in around.processes}
            detector = self._detectors[agent]
            tasks = [
                task
                for task in conversation_holders.find_running_agents(detector)
                if not known & process_tree.list_ancestry(task.pid)
            ]
            runs = [
                found for task in tasks if (found := process_tree.find_running_agent(task, agent, detector.variables))
            ]
            self._strangers[agent] = [UnplacedAgent(each.cwd, self._says(each)) for each in runs]
        return self._strangers[agent]

    def _says(self, running: RunningAgent) -> str:
        state = StateFiles().read(running)
        said = state.words.get("conversation", "") if state else ""
        return said or parts.files(running.agent).own_conversation(running, self._heads)


class _OtherAgents:
    """Everybody else, in one pass."""

    def __init__(self, seats: list[RowPaneMatch], panes: list[CachedPane]) -> None:
        self._seats = seats
        self._panes = panes
        self.processes = {(kept.found.pid, kept.found.start) for kept in panes}
        self.noted = {seat.row.conversation for seat in seats}
        """Conversations that rows have."""
        self.opened = Counter([kept.found.conversation for kept in panes])

    @cached_property
    def _rooms(self) -> dict[str, tuple[list[RowPaneMatch], list[CachedPane]]]:
        """Who is in which directory, of those of whom nothing tells what they have written there."""
        rooms: dict[str, tuple[list[RowPaneMatch], list[CachedPane]]] = {}
        for seat in self._seats:
            told = seat.row.conversation or (seat.kept and seat.kept.found.conversation)
            if not told and (cwd := (seat.kept and _working_directory(seat.kept)) or seat.row.pane.cwd):
                rooms.setdefault(_real_path(cwd), ([], []))[0].append(seat)
        for kept in self._panes:
            if kept.found.agent and not kept.found.conversation:
                rooms.setdefault(_real_path(_working_directory(kept)), ([], []))[1].append(kept)
        return rooms

    def doubtful(self, seat: RowPaneMatch, kept: CachedPane, running: RunningAgent) -> bool:
        """Whether another row's or pane's agent may have written in that directory since."""
        seats, panes = self._rooms.get(_real_path(running.cwd), ((), ()))
        if any(each.found.agent == running.agent and each is not kept for each in panes):
            return True
        rows = [each.row for each in seats if each.row.at != seat.row.at and each.row.agent in ("", running.agent)]
        return any(row.status == RUNNING or row.since is None or row.since >= running.started for row in rows)


def _expected_agent(seat: RowPaneMatch, kept: CachedPane) -> str:
    """The agent of a row; empty where none is known, or where another one runs in its pane."""
    agent = seat.row.agent or kept.found.agent
    return agent if kept.found.agent in ("", agent) else ""


def _working_directory(kept: CachedPane) -> str:
    return kept.running.cwd if kept.running else kept.found.cwd


def _real_path(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:
        return path  # no name of a file
