"""Waiting for what others do, and noting the moment at which it was done."""

import contextlib
import os
import queue
import select
import subprocess
import threading
import time

from midwatch.system import procfs

PATIENCE = 30.0
"""Seconds after which an event that must come is given up."""
now = time.perf_counter


def end_of(process: subprocess.Popen[bytes]) -> tuple[float, int]:
    """The moment at which a process has ended, and its exit code.

    Not ``Popen.wait(timeout)``: that one looks at 0.5, 1.5, 3.5, 7.5, 15.5, 31.5 … ms, and would be what is measured.
    """
    pidfd = os.pidfd_open(process.pid)
    try:
        if not select.select([pidfd], [], [], PATIENCE)[0]:
            raise RuntimeError(f"{process.args!r} does not end")
        return now(), process.wait()
    finally:
        os.close(pidfd)


def line_of(process: subprocess.Popen[bytes]) -> float:
    """The moment at which the next line of a process can be read."""
    assert process.stdout is not None
    if not select.select([process.stdout], [], [], PATIENCE)[0]:
        raise RuntimeError(f"nothing came from {process.args!r}")
    came = now()
    if not os.read(process.stdout.fileno(), 65536).endswith(b"\n"):
        raise RuntimeError(f"no whole line came from {process.args!r}")
    return came


def until_waiting(pid: int, limit: float = PATIENCE) -> None:
    """Until a watcher listens for file events and sleeps: its processor time stands still for a moment."""
    deadline, before = now() + limit, -1
    while True:
        spent, state = runtime_ns(pid), procfs.stat_fields(pid)[0]
        if spent == before and state == "S" and _listens(pid):
            return
        if state == "Z" or now() > deadline:
            raise RuntimeError(f"process {pid} {'has ended' if state == 'Z' else 'does not come to rest'}")
        before = spent
        time.sleep(0.02)


def _listens(pid: int) -> bool:
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return "anon_inode:inotify" in found


def runtime_ns(pid: int) -> int:
    """Processor time of a process of one thread. The ticks of /proc/PID/stat are too coarse for an idle shim."""
    return int(procfs.read_text(f"/proc/{pid}/schedstat").split()[0])


class Lines:
    """Reads a pipe in the background and notes when each line came."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.came: queue.SimpleQueue[tuple[float, str]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        rest = b""
        while data := os.read(self.fd, 65536):
            moment = now()
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.came.put((moment, line.decode("utf-8", "replace")))

    def next(self, wanted: str = "", limit: float = PATIENCE) -> tuple[float, str]:
        """The next line that holds ``wanted``, and when it came."""
        deadline = now() + limit
        while True:
            try:
                moment, line = self.came.get(timeout=max(0.001, deadline - now()))
            except queue.Empty:
                raise RuntimeError(f"no line with {wanted!r} came within {limit:g} s") from None
            if wanted in line:
                return moment, line


def lines_of(process: subprocess.Popen[bytes]) -> Lines:
    assert process.stdout is not None
    return Lines(process.stdout.fileno())
