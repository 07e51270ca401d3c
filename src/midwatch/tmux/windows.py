"""A window of ours in somebody's tmux session: opened without taking anybody there, and closed by its pane's id."""

from __future__ import annotations

import os
import time

from midwatch.core.errors import RefusedError
from midwatch.core.value import Value
from midwatch.tmux import client as tmux_client

LIMIT = 10.0
TOLD = "#{session_name}\t#{window_id}\t#{window_index}\t#{pane_id}\t#{pane_pid}"
CARRIED = (
    "HOME", "PATH", "LANG", "LC_ALL", "TMPDIR", "TMUX_TMPDIR", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "MIDWATCH_HOME", "MIDWATCH_BR", "MIDWATCH_HERMES", "MIDWATCH_NTM", "BEADS_DIR", "BD_ACTOR", "HERMES_HOME",
    "HERMES_KANBAN_DB", "HERMES_KANBAN_HOME", "HERMES_KANBAN_BOARD", "PYTHONDONTWRITEBYTECODE", "NO_COLOR",
)  # fmt: skip
"""Variables of ours that what runs there gets: a server has those of whoever started it. None of them is secret."""


class TmuxWindow(Value):
    session: str
    id: str
    number: int
    pane: str
    pid: int


def open_window(server: tuple[str, ...], session: str, name: str, cwd: str, command: list[str]) -> TmuxWindow:
    """A new window of exactly that session. RefusedError where there is none, or tmux does not do it."""
    given = [word for key in CARRIED if key in os.environ for word in ("-e", f"{key}={os.environ[key]}")]
    asked = [
        "new-window",
        "-d",
        "-P",
        "-F",
        TOLD,
        "-t",
        f"={session}:",
        "-n",
        name,
        "-c",
        cwd.replace("#", "##"),
        *given,
    ]
    out, errors = _run_tmux(server, *asked, "--", *command)
    if not out:
        raise RefusedError(f"no window could be opened in session {session}: {errors}")
    return _parse_window(out)


def find_window(server: tuple[str, ...], pane: str) -> TmuxWindow | None:
    """The window of a pane, if that is there."""
    out, _ = _run_tmux(server, "display-message", "-p", "-t", pane, TOLD)
    return _parse_window(out) if out.count("\t") == len(TmuxWindow._fields) - 1 and out.split("\t")[3] == pane else None


def close_window(server: tuple[str, ...], window: TmuxWindow) -> None:
    """Exactly that one, as long as the same process is in it."""
    if find_window(server, window.pane) == window:
        _run_tmux(server, "kill-pane", "-t", window.pane)


def close_own_pane() -> None:
    """Close the pane that this process runs in."""
    tmux_client.run_client(
        tmux_client.socket_path(()), ["kill-pane", "-t", os.environ["TMUX_PANE"]], time.monotonic() + LIMIT
    )


def _parse_window(told: str) -> TmuxWindow:
    session, number, index, pane, pid = told.split("\t")
    return TmuxWindow(session, number, int(index), pane, int(pid))


def _run_tmux(server: tuple[str, ...], *command: str) -> tuple[str, str]:
    place = tmux_client.socket_path(server)
    try:
        answer = tmux_client.run_client(place, [*command], time.monotonic() + LIMIT)
    except OSError as error:
        raise RefusedError(f"tmux cannot be started: {error.strerror}") from error
    if answer.late:
        raise RefusedError(f"the tmux server at {place} did not answer within {LIMIT:g} s")
    return answer.out.decode(errors="replace").rstrip("\n"), answer.errors.strip()
