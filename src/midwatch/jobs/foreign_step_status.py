"""What the files of a foreign step say of the run that its pid file names; what an earlier run left is told apart."""

from __future__ import annotations

import time

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Adopted, Alive, Process, StatusTimes, StepStatus
from midwatch.jobs.codec import sentinel
from midwatch.jobs.rules import foreign_run
from midwatch.system import procfs

NANO = 10**9


def read_step(base: str, pid_written: int | None, process: Process, now: float, troubles: list[str]) -> StepStatus:
    """Status and result of a step; its pid file, and then that process, were looked at before.

    ``troubles`` takes what cannot be read.
    """
    found = _read_with_time(f"{base}.status", troubles)
    if found is None:
        return StepStatus()
    status, at = found
    result = _read_with_time(f"{base}.result", troubles) if status.strip() else None
    times = _times(base, at, pid_written, None if result is None else result[1], process)
    owner = foreign_run.status_owner(times)
    if owner == "this":
        old = result is None or foreign_run.is_earlier_result(times)
        return StepStatus(ForeignText(status), None if result is None or old else sentinel.decode_result(result[0]))
    until = now + (foreign_run.decision_time(times) - times.now) / NANO if owner == "open" else None
    return StepStatus(earlier=ForeignText(status), open_until=until)


def read_adopted(adopted: Adopted, pid: int, process: Process, now: float) -> StepStatus | None:
    """What its directory says of adopted work; None where it has none, or tells of another run by now."""
    base = f"{adopted.dir}/{adopted.name}"
    try:
        named = sentinel_files.read_dated(f"{base}.pid")
        if not adopted.dir or (named is not None and sentinel.decode_pid(named[0]) != pid):
            return None
    except FormatError:
        return None
    return read_step(base, None if named is None else named[1], process, now, [])


def _read_with_time(path: str, troubles: list[str]) -> tuple[str, int] | None:
    try:
        return sentinel_files.read_dated(path)
    except FormatError as error:
        troubles.append(str(error))
        return None


def _times(base: str, status: int, pid: int | None, result: int | None, process: Process) -> StatusTimes:
    times = StatusTimes(time.time_ns(), status, pid, result)
    if pid is None or status <= pid or status > times.now:  # only then do these matter
        moved = (sentinel_files.modified_ns(f"{base}.{suffix}") for suffix in ("heartbeat", "log"))
        times = times._replace(moved=tuple(each for each in moved if each is not None))
    if not isinstance(process, Alive):
        return times
    try:
        booted = times.now - time.clock_gettime_ns(time.CLOCK_BOOTTIME)
    except (OSError, AttributeError):
        return times
    below = procfs.children(process.pid) if status == pid else []
    starts = [booted + start * NANO // int(procfs.TICKS) for start in map(procfs.start_time, [process.pid, *below])]
    return times._replace(start=starts[0], children=tuple(starts[1:]))
