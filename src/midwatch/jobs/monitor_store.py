"""Who watches a session: the lease of the one who acts, and his notes for whoever comes after him.

Besides, a person's wish that it be stopped: it outlives the run that it was said to, so that a monitor which is just
bringing the session back hears of it.
"""

from __future__ import annotations

import time

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.verdict import Verdict
from midwatch.jobs.codec import monitor_state_file
from midwatch.jobs.monitor_state import MonitorState
from midwatch.system.atomic_files import write_atomic
from midwatch.system.file_locks import Lease


def session_lease(base: str) -> Lease:
    """The right to act on a session."""
    return Lease(f"{base}.actor")


def read_state(base: str, run: str = "") -> MonitorState | None:
    """The notes of the last monitor; with a run, only those of that run."""
    try:
        text = sentinel_files.read(f"{base}.watch")
    except FormatError:
        return None
    found = monitor_state_file.decode_state(text) if text else None
    return found if found is not None and run in ("", found.run) else None


def write_state(base: str, watch: MonitorState) -> None:
    write_atomic(f"{base}.watch", monitor_state_file.encode_state(watch))


def record_ending(base: str, run: str, stuck: Verdict) -> None:
    """Tell the shim, and whoever ends its work for it, that this run is ended because it is stuck."""
    reason = " ".join(f"{stuck.reason}; ended by its monitor, to be resumed".split())
    write_atomic(f"{base}.ending", f"{run}\t{stuck.state}\t{stuck.cause}\t{reason}\n")


def request_stop(base: str) -> None:
    """A person wants it stopped, whatever is being done about it."""
    write_atomic(f"{base}.halt", f"{time.time()}\n")


def is_stop_requested(base: str, since: float) -> bool:
    """Whether somebody has wanted that since a moment of the wall clock."""
    try:
        text = sentinel_files.read(f"{base}.halt")
        return text is not None and float(text) >= since
    except (FormatError, ValueError):
        return False
