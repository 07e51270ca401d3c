"""Bringing a person to a session of tmux: a client at this terminal, or the client that is here already.

Targets are ids, which no other session can have. Nothing of the session is changed, but which of its panes is active
where a pane was named.
"""

from __future__ import annotations

import os
import time

from midwatch.core.errors import RefusedError
from midwatch.core.numbers import parse_whole_number
from midwatch.core.value import Value
from midwatch.tmux import client as tmux_client
from midwatch.tmux.client import ClientResult

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

LIMIT = 10.0
ABOUT = "#{session_id}\t#{pid} #{start_time}\t#{session_name}"


class AttachTarget(Value):
    """A session that is there, and the pane of it that was named."""

    server: tuple[str, ...]
    number: str
    life: str
    """Which life of that server: after a restart its numbers are others'."""
    session: str
    pane: str = ""

    def words(self, *first: str) -> list[str]:
        """A command of tmux that leads to it, and then to its pane."""
        chosen = (";", "select-window", "-t", self.pane, ";", "select-pane", "-t", self.pane) if self.pane else ()
        return [*first, *chosen]


def find_pane(server: tuple[str, ...], pane: str) -> AttachTarget | None:
    """The session of a pane; None where no server or no such pane is. RefusedError where that cannot be seen."""
    answer = _ask(server, "display-message", "-p", "-t", pane, f"#{{pane_id}}\t{ABOUT}")
    found, _, about = answer.out.decode(errors="surrogateescape").rstrip("\n").partition("\t")
    return _parse_target(server, about, pane) if found == pane else None


def find_session(server: tuple[str, ...], name: str) -> AttachTarget | None:
    """The session of exactly that name."""
    lines = _ask(server, "list-sessions", "-F", ABOUT).out.decode(errors="surrogateescape").splitlines()
    found = [_parse_target(server, line) for line in lines]
    return next((each for each in found if each.session == name), None)


def _parse_target(server: tuple[str, ...], about: str, pane: str = "") -> AttachTarget:
    number, life, session = about.split("\t", 2)
    return AttachTarget(server, number, life, session, pane)


def person_command(target: AttachTarget) -> list[str]:
    """What a person types to get there from outside of tmux."""
    return tmux_client.command_for_person(target.server, *target.words("attach", "-t", f"={target.session}"))


def is_inside(server: tuple[str, ...] | None = None) -> bool:
    """Whether we run in tmux; with a server, in that one."""
    here = os.environ.get("TMUX", "")
    if not here or server is None:
        return bool(here)
    return tmux_client.socket_path(()) == tmux_client.socket_path(server)


def attach_here(target: AttachTarget) -> NoReturn:
    """Become a client at this terminal."""
    tmux_client.become_client(
        tmux_client.socket_path(target.server), target.words("attach-session", "-t", target.number)
    )


def switch_here(target: AttachTarget) -> bool:
    """Have the client that shows us show the session. False where no client does."""
    ours = _ask(target.server, "display-message", "-p", "-t", os.environ.get("TMUX_PANE", ""), "#{session_id}")
    mine = ours.out.decode(errors="replace").strip()
    listed = _ask(target.server, "list-clients", "-F", "#{client_activity} #{session_id} #{client_name}")
    clients = [line.split(" ", 2) for line in listed.out.decode(errors="surrogateescape").splitlines()]
    here = [(parse_whole_number(since) or 0, name) for since, session, name in clients if session == mine]
    if not here:
        return False
    answer = _ask(target.server, *target.words("switch-client", "-c", max(here)[1], "-t", target.number))
    if answer.errors:
        raise RefusedError(f"tmux did not switch to session {target.session}: {answer.errors.strip()}")
    return True


def _ask(server: tuple[str, ...], *words: str) -> ClientResult:
    place = tmux_client.socket_path(server)
    try:
        answer = tmux_client.run_client(place, [*words], time.monotonic() + LIMIT)
    except OSError as error:
        raise RefusedError(f"{tmux_client.PROGRAM} cannot be started: {error.strerror}; is it installed?") from error
    if answer.late:
        raise RefusedError(f"the tmux server at {place} did not answer within {LIMIT:g} s; try again")
    return answer
