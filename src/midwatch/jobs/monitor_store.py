"""Who watches a session: the lease of the one who acts, and his notes for whoever comes after him.

Besides, a person's wish that it be stopped: it outlives the run that it was said to, so that a monitor which is just
bringing the session back hears of it. And what the monitor was asked to do, with a person's wish that a limit is waited
for no more.
"""

from __future__ import annotations

import contextlib
import os
import time

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.verdict import Verdict
from midwatch.jobs.codec import monitor_plan_file, monitor_state_file
from midwatch.jobs.monitor_plan import MonitorPlan
from midwatch.jobs.monitor_state import MonitorState
from midwatch.system.atomic_files import write_atomic
from midwatch.system.file_locks import Lease, is_free


def session_lease(base: str) -> Lease:
    """The right to act on a session."""
    return Lease(_lease_path(base))


def has_monitor(base: str) -> bool:
    """Whether a monitor acts on a session at this moment."""
    return not is_free(_lease_path(base))


def _lease_path(base: str) -> str:
    return f"{base}.actor"


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


def read_plan(base: str) -> MonitorPlan | None:
    """What the monitor of a session was asked to do; None where no monitor has a plan."""
    try:
        text = sentinel_files.read(f"{base}.plan")
    except FormatError:
        return None
    return monitor_plan_file.decode_plan(text) if text else None


def write_plan(base: str, plan: MonitorPlan) -> None:
    write_atomic(f"{base}.plan", monitor_plan_file.encode_plan(plan))


def cancel_limit(base: str) -> None:
    """A person wants no monitor to have the session continue after a limit."""
    write_atomic(f"{base}.limit", f"{time.time()}\n")


def allow_limit(base: str) -> None:
    """Take that back."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(f"{base}.limit")


def is_limit_cancelled(base: str) -> bool:
    return os.path.lexists(f"{base}.limit")


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
