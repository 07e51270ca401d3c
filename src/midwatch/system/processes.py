"""Processes: who is meant, whether they live, which of a run's are left."""

from __future__ import annotations

import os
import time

from midwatch.core.foreign_text import escape_text
from midwatch.core.job_model import Alive, Gone, Identity, Process, Unseen
from midwatch.core.value import Value
from midwatch.system import procfs

YOUNGER = 5.0
"""Seconds by which a process may seem younger than its pid file before it counts as another."""

CHUNK = 1 << 13
"""Large buffers cost more to make than the reading."""


class ProcessPlace(Value):
    """Where we look from: pids of other hosts, boots and namespaces mean nothing here."""

    host: str
    boot: str
    pidns: str
    timens: str

    def shares_clock(self, meant: Identity) -> bool:
        """Whether start times and monotonic moments of that process are by the clocks that we read."""
        return meant.boot == self.boot and meant.timens in ("", self.timens)


def current_place() -> ProcessPlace:
    return ProcessPlace(os.uname().nodename, procfs.boot_id(), procfs.pid_namespace(), procfs.time_namespace())


def find_process(meant: Identity, place: ProcessPlace) -> Process:
    """Whether exactly that process lives. A recycled pid is gone; another host or namespace cannot be seen."""
    if meant.host != place.host:
        return Unseen(f"it runs on host {escape_text(meant.host)}; only its files can be read here")
    if meant.boot != place.boot:
        return Gone("the machine was restarted since")
    if meant.pidns != place.pidns:
        return Unseen("it runs in another pid namespace; only its files can be read here")
    if not place.shares_clock(meant):  # the kernel shifts the start of every process that is seen from another one
        return Unseen("it runs in another time namespace; only its files can be read here")
    return _check_start(meant.pid, meant.start)


def find_by_pid(pid: int, written: float, heartbeat_age: float | None) -> Process:
    """The process of a foreign pid file, unless it is younger than that file and so another's.

    A wall clock that jumped makes it look so too; then its heartbeat is younger than the process, and nothing is sure.
    """
    found = _check_start(pid, 0)
    if isinstance(found, Alive):
        try:
            age = time.clock_gettime(time.CLOCK_BOOTTIME) - procfs.start_time(pid) / procfs.TICKS
        except (OSError, ValueError, AttributeError):
            return found
        if age + YOUNGER < time.time() - written:
            if heartbeat_age is not None and heartbeat_age < age:
                return Unseen(f"pid {pid} is younger than its pid file, yet its heartbeat goes on: did the clock jump?")
            return Gone(f"pid {pid} now belongs to a younger process")
    return found


def is_alive(pid: int, start: int) -> bool:
    return isinstance(_check_start(pid, start), Alive)


def _check_start(pid: int, start: int) -> Process:
    try:
        fields = procfs.stat_fields(pid)
    except (FileNotFoundError, ProcessLookupError):
        return _judge_unlisted(pid)
    except (OSError, ValueError) as error:
        return Unseen(f"process {pid} cannot be looked at: {error}")
    if start and int(fields[19]) != start:
        return Gone(f"pid {pid} now belongs to another process")
    if procfs.is_dead(fields):
        return Gone(f"process {pid} has ended")
    return Alive(pid, fields[0])


def _judge_unlisted(pid: int) -> Process:
    """Not in /proc: ended, or hidden from us, or there is no /proc here."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return Gone(f"process {pid} has ended")
    except PermissionError:
        return Unseen(f"process {pid} belongs to another user and is hidden")
    return Alive(pid, "?") if not os.path.isdir("/proc/self") else Unseen(f"process {pid} is hidden")


def find_run_processes(run: str) -> list[int]:
    """Every process that carries a run's mark in its environment, wherever it went."""
    mark = f"MIDWATCH_RUN={run}\0".encode()
    marked = [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if mark in _environment(pid)]
    return [pid for pid in marked if pid != os.getpid() and isinstance(_check_start(pid, 0), Alive)]


def find_marked_runs() -> set[str]:
    """Runs of which any process is left, by the marks in their environments; ours does not count."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        _, marked, rest = (b"\0" + _environment(pid)).partition(b"\0MIDWATCH_RUN=")
        if marked and int(pid) != os.getpid() and isinstance(_check_start(int(pid), 0), Alive):
            found.add(rest.partition(b"\0")[0].decode(errors="replace"))
    return found


def start_times(pids: list[int]) -> dict[int, int]:
    """Those of some processes that are there, with their start times: a pid alone may be another's in a moment."""
    return {pid: start for pid in pids if (start := procfs.start_time(pid))}


def _environment(pid: str, *, again: bool = True) -> bytes:
    """The environment a process started with, as far as it may be seen; read with no more calls than it takes."""
    try:
        fd = os.open(f"/proc/{pid}/environ", os.O_RDONLY)
    except OSError:
        return b""
    try:
        parts = [os.read(fd, CHUNK)]
        if not parts[0] and again and os.path.exists(f"/proc/{pid}/exe"):
            return _environment(pid, again=False)  # it was just becoming another program
        while len(parts[-1]) == CHUNK:
            parts.append(os.read(fd, CHUNK))
        return b"".join(parts) + b"\0"
    except OSError:
        return b""
    finally:
        os.close(fd)


def await_exit(pid: int, seconds: float) -> bool:
    """Wait until a process has ended. False: it had not by then, or the kernel does not tell."""
    pidfd = watch_exit(pid)
    if pidfd is None:
        return False
    import select  # noqa: PLC0415  # few wait here

    end = select.poll()  # not `select`: the number may be above a thousand
    end.register(pidfd, select.POLLIN)
    try:
        return bool(end.poll(seconds * 1000))
    finally:
        os.close(pidfd)


def watch_exit(pid: int) -> int | None:
    """A file descriptor that becomes readable when the process ends; None where the kernel has none."""
    try:
        return os.pidfd_open(pid)
    except (OSError, AttributeError):
        return None
