"""Having sent, by a process beside us, what nobody could send before.

Called by every verb for its directory, by `story-automator` for its project, and by the API for each directory once.
"""

from __future__ import annotations

from midwatch.config import paths
from midwatch.core.errors import MidwatchError
from midwatch.notifications import pending_runs

_attended: set[str] = set()
"""Directories for which `start_sender_once` was called."""


def start_sender_if_due(given: str | None = None, start: str = "") -> None:
    """Start a sender if something is to be sent from a directory (`paths.sentinel_directory`) and nobody is at it.

    Costs a look into a directory or two. Never raises: what keeps it from sending, the caller is told by its own work.
    """
    try:
        _start_if_due(paths.sentinel_directory(given, start))
    except (OSError, MidwatchError):
        pass  # there is no current directory, no /proc, or no process can be started; the next one finds the same


def start_sender_once(directory: str) -> None:
    """The same for a program that makes many calls: the first of its process for a directory is enough."""
    if directory not in _attended:
        _attended.add(directory)
        start_sender_if_due(directory)


def is_sender_due(directory: str) -> bool:
    """Whether `start_sender_once` may have something to do: for who must not be held up by finding out."""
    return directory not in _attended and bool(
        pending_runs.list_runs(directory) or pending_runs.list_reports(directory)
    )


def _start_if_due(directory: str) -> None:
    waiting = pending_runs.list_directories_due(directory)
    if not waiting or pending_runs.is_retry_running(directory) or paths.find_sharing(directory):
        return
    from midwatch.jobs import launch, start_sender  # noqa: PLC0415
    from midwatch.system import procfs  # noqa: PLC0415  # there is mostly nothing to send

    at_work = {word for words in procfs.helper_commands() for word in words}
    if at_work.issuperset(waiting):
        return
    start_sender.start(launch.sender_command(directory))
