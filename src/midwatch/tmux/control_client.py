"""A client in control mode, through which a tmux server is asked without a fork.

It attaches to a session that Midwatch started, and to no other (`codec.control_mode.attach` says when). What it leaves
there is its own presence: the session counts as attached; and an agent that asked to be told is told once that its
terminal has the focus, because tmux takes every client for one that looks, but not that it has lost it (tried). As soon
as a person comes, it goes, and does not come back.

What the server tells of itself says only that it is time to look. Whatever becomes of the client, looks go on without.
"""

from __future__ import annotations

import os
import select
import time

from midwatch.core.errors import MidwatchError
from midwatch.core.pane_model import Pane
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import control_mode, query_modes
from midwatch.tmux.codec.control_mode import ControlModeParser, ControlNotice, ControlReply, Heard
from midwatch.tmux.socket_gate import UnsafeServerError

AGAIN, LONGEST = 10.0, 600.0
"""Seconds between the starts of two clients: at least; and at most, if none of them could attach."""
SLOW = 5.0
"""Seconds within which a client must be attached."""
READS = 4
"""Chunks that are read before anything else is done; a pipe holds one."""
TELLING = frozenset(
    (
        *("sessions-changed", "session-renamed", "session-window-changed", "layout-change"),
        *("window-add", "window-close", "unlinked-window-add", "unlinked-window-close"),
    )
)
"""Notices that mean that it is time to look."""
NEVER = float("inf")


class ClientGoneError(MidwatchError):
    """There is no client any more."""


class ReplyLateError(MidwatchError):
    """The answer did not come in time."""


class ControlClient:
    """The client for one server, started when it can be and again when it was lost."""

    def __init__(self, place: str, pane: Pane, tmux: str = tmux_client.PROGRAM) -> None:
        """A pane that Midwatch started, as a look saw it, of the server that listens at a place."""
        self.way = query_modes.LISTED
        self.pane = pane
        self._place, self._program = place, tmux
        self._poll = select.epoll()
        self._client: _Client | None = None
        self._session = ""
        """The id of the session that the client is attached to."""
        self._due = 0.0
        self._pause = AGAIN
        self._stirred = False

    def serve(self, pane: Pane) -> None:
        """From now on attach to this pane's session. A client that is attached stays: any session of ours will do."""
        if pane.session != self.pane.session:
            self._due, self._pause = 0.0, AGAIN
        self.pane = pane

    def fileno(self) -> int:
        """The same for ever, whatever becomes of the client."""
        return self._poll.fileno()

    def read(self) -> bool:
        """Take in what the server has told; whether it is time to look. To be asked before each sleep."""
        self._take()
        stirred, self._stirred = self._stirred, False
        return stirred

    def ready(self) -> bool:
        """Whether a server can be asked through it now."""
        self._take()
        if self._client is not None and not self._session and time.monotonic() > self._client.began + SLOW:
            self.drop()
        return bool(self._session)

    def start(self, version: str) -> int:
        """Start a client, if there is none and it is time; how many were started. The server must have answered."""
        way, now = query_modes.control_mode_for(version), time.monotonic()
        if self._client is not None or way is None or now < self._due:
            return 0
        self._due, self._pause, self.way = now + self._pause, min(2 * self._pause, LONGEST), way
        try:
            self._client = _Client(self._place, control_mode.attach_command(self.pane), self._program)
        except (OSError, UnsafeServerError):
            return 0
        self._poll.register(self._client.out, select.EPOLLIN)
        return 1

    def ask(self, command: list[str], word: str, deadline: float) -> ControlReply:
        """Run a command that is asked with that word. GoneError; or ReplyLateError: the client is gone then, too."""
        if self._client is None:
            raise ClientGoneError("there is no client")
        try:
            heard = self._client.ask(control_mode.encode_request(command, word, self.way), word, deadline)
        except BaseException:  # also when we were interrupted: half a request is no request
            self.drop()
            raise
        self._hear(heard)
        return next(each for each in heard if isinstance(each, ControlReply))

    def drop(self) -> None:
        """End the client, if there is one. Another may be started later."""
        if self._client is not None:
            self._poll.unregister(self._client.out)
            self._client.end()
            self._stirred = True
        self._client, self._session = None, ""

    def close(self) -> None:
        self.drop()
        self._poll.close()

    def _take(self) -> None:
        if self._client is not None:
            try:
                self._hear(self._client.read())
            except ClientGoneError:
                self.drop()

    def _hear(self, heard: list[Heard]) -> None:
        for each in heard:
            if not isinstance(each, ControlNotice):
                continue
            session = next((part for part in each.rest.split(" ") if part.startswith("$")), "")
            if each.name == "session-changed" and not self._session:
                self._session, self._pause = session, AGAIN
            elif each.name == "session-changed" or (each.name == "client-session-changed" and session == self._session):
                self._due = NEVER  # ours has ended and we were put into another, or a person has come
                self.drop()
                return
            self._stirred |= each.name in TELLING


class _Client:
    """One process, its two pipes, and what comes out of them."""

    def __init__(self, place: str, words: list[str], tmux: str) -> None:
        self.began = time.monotonic()
        self._parser = ControlModeParser()
        asked, self._in = os.pipe()
        self.out, told = os.pipe()
        try:
            self._pid = tmux_client.start_control_client(place, words, (asked, told), tmux)
        except (OSError, UnsafeServerError):
            self._close()
            raise
        finally:
            os.close(asked)
            os.close(told)
        os.set_blocking(self._in, False)
        os.set_blocking(self.out, False)

    def read(self) -> list[Heard]:
        """What has come, but not without end; GoneError at the end."""
        heard: list[Heard] = []
        for _ in range(READS):
            try:
                data = os.read(self.out, tmux_client.CHUNK)
            except BlockingIOError:
                break
            if not data:
                raise ClientGoneError("the tmux client has ended")
            heard += self._parser.feed(data)
        return heard

    def ask(self, request: bytes, word: str, deadline: float) -> list[Heard]:
        """Everything up to the answer, and what came with it."""
        left = request
        self._parser.expect(word)
        heard: list[Heard] = []
        poll = select.poll()
        poll.register(self.out, select.POLLIN)
        poll.register(self._in, select.POLLOUT)
        while not any(isinstance(each, ControlReply) for each in heard):
            patience = deadline - time.monotonic()
            if patience < 0 or not poll.poll(patience * 1000):
                raise ReplyLateError("the tmux server does not answer")
            if left:
                left = left[self._write(left) :]
                if not left:
                    poll.unregister(self._in)
            heard += self.read()
        return heard

    def _write(self, data: bytes) -> int:
        try:
            return os.write(self._in, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise ClientGoneError("the tmux client has ended") from None

    def end(self) -> None:
        tmux_client.end_client(self._pid, at_once=True)
        self._close()

    def _close(self) -> None:
        os.close(self._in)
        os.close(self.out)
