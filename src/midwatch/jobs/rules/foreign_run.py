"""Which run of a step wrote a file, where a script clears nothing before it runs the step again.

A script writes its pid file first, then status and result. What is older than the pid file, or than the process that
the pid file names, is of an earlier run. The clock of a file system may be coarse: within one tick of it, only what the
process does next tells. A script that wrote its own status ends in a moment, or rests; one that began again works.
"""

from midwatch.core.job_model import StatusTimes

SECOND = 10**9
FINE = SECOND // 20
"""Error of a start time (clock ticks since boot, 10 ms) plus one tick of a common file system, with room to spare."""
COARSE = 2 * SECOND
"""Of file systems that keep whole seconds, the coarsest (FAT) keeps only even ones."""
PATIENCE = SECOND
"""How long a script may take to end after its own status, or to begin its work after its pid file."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Owner = Literal["this", "earlier", "open"]


def status_owner(times: StatusTimes) -> "Owner":
    """Whose the status is; `open` until ``decision_time``, for both runs would look the same."""
    pid = _pid_time(times)
    if pid is not None and times.status < pid and (times.start is not None or _has_begun(times, pid)):
        return "earlier"
    if times.start is None:
        return "this"
    if _is_ahead(times.status, times):
        return _owner_of_future_status(times, pid, times.start)
    if times.status + _time_tolerance(times) < times.start:
        return "earlier"
    if pid is None or times.status > pid or (times.result is not None and times.result > pid):
        return "this"
    if times.now < decision_time(times):
        return "open"
    return "earlier" if _is_continuing(times, times.start) else "this"


def decision_time(times: StatusTimes) -> int:
    """The moment from which on ``status_owner`` is not `open`."""
    if times.start is not None and _is_ahead(times.status, times):
        return times.start + PATIENCE
    return times.status + _time_tolerance(times) + PATIENCE


def is_earlier_result(times: StatusTimes) -> bool:
    """Whether the result is of an earlier run, though the status is of this one."""
    pid = _pid_time(times)
    if times.result is None:
        return False
    if _is_ahead(times.result, times):
        return not _is_ahead(times.status, times)
    young = times.start is not None and times.result + _time_tolerance(times) < times.start
    return young or (pid is not None and times.result < pid)


def _pid_time(times: StatusTimes) -> int | None:
    """The time of the pid file. One that is still to come was written before the clock was set back."""
    return None if times.pid is None or _is_ahead(times.pid, times) else times.pid


def _is_ahead(moment: int, times: StatusTimes) -> bool:
    """Whether a file was written before the clock was set back."""
    return moment > times.now + FINE


def _owner_of_future_status(times: StatusTimes, pid: int | None, start: int) -> "Owner":
    """The clock was set back since the status, maybe before this run: that works and has new files, or rests."""
    if pid is not None and times.moved and all(moved <= times.now + FINE for moved in times.moved):
        return "earlier"
    return "open" if times.now < start + PATIENCE else "this"


def _has_begun(times: StatusTimes, pid: int) -> bool:
    """Whether a run that has ended was more than its pid file: some scripts write that one last."""
    return times.status < pid - PATIENCE or any(moved >= pid for moved in times.moved)


def _time_tolerance(times: StatusTimes) -> int:
    """How much later than their times the files may have been written, and a start time be wrong."""
    if times.status % SECOND or (times.pid or 0) % SECOND:
        return FINE
    return FINE + (SECOND if times.status // SECOND % 2 else COARSE)


def _is_continuing(times: StatusTimes, start: int) -> bool:
    """Whether the process works on: it beats, writes, or still runs what it began with the step."""
    first, last = times.status - FINE, times.status + _time_tolerance(times)
    begun = last + PATIENCE if start >= first else last  # an older one may have begun another step since
    return any(moved > last for moved in times.moved) or any(first <= began <= begun for began in times.children)
