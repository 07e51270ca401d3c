"""The panes of one tmux server, looked at closely only where something may have changed.

tmux lists a pane with its process, its command, its directory and the second in which its window last printed. A pane
whose line is the same, and whose agent lives and has written nothing, is what it was: it costs a comparison and a few
stats. Everything is looked at closely again after a while, whatever the list says.
"""

from __future__ import annotations

import os
import time

from midwatch.agents import parts
from midwatch.agents.definition import Detector
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.state_file_reader import path_of
from midwatch.core.exhaustive import assert_never
from midwatch.core.pane_model import Pane, RunningAgent, SourceReport
from midwatch.core.turn_state import Departed, Idle, Limited, Suspended, Unread, Waiting, Working
from midwatch.core.value import Value
from midwatch.registry.model import Place, TmuxPane
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.system import procfs
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec

AGAIN = 300.0
"""Seconds after which a pane is looked at closely, though nothing seems to have changed."""
FIRST_HAND = {False: ("state", "api", "hook"), True: ("state",)}
"""Who knows the conversation of a process. A daemon that serves several panes, and its hooks, can only guess."""
STEPS = 16
"""In how many steps that is spread over the panes, so that they do not all fall due at once."""


class CachedPane(Value):
    """A pane as it was when it was last looked at closely."""

    pane: Pane
    found: TmuxPane
    running: RunningAgent | None
    """Its agent."""
    sure: str
    """The conversation that it said itself to have open."""
    signs: tuple[tuple[str, tuple[int, ...]], ...]
    """What would change without the pane's line: files that the agent writes, and how they were."""
    due: float
    """When it is looked at closely in any case (monotonic); 0 where it may have changed while we looked."""


class PaneCache:
    """Kept from pass to pass."""

    def __init__(self, detectors: tuple[Detector, ...], spool: str, server: Place) -> None:
        self.server = server
        self.panes = PaneObserver(detectors, spool, server)
        self.kept: dict[str, CachedPane] = {}
        self._heads = FileHeadCache()
        self._same: set[str] = set()
        self._now = 0.0

    def observe(self) -> str:
        """Bring what is kept up to date; why that could not be done, or empty.

        That there is no server is an answer, also where one has ended and left its socket behind. A socket that
        somebody has, and that lets nobody in, is none.
        """
        wall, self._now = int(time.time()), time.monotonic()
        self._same = set()
        looked = self.panes.observe(passed=self._unchanged)
        if looked.cause == codec.ABSENT and not self._is_held():
            self.kept = {}
            return ""
        seen = {each.sighting.pane.id: each for each in looked.seen}
        self.kept = {
            pane.id: self.kept[pane.id] if pane.id in self._same else self._closely(pane, seen.get(pane.id), wall)
            for pane in looked.panes
        }
        return looked.trouble

    def _is_held(self) -> bool:
        socket = tmux_client.socket_path(self.server)
        return tmux_client.is_socket(socket) and tmux_client.is_open(socket)

    def _unchanged(self, pane: Pane) -> bool:
        kept = self.kept.get(pane.id)
        if kept is None or kept.pane != pane or self._now >= kept.due:
            return False
        if kept.running and not os.access(f"/proc/{kept.running.pid}", os.F_OK):
            return False
        if any(_file_state(path) != state for path, state in kept.signs):
            return False
        self._same.add(pane.id)
        return True

    def _closely(self, pane: Pane, seen: PaneVerdict | None, wall: int) -> CachedPane:
        known = self.panes.known.get(pane.id)
        agent = known.detector.agent if known and not (seen and seen.verdict.process == "gone") else ""
        running = known.running if known and agent else None
        sure = self._sure(pane.id, running, seen) if running and seen else ""
        own = sure or (parts.files(running.agent).own_conversation(running, self._heads) if running else "")
        start = 0 if pane.dead else procfs.start_time(pane.pid)
        found = TmuxPane(
            self.server, pane.id, pane.session, pane.pid, start, pane.command, pane.path, pane.dead, agent,
            _turn_word(seen) if seen else "", latest_conversation(own, seen.sighting.reports if seen else ()),
        )  # fmt: skip
        settled = pane.activity < wall and (known is None or known.memory is None or known.memory.pending is None)
        due = self._now + AGAIN * (1 - int(pane.id[1:]) % STEPS / STEPS / 2) if settled else 0.0
        return CachedPane(pane, found, running, sure, _change_signs(running, seen), due)

    def _sure(self, pane: str, running: RunningAgent, seen: PaneVerdict) -> str:
        """What the agent itself says that it has open; one that says so only while it works has it open still."""
        told = {each.source: each.words.get("conversation", "") for each in seen.sighting.reports}
        sources = FIRST_HAND[parts.files(running.agent).hooks_by_daemon]
        said = next((talk for source in sources if (talk := told.get(source))), "")
        before = self.kept.get(pane)
        same = before is not None and before.running is not None and before.running[:3] == running[:3]
        return said or (before.sure if before is not None and same else "")

    def close(self) -> None:
        self.panes.close()


def latest_conversation(own: str, reports: tuple[SourceReport, ...]) -> str:
    """A conversation, unless the agent's server knows that another was begun since: a command line stays as it was."""
    served = next((each for each in reports if each.source == "api"), None) if own else None
    if served is None or not (served.unclear or served.words.get("conversation")):
        return own
    return served.words.get("conversation", "")


def _turn_word(seen: PaneVerdict) -> str:
    """What the agent is at, in a word or two."""
    match seen.verdict.turn_state:
        case Waiting(reason=wanted):
            return f"waiting for {wanted}" if wanted else "waiting"
        case Unread():
            return ""
        case Working() | Limited() | Idle() | Suspended() | Departed():
            return seen.verdict.turn
        case other:
            return assert_never(other)


def _change_signs(running: RunningAgent | None, seen: PaneVerdict | None) -> tuple[tuple[str, tuple[int, ...]], ...]:
    paths = [path] if running and (path := path_of(running)) else []
    paths += [each.words["path"] for each in (seen.sighting.reports if seen else ()) if each.words.get("path")]
    return tuple((path, _file_state(path)) for path in paths)


def _file_state(path: str) -> tuple[int, ...]:
    try:
        now = os.stat(path)
    except OSError:
        return ()
    return now.st_ino, now.st_size, now.st_mtime_ns
