"""Where we are ourselves: the pane that we were started in, and its neighbours in the same tmux session."""

from __future__ import annotations

import os
import pwd
import time

from midwatch.core import names
from midwatch.core.names import is_pane
from midwatch.core.value import Value
from midwatch.tmux import client as tmux_client
from midwatch.tmux.codec import commands as codec
from midwatch.tmux.codec import pane_list
from midwatch.tmux.socket_gate import UnsafeServerError

LIMIT = 2.0
"""Seconds that the server has for an answer."""
FIELDS = ("pane_id", "window_index", "pane_index", "pane_dead", "session_name", "pane_title", "pane_current_path")


class Neighbour(Value):
    """A pane of our session."""

    pane: str
    window: str
    """Index of its window."""
    number: str
    """Index of the pane in it."""
    dead: bool
    session: str
    title: str
    path: str
    """Directory of what runs in it."""


class PaneLocation(Value):
    """A pane among those of its session."""

    socket: str
    own: Neighbour
    all: tuple[Neighbour, ...]
    """Of all windows, our own too."""

    @property
    def name(self) -> str:
        """`pane2`; where the session has several windows `pane1.2`."""
        several = len({each.window for each in self.all}) > 1
        return f"pane{self.own.window}.{self.own.number}" if several else f"pane{self.own.number}"


def own_location() -> PaneLocation | None:
    """Where this process was started, by what tmux told it; None outside of tmux, or where nobody answers."""
    pane = os.environ.get("TMUX_PANE", "")
    return find_location((), pane) if is_pane(pane) and os.environ.get("TMUX") else None


def find_location(server: tuple[str, ...], pane: str) -> PaneLocation | None:
    """The whereabouts of a pane; None where it is gone, or its server does not tell."""
    place, word = tmux_client.socket_path(server), codec.make_word(os.urandom(10))
    if not tmux_client.is_socket(place):
        return None
    asked = f"{word}{word.join([f'#{{{name}}}' for name in FIELDS])}{word}"
    try:
        answer = tmux_client.run_client(place, pane_list.neighbour_panes(pane, asked), time.monotonic() + LIMIT)
    except (OSError, UnsafeServerError):
        return None
    told = answer.out.decode("utf-8", "surrogateescape")
    rows = [row.split(word)[1:] for row in told.split(f"{word}\n")]  # a path may have lines
    found = tuple([_parse_neighbour(row) for row in rows if len(row) == len(FIELDS)])
    own = next((each for each in found if each.pane == pane), None)
    return PaneLocation(place, own, found) if own else None


def _parse_neighbour(row: list[str]) -> Neighbour:
    pane, window, number, dead, session, title, path = row
    return Neighbour(pane, window, number, dead == "1", session, title, path)


def window_names(server: tuple[str, ...], session: str) -> dict[str, str]:
    """What somebody has called the windows of exactly that session, by the ids of their panes.

    Not what tmux calls them itself, which is only what runs there. Empty where nobody answers.
    """
    told = "#{pane_id} #{?automatic-rename,,#{window_name}}"
    command = pane_list.session_panes(session, told)
    try:
        answer = tmux_client.run_client(tmux_client.socket_path(server), command, time.monotonic() + LIMIT)
    except (OSError, UnsafeServerError):
        return {}
    rows = [line.partition(" ") for line in answer.out.decode("utf-8", "replace").splitlines()]
    return {pane: name for pane, _, name in rows}


def name_outside() -> str:
    """A name for whoever is in no pane: the job's or session's own, else the user's."""
    for name in (os.environ.get("MIDWATCH_NAME", ""), os.environ.get("USER", ""), _account_name()):
        if not names.find_problem(name):
            return name
    return "user"


def _account_name() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return ""
