"""Sessions of tmux that Midwatch opens: making one, running something in its pane again, capturing it, closing it.

Targets are ids, which no other session can have: a name would be matched by its beginning. Options are set on our own
pane only. What is run in a pane is words that anyone may read; all else goes over a private socket.
"""

from __future__ import annotations

import os
import shlex
import time

from midwatch.core.errors import RefusedError
from midwatch.core.job_model import PaneRef
from midwatch.core.numbers import parse_whole_number
from midwatch.tmux import client as tmux_client
from midwatch.tmux.client import ClientResult
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec import guarded_input
from midwatch.tmux.socket_gate import UnsafeServerError

LIMIT = 10.0
A_PERSONS_TURN = 5.0
"""Seconds for which no line is typed after a person who is attached has touched a key."""
LEAVING = ("server exited", "lost server", "no server running")
"""What is said to whoever comes while a server ends that has just lost its last session; the next one starts anew."""
LEAVES, SOON = 5.0, 0.02
SIZE = (120, 40)
"""Columns and rows until somebody attaches."""
TOLD = "#{socket_path}\t#{pane_id}\t#{session_name}\t#{pid} #{start_time}"
OPENING = ("new-session", "-d", "-P", "-F")
SERVER = " ".join(OPENING)
"""What stands in the command line of a server that was started by opening a session here: others need it too."""
DONE = (";", "display-message", "-p", "done")
DEFUSE = "if -F -t {pane} '#{{!=:#{{pane_dead_status}},0}}' 'send-keys -R -t {pane}'"
"""Up to 3.3a a server crashes when somebody attaches to a dead pane whose program wanted to hear of the focus (tried).

A shim that ends takes such wishes back; for one that was killed the server does it itself, and its last screen is lost.
"""
SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+@-")


class SessionNameTakenError(RefusedError):
    """There is a session of that name, which is not ours."""


class TmuxSessions:
    """One tmux server; the arguments are those that reach it."""

    def __init__(
        self, server: tuple[str, ...], tmux: str = tmux_client.PROGRAM, *, limit: float = LIMIT
    ) -> None:  # fmt: skip
        self.server = server
        self.tmux = tmux
        self.limit = limit
        """Seconds that the server has for an answer."""

    def open(self, name: str, cwd: str, command: list[str], size: tuple[int, int] = SIZE) -> PaneRef:
        """A new session with one pane, in which a command runs; it stays there when that has ended."""
        made = (
            "-s",
            tmux_session_name(name),
            "-c",
            _escape_formats(cwd),
            "-x",
            str(size[0]),
            "-y",
            str(size[1]),
            *command,
        )
        asked = (*OPENING, TOLD, *made)
        answer = self._ask(*asked, starting=True)
        until = time.monotonic() + LEAVES
        while answer.errors.startswith(LEAVING) and time.monotonic() < until:
            time.sleep(SOON)
            answer = self._ask(*asked, starting=True)
        seat = _parse_pane(_check_answer(f"no session {name} could be made", answer, self.limit))
        self.server = seat.server
        try:
            self._ask("set-option", "-p", "-t", seat.id, "remain-on-exit", "on")
            self._ask("set-hook", "-p", "-t", seat.id, "pane-died", DEFUSE.format(pane=seat.id))
        except BaseException:  # Ctrl-C: whoever asked does not know of it yet
            self.close(seat)
            raise
        return seat

    def seat(self, pane: str) -> PaneRef:
        """A pane that is there, whoever opened it."""
        return _parse_pane(self._must(f"pane {pane} is not to be found", "display-message", "-p", "-t", pane, TOLD))

    def is_left(self, seat: PaneRef) -> bool:
        """Whether a pane of ours is still there, on this server, and what ran in it has ended."""
        if tmux_client.socket_path(self.server) != tmux_client.socket_path(seat.server):
            return False
        told = self._ask("display-message", "-p", "-t", seat.id, "#{pane_dead} #{session_name} #{pid} #{start_time}")
        return told.out.decode(errors="replace").strip() == f"1 {seat.session} {seat.life}"

    def respawn(self, seat: PaneRef, cwd: str, command: list[str]) -> None:
        """Run a command in a pane whose last one has ended; never in one that is alive."""
        what = f"nothing could be started in pane {seat.id}"
        self._must(what, "respawn-pane", "-t", seat.id, "-c", _escape_formats(cwd), *command, *DONE)

    def capture(self, seat: PaneRef, command: list[str], *, answers: bool = False) -> None:
        """Give all that the pane shows from now on to a program, whose last argument is the pane's terminal.

        ``answers``: what that program prints is typed into the pane.
        """
        spelled = f"{_format_command(command)} '#{{pane_tty}}'"
        ways = "-IO" if answers else "-O"
        self._must(f"pane {seat.id} cannot be captured", "pipe-pane", ways, "-t", seat.id, spelled, *DONE)

    def listen(self, pane: str, command: list[str]) -> None:
        """The same for a pane that somebody else opened, which is only read; never where a pipe is in use."""
        spelled = _quote_argument(f"{_format_command(command)} '#{{pane_tty}}'")
        free, done = f"pipe-pane -O -t {pane} {spelled} ; display-message -p done", "display-message -p used"
        said = self._must(f"pane {pane} cannot be read", "if-shell", "-F", "-t", pane, "#{pane_pipe}", done, free)
        if said.strip() != "done":
            raise RefusedError(f"pane {pane} is piped to a program already (`pipe-pane`); it is left as it is")

    def hush(self, pane: str) -> None:
        """Close the pipe of a pane."""
        self._ask("pipe-pane", "-t", pane)

    def close(self, seat: PaneRef) -> str:
        """End the capture, and exactly that session. Returns why not; empty when it is gone."""
        try:
            asked = self._ask("display-message", "-p", "-t", seat.id, f"#{{session_id}}\t{TOLD}")
        except UnsafeServerError as error:
            return str(error)
        if asked.late:
            return f"tmux did not answer within {self.limit:g} s"
        number, _, _, name, life = [*asked.out.decode(errors="replace").rstrip("\n").split("\t"), *4 * [""]][:5]
        if not number.startswith("$") or life != seat.life:
            return ""  # the pane is gone, and the session was nothing else
        if name != seat.session:
            return f"its pane is in session {name} now, which is not ours"
        self._ask("pipe-pane", "-t", seat.id)
        return self._end("kill-session", number)

    def remove(self, seat: PaneRef) -> str:
        """Close exactly that pane, whoever opened it; its session goes with its last one. Returns why not."""
        try:
            asked = self._ask("display-message", "-p", "-t", seat.id, "#{pane_id} #{pid} #{start_time}")
        except UnsafeServerError as error:
            return str(error)
        if asked.late:
            return f"tmux did not answer within {self.limit:g} s"
        if asked.out.decode(errors="replace").strip() != f"{seat.id} {seat.life}":
            return ""
        return self._end("kill-pane", seat.id)

    def type_line(self, pane: str, pid: int, command: str) -> str:
        """Type a command into a pane's shell and press Enter, if its process is that one.

        Not while somebody who is attached types, and in no mode. Returns why not; empty when it was typed.
        """
        buffer = f"midwatch-{codec.make_word(os.urandom(10))}"
        try:
            if self._is_touched(pane):
                return "somebody is typing there"
            answer = self._ask(*guarded_input.line_command(pane, pid, command, buffer))
            said = answer.out.decode(errors="replace").strip()
            if said == "typed":
                return ""
            if answer.errors or answer.late:
                self._ask(*guarded_input.delete_command(buffer))
                return answer.errors.strip() or "tmux does not answer"
        except UnsafeServerError as error:
            return str(error)
        return "it is in copy mode"

    def end_session(self, name: str, pane: str) -> str:
        """End the capture of a pane, if one is given, and exactly the session of that name, whoever opened it.

        Returns why not; empty when it is gone.
        """
        try:
            if pane:
                self.hush(pane)
            listed = self._ask("list-sessions", "-F", "#{session_id} #{session_name}")
            pairs = [line.partition(" ") for line in listed.out.decode(errors="surrogateescape").splitlines()]
            meant = [number for number, _, called in pairs if called == name]
            if not meant:
                return listed.errors.strip()
            return self._end("kill-session", meant[0])
        except UnsafeServerError as error:
            return str(error)

    def _end(self, command: str, target: str) -> str:
        """Why it could not be ended. A server that ends with its last session may not get round to answer."""
        said = self._ask(command, "-t", target).errors.strip()
        return "" if said.startswith(LEAVING) else said

    def _is_touched(self, pane: str) -> bool:
        """Whether a person who is attached to a pane's session has just touched a key."""
        found = self._ask("list-clients", "-t", pane, "-F", "#{client_activity}").out.split()
        return any(time.time() - (parse_whole_number(moment.decode()) or 0) < A_PERSONS_TURN for moment in found)

    def _must(self, what: str, *command: str) -> str:
        return _check_answer(what, self._ask(*command), self.limit)

    def _ask(self, *command: str, starting: bool = False) -> ClientResult:
        place = tmux_client.socket_path(self.server)
        try:
            return tmux_client.run_client(
                place, [*command], time.monotonic() + self.limit, tmux=self.tmux, starting=starting
            )
        except OSError as error:
            why = f"{self.tmux} cannot be started: {error.strerror}"
            if starting and isinstance(error, FileNotFoundError):
                why = "there is no tmux in PATH; install it, or use --headless"
            return ClientResult(b"", why, late=False)


def _check_answer(what: str, answer: ClientResult, limit: float) -> str:
    if not answer.out:
        why = answer.errors.strip() or f"tmux did not answer within {limit:g} s"
        if why.startswith("duplicate session"):
            left = "it is not ours, so it is left alone: choose another name, or close it yourself"
            raise SessionNameTakenError(f"{what}: {why}; {left}")
        raise RefusedError(f"{what}: {why}")
    return answer.out.decode(errors="replace")


def _parse_pane(told: str) -> PaneRef:
    path, pane, session, life = told.rstrip("\n").split("\t")
    return PaneRef(("-S", path), pane, session, life)


def tmux_session_name(name: str) -> str:
    """As tmux may write it: no target can have a dot or a colon in it."""
    return "".join(letter if letter in SAFE else "_" for letter in name)


def _format_command(command: list[str]) -> str:
    """A command for tmux, which expands it (# and %) before a shell reads it."""
    return _escape_formats(f"exec {shlex.join(command)}").replace("%", "%%")


def _quote_argument(text: str) -> str:
    """One argument within a command that tmux reads itself."""
    return '"' + "".join(f"\\{letter}" if letter in '"\\$' else letter for letter in text) + '"'


def _escape_formats(text: str) -> str:
    return text.replace("#", "##")


def server_arguments(socket: str | None) -> tuple[str, ...]:
    """The arguments for a socket given as a name or a path; without, the server that we run in, or the default one."""
    if socket is None:
        return ()
    return ("-S", os.path.abspath(socket)) if "/" in socket else ("-L", socket)
