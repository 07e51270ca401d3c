"""The API as coroutines: the names, arguments and results of `midwatch` itself.

A wait takes no thread: the event loop itself listens to the jobs of a directory, once for all that wait. What takes
milliseconds runs in a thread of the loop's pool and is finished also when its caller is cancelled. An iterator is an
async iterator, and `job` is for `async with`.
"""

from __future__ import annotations

from midwatch.aio.in_thread import answer, beat, logs, ls, monitor, run, send, snapshot, spawn, status, stop
from midwatch.aio.job_block import job
from midwatch.aio.streams import changes, events, follow
from midwatch.aio.waits import wait, wait_all, wait_any
from midwatch.api.jobs import as_json

__all__ = [
    "answer",
    "as_json",
    "beat",
    "changes",
    "events",
    "follow",
    "job",
    "logs",
    "ls",
    "monitor",
    "run",
    "send",
    "snapshot",
    "spawn",
    "status",
    "stop",
    "wait",
    "wait_all",
    "wait_any",
]
