"""One tmux server: its panes, and what stands on the screens of those that are wanted.

A look is one client process: the list of panes and, with it, the screens known from the last look whose window has
printed since. New panes, and panes that changed without printing (reset, respawned, ended, moved), take a second one.
Windows say in whole seconds when they last printed, by the same clock of the same machine that we read; so a screen is
valid until its window prints in or after the second in which the look that saw it began.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable

from midwatch.core.names import is_pane
from midwatch.core.pane_model import Pane
from midwatch.core.value import Value
from midwatch.system import procfs
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec.commands import NO_TROUBLE, QueryReply, ReplyTrouble, TmuxServer
from midwatch.tmux.codec.query_modes import FORKED, QueryMode
from midwatch.tmux.control_client import ClientGoneError, ControlClient, ReplyLateError
from midwatch.tmux.socket_gate import UnsafeServerError

LIMIT = 2.0
"""Seconds that a look may take, all its clients together."""
JUMP = 0.05
"""Seconds by which the wall clock may drift from the monotonic one between looks; beyond, it was set."""
NO_TMUX, HUNG = "no-tmux", "hung"
"""Why nobody told, besides the causes that a client can name."""

Rows = tuple[str, ...]


class ServerSnapshot(Value):
    """What one look found. With trouble, what is missing here is unknown; it is not gone."""

    panes: tuple[Pane, ...]
    screens: dict[str, Rows]
    """Rows of each wanted pane, as `capture-pane -p` (with colours: `-pe`) prints them."""
    trouble: str = ""
    """Why something is missing and what to do about it, in words for a person; empty when all is here."""
    cause: str = ""
    """The same for a program: one of `tmux.codec.commands`' and of this module's words."""
    forks: int = 0


class ScreenCache:
    """Screens of the last look, and how to tell whether they are still as they were."""

    def __init__(self) -> None:
        self.since = 0
        self.clock = 0.0
        self.screens: dict[str, tuple[tuple[object, ...], Rows]] = {}
        self.restless: frozenset[str] = frozenset()
        """Panes that had printed since the look before: they are likely to have done so again."""

    def begin(self, known: Iterable[str]) -> dict[str, int]:
        """The panes to ask for at once, each with the second since when its screen may have changed; 0: in any case."""
        if abs(time.time() - time.monotonic() - self.clock) > JUMP:
            self.screens = dict.fromkeys(self.screens, ((), ()))
        kept = {pane: self.since if sign else 0 for pane, (sign, _) in self.screens.items()}
        return dict.fromkeys(known, 0) | kept | {pane: 0 for pane in kept if pane in self.restless}

    def rows(self, pane: Pane) -> Rows | None:
        sign, rows = self.screens.get(pane.id, ((), ()))
        return rows if sign == pane_sign(pane) and pane.activity < self.since else None

    def keep(self, began: float, panes: list[Pane], screens: dict[str, Rows]) -> None:
        """What was captured comes first: it is likely to change again, and there may not be room for all."""
        fresh = sorted([pane for pane in panes if pane.id in screens], key=lambda pane: -pane.activity)
        self.restless = frozenset([pane.id for pane in fresh if 0 < self.since <= pane.activity])
        self.since, self.clock = int(began), time.time() - time.monotonic()
        self.screens = {pane.id: (pane_sign(pane), screens[pane.id]) for pane in fresh}


def pane_sign(pane: Pane) -> tuple[object, ...]:
    """What the list tells of a pane that no screen can change without."""
    return (
        *(pane.window, pane.pid, pane.width, pane.height, pane.cursor_x, pane.cursor_y, pane.alternate),
        *(pane.dead, pane.dead_status, pane.dead_signal, pane.activity),
    )


class TmuxObserver:
    """One server, looked at again and again. Nothing of it is changed, and only `attach` has us attach to it."""

    def __init__(
        self, server: tuple[str, ...] = (), tmux: str = tmux_client.PROGRAM, limit: float = LIMIT,
        control: ControlClient | None = None,
    ) -> None:  # fmt: skip
        self.server = server
        self.tmux = tmux
        self.limit = limit
        self.control = control
        self.forks = 0
        self._memories = (ScreenCache(), ScreenCache())
        self._lines: dict[bytes, Pane] = {}
        """What was read of panes, by the line that told it."""
        self._there: TmuxServer | None = None
        self._start = 0
        self._late = False

    def attach(self, pane: Pane) -> ControlClient:
        """Look from now on through a client in control mode, as far as there can be one.

        The pane must be one that Midwatch started; what else must be so, the client sees to. It can be waited for. To
        be told again costs nothing, and is needed when the pane has got another process.
        """
        if self.control is None:
            self.control = ControlClient(tmux_client.socket_path(self.server), pane, self.tmux)
        self.control.serve(pane)
        return self.control

    def close(self) -> None:
        if self.control is not None:
            self.control.close()
        self.control = None

    def observe(
        self, wanted: Callable[[Pane], bool], *, colours: bool = False, known: Iterable[str] = ()
    ) -> ServerSnapshot:
        """List all panes and capture those that are wanted.

        Panes that are ``known`` beforehand by id take no second client when they are looked at for the first time.
        """
        panes, before = [*filter(is_pane, known)], self.forks
        control = self.control
        if control is None:
            return self._look(wanted, panes, FORKED, colours=colours)
        # Where no screen comes through it, a list that is followed by a client for the screens would save nothing.
        if control.ready() and (control.way.limit or not self._memories[colours].restless):
            try:
                return self._look(wanted, panes, control.way, colours=colours)
            except ClientGoneError:
                pass
        look = self._look(wanted, panes, FORKED, colours=colours)
        if not look.trouble and self._there is not None:
            self.forks += control.start(self._there.version)
        return look._replace(forks=self.forks - before)

    def _look(
        self, wanted: Callable[[Pane], bool], known: list[str], way: QueryMode, *, colours: bool
    ) -> ServerSnapshot:
        before, began, deadline = self.forks, time.time(), time.monotonic() + self.limit
        memory = self._memories[colours]
        word = codec.make_word(os.urandom(10))
        command = codec.survey_command(word, memory.begin(known), colours=colours, way=way)
        reply, trouble = self._ask(command, word, deadline, way)
        if trouble.cause:
            return ServerSnapshot((), {}, trouble.words, trouble.cause, self.forks - before)
        if way.guarded and reply.server is None:
            raise self._useless()
        if reply.server != self._there:
            self._meet(reply.server)
        panes = [pane for pane in reply.panes if wanted(pane)]
        screens = {pane.id: rows for pane in panes if (rows := reply.screens.get(pane.id) or memory.rows(pane))}
        missing = [pane.id for pane in panes if pane.id not in screens]
        word = codec.make_word(os.urandom(10))
        way = way if way.limit else FORKED
        for command in codec.capture_commands(word, missing, colours=colours, way=way):
            more, trouble = self._ask(command, word, deadline, way)
            screens |= more.screens
            if trouble.cause:
                break
        memory.keep(began, panes, screens)
        return ServerSnapshot(reply.panes, screens, trouble.words, trouble.cause, self.forks - before)

    def _meet(self, there: TmuxServer | None) -> None:
        """Another server than last time: what was kept of its predecessor means nothing."""
        for memory in self._memories:
            memory.screens.clear()
        self._there = there
        self._start = procfs.start_time(there.pid) if there else 0

    def _ask(self, command: list[str], word: str, deadline: float, way: QueryMode) -> tuple[QueryReply, ReplyTrouble]:
        nothing = QueryReply(None, (), {}, complete=False)
        place = tmux_client.socket_path(self.server)
        if way.guarded:
            return self._ask_control(command, word, deadline) or (nothing, self._hung(place))
        if not tmux_client.is_socket(place):
            if why := tmux_client.find_refusal(
                place
            ):  # in a directory of others, it means nothing that there is no socket
                return nothing, ReplyTrouble(codec.REFUSED, why)
            return nothing, codec.read_trouble(f"no server running on {place}", place)
        if self._late and self._stopped():
            return nothing, self._hung(place)
        try:
            answer = tmux_client.run_client(place, command, deadline, tmux=self.tmux)
        except UnsafeServerError as error:
            return nothing, ReplyTrouble(codec.REFUSED, str(error))
        except OSError as error:
            return nothing, self._unstarted(error)
        self.forks += 1
        self._late = answer.late
        if answer.late:
            return nothing, self._hung(place)
        reply = codec.read_reply(answer.out, word, self.server, known=self._lines)
        if reply.server and codec.is_too_old(reply.server.version):
            return nothing, codec.outdated_trouble(reply.server.version, place)
        if reply.complete or codec.has_no_session(answer.errors) or codec.is_pane_gone(answer.errors):
            return reply, NO_TROUBLE
        trouble = codec.read_trouble(answer.errors, place)
        return reply, self._older(place, deadline) or trouble if trouble.cause == codec.OTHER else trouble

    def _ask_control(self, command: list[str], word: str, deadline: float) -> tuple[QueryReply, ReplyTrouble] | None:
        """None when no answer came in time; GoneError when it must be asked in another way."""
        if self.control is None:
            raise ClientGoneError("there is no client")
        try:
            answer = self.control.ask(command, word, deadline)
        except ReplyLateError:
            self._late = True
            return None
        self._late = False
        reply = codec.read_reply(answer.text, word, self.server, self.control.way, self._lines)
        if reply.complete or codec.is_pane_gone(answer.errors):
            return reply, NO_TROUBLE
        raise self._useless()

    def _useless(self) -> ClientGoneError:
        if self.control is not None:
            self.control.drop()
        return ClientGoneError("the tmux client did not answer as expected")

    def _older(self, place: str, deadline: float) -> ReplyTrouble | None:
        """Whether our request was not understood because tmux is too old for it."""
        try:
            self.forks += 1
            version = tmux_client.client_version(deadline, self.tmux)
        except OSError:
            return None
        return codec.outdated_trouble(version, place) if codec.is_too_old(version) else None

    def _unstarted(self, error: OSError) -> ReplyTrouble:
        if isinstance(error, FileNotFoundError):
            return ReplyTrouble(NO_TMUX, f"there is no {self.tmux} in PATH; install tmux, or add its directory to PATH")
        return ReplyTrouble(NO_TMUX, f"{self.tmux} cannot be started: {error.strerror or error}")

    def _stopped(self) -> bool:
        if self._there is None or procfs.start_time(self._there.pid) != self._start:
            return False
        try:
            return procfs.stat_fields(self._there.pid)[0] in "Tt"
        except (OSError, ValueError):
            return False

    def _hung(self, place: str) -> ReplyTrouble:
        words = (
            f"the tmux server at {place} did not answer within {self.limit:g} s; until it does, its panes are unknown"
        )
        if self._there and self._stopped():
            words = f"the tmux server at {place} is stopped; `kill -CONT {self._there.pid}` lets it go on"
        return ReplyTrouble(HUNG, words)
