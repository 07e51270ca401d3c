"""Having sent, by a process beside us, what nobody could send before.

Called by every verb for its directory, by `story-automator` for its project, and by the API for each directory once.
"""

from __future__ import annotations

from midwatch.model.errors import MidwatchError
from midwatch.store import places, unsent

_attended: set[str] = set()
"""Directories for which `send_once` was called."""


def send(given: str | None = None, start: str = "") -> None:
    """Start a sender if something is to be sent from a directory (`places.directory`) and nobody is at it.

    Costs a look into a directory or two. Never raises: what keeps it from sending, the caller is told by its own work.
    """
    try:
        _send(places.directory(given, start))
    except (OSError, MidwatchError):
        pass  # there is no current directory, no /proc, or no process can be started; the next one finds the same


def send_once(directory: str) -> None:
    """The same for a program that makes many calls: the first of its process for a directory is enough."""
    if directory not in _attended:
        _attended.add(directory)
        send(directory)


def is_owed(directory: str) -> bool:
    """Whether `send_once` may have something to do: for who must not be held up by finding out."""
    return directory not in _attended and bool(unsent.runs(directory) or unsent.reports(directory))


def _send(directory: str) -> None:
    waiting = unsent.candidates(directory)
    if not waiting or unsent.is_attended(directory) or places.shared_with_others(directory):
        return
    from midwatch import proc  # noqa: PLC0415  # there is mostly nothing to send
    from midwatch.hands import spawn, tell  # noqa: PLC0415

    at_work = {word for words in proc.run_beside() for word in words}
    if at_work.issuperset(waiting):
        return
    tell.start(spawn.teller_command(directory))
