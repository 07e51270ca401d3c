"""Tells when an agent writes to its own files, so that the end of a turn need not wait for the next timed look."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Set as AbstractSet

from midwatch.system import inotify


class FileWriteWatcher:
    """Some files, any of which may come, go or be replaced; what cannot be watched is left to timed looks."""

    def __init__(self) -> None:
        self._events: inotify.FileEvents | None = None
        self._watched: dict[str, tuple[tuple[int, int, int], int]] = {}
        if os.environ.get("MIDWATCH_EVENTS") != "off":
            with contextlib.suppress(OSError, AttributeError):
                self._events = inotify.FileEvents()

    def fileno(self) -> int:
        """-1 where the kernel tells nothing."""
        return self._events.fileno() if self._events else -1

    def follow(self, paths: AbstractSet[str], listings: AbstractSet[str] = frozenset()) -> None:
        """These, and no others. A file that was replaced is another: to be called after every look.

        ``listings``: directories of which only names that come and go count, not what is written into their files.
        """
        if self._events is None:
            return
        wanted = dict.fromkeys(listings, inotify.NAMES) | dict.fromkeys(paths, inotify.MODIFY | inotify.NAMES)
        for path in [path for path in self._watched if path not in wanted]:
            self._events.remove(self._watched.pop(path)[1])
        for path, mask in wanted.items():
            with contextlib.suppress(OSError):
                found = os.stat(path)
                who = (found.st_dev, found.st_ino, mask)
                if self._watched.get(path, ((0, 0, 0), 0))[0] != who:
                    if path in self._watched:
                        self._events.remove(self._watched.pop(path)[1])
                    self._watched[path] = (who, self._events.add(path, mask))

    def read(self) -> bool:
        """Whether anything was written since."""
        return bool(self._events is not None and self._events.read())

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
