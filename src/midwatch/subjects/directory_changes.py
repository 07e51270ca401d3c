"""When to look at whole directories again: a file has appeared or gone, or what cannot push is due.

The same events of the kernel as for `wait`. Panes, beats and processes of other watchers tell nobody, so there is a
timed look, too.
"""

from __future__ import annotations

import select
import time

from midwatch.system import inotify
from midwatch.system.wakeup_sources import TIMED_LOOK

AT_ONCE = 0.1
"""Seconds between two looks, however much happens."""


class DirectoryChanges:
    def __init__(self) -> None:
        self._poll = select.poll()
        self._files: inotify.FileEvents | None = None
        self._watched: set[str] = set()
        self._last = 0.0
        try:
            self._files = inotify.FileEvents()
            self._poll.register(self._files, select.POLLIN)
        except (OSError, AttributeError):  # the timed look remains
            self._files = None

    def watch(self, directories: list[str]) -> None:
        """Wake for these as well; to be told once or often. One that is not there yet is met by the timed look."""
        for directory in directories:
            if self._files is None or directory in self._watched:
                continue
            try:
                self._files.add(directory, inotify.NAMES)
                self._watched.add(directory)
            except OSError:
                continue

    def sleep(self, until: float) -> None:
        """Sleep until something worth a look happened, a timed look is due, or that moment came."""
        due = min(until, time.monotonic() + TIMED_LOOK)
        rest = self._last + AT_ONCE - time.monotonic()
        if rest > 0:
            select.poll().poll(rest * 1000)
        self._poll.poll(max(0.0, due - time.monotonic()) * 1000 + 1)
        if self._files is not None and any(mask & inotify.OVER for _, mask, _ in self._files.read()):
            self._watched.clear()  # one was removed, perhaps to be made anew
        self._last = time.monotonic()

    def close(self) -> None:
        if self._files is not None:
            self._files.close()
