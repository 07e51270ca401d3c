"""Having sent, by a process beside us, what nobody could send before.

Called by every verb for its directory, by `story-automator` for its project, and by the API for each directory now and
then.
"""

from __future__ import annotations

import time

from midwatch.config import paths
from midwatch.core.errors import MidwatchError
from midwatch.notifications import pending_runs

INTERVAL = 60.0
"""Seconds after which a program that makes many calls looks again."""
_attended: dict[str, float] = {}
"""When `start_sender_at_intervals` last looked into a directory (monotonic)."""


def start_sender_if_due(given: str | None = None, start: str = "") -> None:
    """Start a sender if something is to be sent from a directory (`paths.sentinel_directory`) and nobody is at it.

    Costs a look into a directory or two. Never raises: what keeps it from sending, the caller is told by its own work.
    """
    try:
        _start_if_due(paths.sentinel_directory(given, start))
    except (OSError, MidwatchError):
        pass  # there is no current directory, no /proc, or no process can be started; the next one finds the same


def start_sender_at_intervals(directory: str) -> None:
    """The same for a program that makes many calls: at its first for a directory, then no more than once a minute."""
    if _is_unattended(directory):
        _attended[directory] = time.monotonic()
        start_sender_if_due(directory)


def is_sender_due(directory: str) -> bool:
    """Whether `start_sender_at_intervals` may have something to do: for who must not be held up by finding out."""
    return _is_unattended(directory) and bool(pending_runs.list_runs(directory) or pending_runs.list_reports(directory))


def _is_unattended(directory: str) -> bool:
    return time.monotonic() - _attended.get(directory, float("-inf")) >= INTERVAL


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
