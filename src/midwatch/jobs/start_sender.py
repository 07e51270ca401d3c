"""Starting the one who delivers notices: a process that nobody waits for.

It has its own session, no terminal, none of our descriptors and no lease of ours. Below a shim it is known by its
command line (`proc.BESIDE`), so that what it uses is not taken for the work's, nor the work's end for its own.
"""

from __future__ import annotations

import os

from midwatch.jobs.launch import unmarked_environment
from midwatch.shim.fork import start_beside

in_guest = False
"""Whether the program is somebody else's, as `midwatch.api` says: then no sender becomes its child."""
_started: list[int] = []
"""Those whose end we have not seen: each leaves a number behind until it is waited for."""


def start(command: list[str] | None, said: bytes = b"") -> None:
    """Start it, with less than a page to read; without a command nobody is to be told. OSError when it cannot be."""
    if command is None:
        return
    if in_guest:
        from midwatch.jobs import launch_from_api  # noqa: PLC0415  # the API has it loaded

        launch_from_api.start_process(command, said)
        return
    _started[:] = [pid for pid in _started if not _has_ended(pid)]
    _started.append(start_beside(command, unmarked_environment(), said))


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True
