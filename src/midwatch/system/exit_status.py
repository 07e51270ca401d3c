"""How a process of others ended: its wait status, as far as the kernel still tells.

Only a parent may wait for a process. Everyone else is shown its status in /proc until the parent has done so, and from
then on, since Linux 6.15, by a pidfd that was opened while it lived. Neither shows it at the other's time, so both are
asked, and the pidfd once more: the parent may come in between.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct

from midwatch.core.text import signal_name
from midwatch.system import processes, procfs

GET_INFO = 0xC040FF0B
"""PIDFD_GET_INFO, _IOWR(0xFF, 11, struct pidfd_info), for the first version of that struct: 64 bytes."""
INFO = struct.Struct("=QQ11Ii")
"""mask, cgroup, eleven ids that are of no use here, wait status."""
INFO_EXIT = 1 << 3
"""PIDFD_INFO_EXIT: asked for, the status is wanted; answered, it is there (0 is also what an empty answer holds)."""
PATIENCE = 1.0
"""Seconds that a parent is given to wait for a process whose status is hidden from us until it has."""
EXIT_CODE = 49
"""Place of the wait status in /proc/PID/stat, counted from the third field on."""


def read_status(pidfd: int, pid: int, start: int) -> tuple[int | None, str]:
    """The wait status of a process that has ended, or None and why nobody can tell."""
    found, kept = _read_kept_status(pidfd)
    if found is not None:
        return found, ""
    found, why = _read_proc_status(pid, start)
    if found is None and kept:
        parent = select.poll()
        parent.register(pidfd, 0)  # it hangs up when its process has been waited for
        parent.poll(PATIENCE * 1000)
        found, _ = _read_kept_status(pidfd)
    return found, "" if found is not None else why


class HeldProcess:
    """A process that is held on to, as long as this is: only who does so when it ends can learn how it ended."""

    def __init__(self, pid: int, start: int) -> None:
        self.process = (pid, start)
        found = processes.watch_exit(pid)
        self._pidfd = -1 if found is None else found
        self._same = procfs.start_time(pid) == start  # else the number is another's by now

    def fileno(self) -> int:
        """Readable when it has ended; -1 where the kernel does not tell."""
        return self._pidfd

    def status(self) -> int | None:
        """Its wait status, once it has ended, as far as the kernel tells it."""
        if self._pidfd < 0 or not self._same or not has_ended(self._pidfd):
            return None
        return read_status(self._pidfd, *self.process)[0]

    def __del__(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)


def read_zombie_status(pid: int, start: int = 0) -> int | None:
    """The same of a process whose parent knows that it ended and has not waited for it; None where it has."""
    return _read_proc_status(pid, start or procfs.start_time(pid))[0]


def has_ended(pidfd: int) -> bool:
    end = select.poll()  # not `select`: the number may be above a thousand
    end.register(pidfd, select.POLLIN)
    return bool(end.poll(0))


def _read_kept_status(pidfd: int) -> tuple[int | None, bool]:
    """The status that the kernel keeps with a pidfd, once a parent has waited; and whether this kernel keeps any."""
    answer = bytearray(INFO.pack(INFO_EXIT, *[0] * 13))
    try:
        fcntl.ioctl(pidfd, GET_INFO, answer)
    except ProcessLookupError:
        return None, True
    except OSError:
        return None, False
    mask, *_, found = INFO.unpack(answer)
    return (found if mask & INFO_EXIT else None), True


def _read_proc_status(pid: int, start: int) -> tuple[int | None, str]:
    """The status that /proc shows of a process that nobody has waited for."""
    hidden = _is_hidden(pid)
    try:
        fields = procfs.stat_fields(pid)
        dead, started, found = procfs.is_dead(fields), int(fields[19]), int(fields[EXIT_CODE])
    except (OSError, ValueError, IndexError):
        dead, started, found = False, 0, 0
    if started != start or not dead:
        return None, "its parent has taken it, and this kernel keeps it for nobody else"
    if hidden and not found:  # to those who may not look, the kernel shows 0
        return None, "the kernel hides it from us, as of another user's process"
    return found, ""


def _is_hidden(pid: int) -> bool:
    """Whether the kernel hides from us what it hides from those who may not trace a process."""
    try:
        procfs.read_text(f"/proc/{pid}/io")
    except PermissionError:
        return True
    except OSError:
        return False
    return False


def split_status(found: int) -> tuple[int | None, int | None]:
    """A wait status as exit code and signal; one of them is None."""
    return (None, os.WTERMSIG(found)) if os.WIFSIGNALED(found) else (os.WEXITSTATUS(found), None)


def format_status(found: int) -> str:
    return f"killed by {signal_name(os.WTERMSIG(found))}" if os.WIFSIGNALED(found) else f"exit {os.WEXITSTATUS(found)}"
