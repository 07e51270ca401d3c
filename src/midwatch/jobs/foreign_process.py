"""A process that somebody else started: whether it may be watched as work, and what of it can be seen.

The pidfd is taken first and asked last whether its process still lives: what was read by pid in between was then read
of that very process, however fast pids come round.
"""

from __future__ import annotations

import errno
import os
import stat

from midwatch.core.errors import RefusedError
from midwatch.core.value import Value
from midwatch.system import exit_status, procfs

KERNEL_THREAD = 0x00200000
"""PF_KTHREAD, in the flags that /proc/PID/stat shows."""
HIDDEN = "the kernel hides it from us, as of another user's process"


class ForeignProcess(Value):
    pid: int
    start: int
    pidfd: int
    """Open for as long as its end, and how it ended, are of interest; whoever has it closes it."""
    command: list[str]
    cwd: str
    log: str
    """The file that its output goes to; empty where it goes elsewhere or may not be known."""
    blind: dict[str, str]
    """Sources of progress that cannot be seen of it, and why."""


def hold_process(pid: int) -> ForeignProcess:
    """Look at a process and hold on to it, or RefusedError."""
    if pid <= 1:
        raise RefusedError(f"process {pid} is the machine's own, no work that ends")
    pidfd = _open(pid)
    try:
        start = _start_time(pid, pidfd)
        log, unseen = _find_log(pid)
        blind = {source: why for source, why in (("output", unseen), ("io", _find_count_problem(pid))) if why}
        found = ForeignProcess(pid, start, pidfd, _read_command(pid), _read_link(f"/proc/{pid}/cwd"), log, blind)
        if exit_status.has_ended(pidfd):
            raise RefusedError(_format_ended(pid, start, pidfd))  # noqa: TRY301  # it is let go of below
    except BaseException:
        os.close(pidfd)
        raise
    return found


def _open(pid: int) -> int:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise RefusedError(f"there is no process {pid}; it may have ended already") from None
    except AttributeError:
        raise RefusedError("this system does not tell when a process of others ends (no pidfd)") from None
    except OSError as error:
        leader = _session_leader(pid)
        if leader not in (0, pid):
            raise RefusedError(f"{pid} is a thread of process {leader}; adopt that: --pid {leader}") from None
        why = "no pidfd here" if error.errno == errno.ENOSYS else error.strerror
        raise RefusedError(f"process {pid} cannot be watched: {why}") from error


def _session_leader(pid: int) -> int:
    try:
        lines = procfs.read_text(f"/proc/{pid}/status").splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("Tgid:")))
    except (OSError, ValueError, StopIteration, IndexError):
        return 0


def _start_time(pid: int, pidfd: int) -> int:
    try:
        fields = procfs.stat_fields(pid)
        letter, flags, start = fields[0], int(fields[6]), int(fields[19])
    except (OSError, ValueError, IndexError):
        if exit_status.has_ended(pidfd):
            raise RefusedError(f"there is no process {pid}; it has just ended") from None
        raise RefusedError(f"process {pid} is hidden from us; run this as the user whose process it is") from None
    if letter in "ZX":
        raise RefusedError(_format_ended(pid, start, pidfd))
    if flags & KERNEL_THREAD:
        raise RefusedError(f"{pid} ({procfs.command_name(pid)}) is a thread of the kernel, no work that ends")
    if procfs.is_shim(pid):
        raise RefusedError(f"process {pid} is Midwatch itself, keeping a job; `midwatch ls --all` lists them")
    return start


def _format_ended(pid: int, start: int, pidfd: int) -> str:
    found, why = exit_status.read_status(pidfd, pid, start)
    said = f"its exit status is not known: {why}" if found is None else exit_status.format_status(found)
    return f"process {pid} has ended already ({said}); there is nothing left to watch"


def _read_command(pid: int) -> list[str]:
    try:
        found = procfs.read_text(f"/proc/{pid}/cmdline").rstrip("\0").split("\0")
    except OSError:
        found = [""]
    return found if found[0] else [procfs.command_name(pid)]


def _read_link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _find_log(pid: int) -> tuple[str, str]:
    """The file that standard output goes to, else the one of standard error; or why there is none to be seen."""
    why = "it has no output"
    for number in (1, 2):
        link = f"/proc/{pid}/fd/{number}"
        try:
            found, path = os.stat(link), os.readlink(link)
        except PermissionError:
            return "", HIDDEN
        except OSError:
            continue
        if not stat.S_ISREG(found.st_mode):
            why = "its output does not go to a file"
            continue
        try:
            if os.path.samestat(found, os.lstat(path)):
                return path, ""
        except OSError:
            pass
        why = "the file that its output goes to has no name here"
    return "", why


def _find_count_problem(pid: int) -> str:
    """Why its reading and writing cannot be seen; empty where it can."""
    try:
        procfs.read_text(f"/proc/{pid}/io")
    except PermissionError:
        return HIDDEN
    except OSError as error:
        return f"/proc does not tell: {error.strerror}"
    return ""
