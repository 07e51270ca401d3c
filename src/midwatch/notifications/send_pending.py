"""Having sent, by a process beside us, what nobody could send before.

Called by every verb for its directory, by `story-automator` for its project, and by the API for each directory once.
"""

from __future__ import annotations

from midwatch.config import paths
from midwatch.core.errors import MidwatchError
from midwatch.notifications import pending_runs

_attended: set[str] = set()
"""Directories for which `send_once` was called."""


def send(given: str | None = None, start: str = "") -> None:
    """Start a sender if something is to be sent from a directory (`places.directory`) and nobody is at it.

    Costs a look into a directory or two. Never raises: what keeps it from sending, the caller is told by its own work.
    """
    try:
        _send(paths.directory(given, start))
    except (OSError, MidwatchError):
        pass  # there is no current directory, no /proc, or no process can be started; the next one finds the same


def send_once(directory: str) -> None:
    """The same for a program that makes many calls: the first of its process for a directory is enough."""
    if directory not in _attended:
        _attended.add(directory)
        send(directory)


def is_owed(directory: str) -> bool:
    """Whether `send_once` may have something to do: for who must not be held up by finding out."""
    return directory not in _attended and bool(pending_runs.runs(directory) or pending_runs.reports(directory))


def _send(directory: str) -> None:
    waiting = pending_runs.candidates(directory)
    if not waiting or pending_runs.is_attended(directory) or paths.shared_with_others(directory):
        return
    from midwatch.jobs import launch, start_sender  # noqa: PLC0415
    from midwatch.system import procfs  # noqa: PLC0415  # there is mostly nothing to send

    at_work = {word for words in procfs.run_beside() for word in words}
    if at_work.issuperset(waiting):
        return
    start_sender.start(launch.teller_command(directory))
