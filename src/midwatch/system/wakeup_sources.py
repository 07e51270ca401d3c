"""What can wake the monitor of one directory: files that appear there, processes that end, signals that mean it, time.

Events say that it is worth a look, never what became of it. Where the kernel cannot tell, a timed look takes its
place, and ``blind`` says why.
"""

from __future__ import annotations

import os
import select
import time

from midwatch.system import inotify, processes, procfs
from midwatch.system.end_signals import WakeupSignals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class WakeupSource(Protocol):
        """Something else that can tell that it is time to look."""

        def fileno(self) -> int: ...
        def read(self) -> bool: ...


TIMED_LOOK = 2.0
"""Seconds between looks at what cannot wake us."""
LONGEST_SLEEP = 86400.0


class WakeupSources:
    """``telling``: names of files whose appearing or going is worth a look."""

    def __init__(self, directory: str, telling: frozenset[str], *, guest: bool = False) -> None:
        self.telling = telling
        self.signals = WakeupSignals(guest=guest)
        self.blind = inotify.find_event_problem(directory)
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
