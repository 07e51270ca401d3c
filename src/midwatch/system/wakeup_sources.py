"""What can wake the monitor of one directory: files that appear there, processes that end, signals that mean it, time.

Events say that it is worth a look, never what became of it. Where the kernel cannot tell, a timed look takes its
place, and ``blind`` says why.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from types import FrameType

from midwatch.system import inotify, processes, procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    class WakeupSource(Protocol):
        """Something else that can tell that it is time to look."""

        def fileno(self) -> int: ...
        def read(self) -> bool: ...


TIMED_LOOK = 2.0
"""Seconds between looks at what cannot wake us."""
LONGEST_SLEEP = 86400.0
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


class Signals:
    """Signals that ask this program to end, as something to sleep on; what its caller ignores stays ignored.

    Python hears signals in its first thread only: in another, there are none to hear.
    """

    def __init__(self) -> None:
        self.asked = 0
        """The first that came."""
        self._inbox, self._outbox = os.pipe()
        os.set_blocking(self._inbox, False)
        os.set_blocking(self._outbox, False)
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}
        self._wakeup = -1
        if threading.current_thread() is threading.main_thread():
            self._wakeup = signal.set_wakeup_fd(self._outbox, warn_on_full_buffer=False)
            heard = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
            self._before = {number: signal.signal(number, self._hear) for number in heard}

    def _hear(self, number: int, _: FrameType | None) -> None:
        self.asked = self.asked or number

    def fileno(self) -> int:
        return self._inbox

    def read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._inbox, 4096)

    def close(self) -> None:
        if self._before:
            signal.set_wakeup_fd(self._wakeup)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        os.close(self._inbox)
        os.close(self._outbox)


class WakeupSources:
    """``telling``: names of files whose appearing or going is worth a look."""

    def __init__(self, directory: str, telling: frozenset[str]) -> None:
        self.telling = telling
        self.signals = Signals()
        self.blind = inotify.hides_events(directory)
        self._poll = select.poll()
        self._poll.register(self.signals, select.POLLIN)
        self._ends: dict[str, tuple[tuple[int, int], int | None]] = {}
        self._also: dict[int, WakeupSource] = {}
        self._files: inotify.FileEvents | None = None
        if os.environ.get("MIDWATCH_EVENTS") != "off":
            try:
                self._files = inotify.FileEvents()
                self._poll.register(self._files, select.POLLIN)
                self._files.add(directory, inotify.NAMES)
            except (OSError, AttributeError) as error:
                self.blind = f"the kernel sends no file events: {error}"

    def also(self, source: WakeupSource | None) -> None:
        """Wake for this as well, from now on; to be told once or often."""
        if source is not None and source.fileno() >= 0 and source.fileno() not in self._also:
            self._also[source.fileno()] = source
            self._poll.register(source.fileno(), select.POLLIN)

    def watch_ends(self, wanted: dict[str, tuple[int, int]]) -> bool:
        """Wake when one of these processes (pid and start) ends, and no other. False: one has ended already."""
        for key in [key for key, (who, _) in self._ends.items() if wanted.get(key) != who]:
            self._drop(key)
            del self._ends[key]
        fine = True
        for key, (pid, start) in wanted.items():
            if key not in self._ends:
                pidfd = processes.watch_exit(pid)
                self._ends[key] = ((pid, start), pidfd)
                if pidfd is not None:
                    self._poll.register(pidfd, select.POLLIN)
                if procfs.start_time(pid) != start:
                    fine = False
                    self._drop(key)
        return fine

    def sleep(self, until: float, soonest: float = 0.0) -> set[str]:
        """Sleep until something worth a look happened or that moment came; which of the processes have ended.

        What is written is worth none before ``soonest``; the end of a process always is.
        """
        if self.blind or any(pidfd is None for _, pidfd in self._ends.values()):
            until = min(until, time.monotonic() + TIMED_LOOK)
        while not self.signals.asked:
            left = min(until - time.monotonic(), LONGEST_SLEEP)
            if left <= 0:
                break
            ready = {fd for fd, _ in self._poll.poll(left * 1000 + 1)}
            if self.signals.fileno() in ready:
                self.signals.read()
            ended = {key for key, (_, pidfd) in self._ends.items() if pidfd in ready}
            for key in ended:
                self._drop(key)
            told = self._files is not None and self._files.fileno() in ready and self._told(self._files)
            stirred = [source.read() for fd, source in self._also.items() if fd in ready]
            if ended or told or (any(stirred) and time.monotonic() >= soonest):
                return ended
            if any(stirred):
                until = min(until, soonest)
        return set()

    def _told(self, events: inotify.FileEvents) -> bool:
        told = False
        for _, mask, name in events.read():
            told = told or name in self.telling or bool(mask & (inotify.OVERFLOW | inotify.OVER))
        return told

    def _drop(self, key: str) -> None:
        """An end is told once."""
        who, pidfd = self._ends[key]
        if pidfd is not None and pidfd >= 0:
            self._poll.unregister(pidfd)
            os.close(pidfd)
        self._ends[key] = (who, -1)

    def close(self) -> None:
        for key in self._ends:
            self._drop(key)
        self._ends = {}
        if self._files is not None:
            self._files.close()
        self.signals.close()
