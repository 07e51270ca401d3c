"""What there is of the sessions in a list: tmux's panes, processes, and what agents have written.

Nothing is ever changed by a look: no server is started, no file of an agent is touched. What could not be seen is
told as a trouble or as unknown, never as gone.
"""

from __future__ import annotations

from midwatch.agents.conversation_exists import ConversationIndex
from midwatch.agents.definition import Detector
from midwatch.core.presence import LIVES
from midwatch.registry.conversation_matching import ConversationMatcher, RowPaneMatch
from midwatch.registry.model import Place, RegistryRow, TmuxPane, TmuxSnapshot
from midwatch.registry.pane_cache import CachedPane, PaneCache
from midwatch.registry.row_process import find_process_state
from midwatch.system import processes
from midwatch.tmux import client as tmux_client


class RegistryObserver:
    """Kept from pass to pass."""

    def __init__(self, detectors: tuple[Detector, ...], spool: str, usual: Place = ()) -> None:
        self.detectors = detectors
        self.spool = spool
        self.usual = usual
        self._here = processes.current_place()
        self._artifacts = ConversationIndex()
        self._whose = ConversationMatcher(detectors, self._artifacts)
        self._servers: dict[str, PaneCache] = {}
        """By where they listen: a row may name one in another way."""

    def observe(
        self, rows: tuple[RegistryRow, ...], written: float = float("inf"), refused: dict[Place, str] | None = None
    ) -> TmuxSnapshot:
        """``written``: when the list was, by the wall clock; a process that is younger is in none of its rows.

        ``refused``: servers that are not asked, and why.
        """
        refused = refused or {}
        places: dict[Place | None, str] = {
            named: tmux_client.socket_path(self.usual if named is None else named)
            for named in dict.fromkeys((*(row.server for row in rows if row.server is not None), None))
        }
        named = {
            socket: self.usual if each is None else each
            for each, socket in reversed(places.items())
            if each is None or each not in refused
        }
        for socket in [socket for socket, server in self._servers.items() if named.get(socket) != server.server]:
            self._servers.pop(socket).close()
        for socket, server in named.items():
            if socket not in self._servers:
                self._servers[socket] = PaneCache(self.detectors, self.spool, server)
        found = {socket: server.observe() for socket, server in self._servers.items()}
        troubles = {named: why for named, socket in places.items() if (why := found.get(socket, ""))}
        seats = self._seats(rows, places)
        panes = [kept for server in self._servers.values() for kept in server.kept.values()]
        self._artifacts.begin()
        self._whose.begin()
        return TmuxSnapshot(
            _name_panes(rows, panes),
            troubles | dict(refused.items()),
            self._processes(rows, panes, written),
            {seat.row.at: self._artifact(seat) for seat in seats if seat.row.conversation},
            self._whose.appeared(seats, panes),
            self._whose.running(seats),
        )

    def place(self, server: Place | None) -> Place:
        """How panes of the server name it that a row names: by another row's words, if it is the same one."""
        server = self.usual if server is None else server
        found = self._servers.get(tmux_client.socket_path(server))
        return found.server if found else server

    def _seats(self, rows: tuple[RegistryRow, ...], places: dict[Place | None, str]) -> list[RowPaneMatch]:
        named: dict[tuple[str, str], list[CachedPane]] = {}
        for socket, server in self._servers.items():
            for kept in server.kept.values():
                for session in (kept.pane.session, *kept.pane.also):
                    named.setdefault((socket, session), []).append(kept)
        return [
            RowPaneMatch(row, _find_pane(row, named.get((places[row.server], _tmux_name(row.name)), [])))
            for row in rows
        ]

    def _processes(self, rows: tuple[RegistryRow, ...], panes: list[CachedPane], written: float) -> dict[int, str]:
        """A process that tmux has in a pane lives, as sure as it can be told, and needs no second look."""
        lives = {(kept.found.pid, kept.found.start) for kept in panes if not kept.found.dead}
        boot = self._here.boot
        return {
            row.at: LIVES
            if row.pane.boot == boot and row.pane.start and (row.pane.pid, row.pane.start) in lives
            else find_process_state(row.pane, row.agent, self._here, written)
            for row in rows
        }

    def _artifact(self, seat: RowPaneMatch) -> str:
        agent = seat.row.agent
        return self._artifacts.there(agent, seat.row.conversation, self._whose.environment(seat, agent))

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


def _tmux_name(name: str) -> str:
    """A session's name as tmux writes it."""
    return name.replace(".", "_").replace(":", "_")


def _find_pane(row: RegistryRow, panes: list[CachedPane]) -> CachedPane | None:
    """A row's pane among those of its session: with its agent, else as it names it, else the only one."""
    own = [kept for kept in panes if row.agent and kept.found.agent == row.agent] or panes
    named = [kept for kept in own if kept.found.pid == row.pane.pid or kept.found.id == row.pane.id]
    own = own if len(own) == 1 else named
    return own[0] if len(own) == 1 else None


def _name_panes(rows: tuple[RegistryRow, ...], panes: list[CachedPane]) -> tuple[TmuxPane, ...]:
    """All panes, each under the name that a row has for its session, or for another that shows the same window."""
    names = {_tmux_name(row.name): row.name for row in rows} | {row.name: row.name for row in rows}
    found = []
    for kept in panes:
        name = next((names[each] for each in (kept.pane.session, *kept.pane.also) if each in names), "")
        found.append(kept.found._replace(session=name) if name and name != kept.found.session else kept.found)
    return tuple(found)
