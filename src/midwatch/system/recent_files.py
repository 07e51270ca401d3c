"""Files of a directory that were written since a moment.

To look at each of a hundred thousand old ones takes a third of a second. A directory changes with every file that is
begun in it, so of a large one only the recent files are looked at again until it does; now and then all, for an old
file may be written to once more.
"""

from __future__ import annotations

import os
import time

from midwatch.core.value import Value

SLACK = 2.0
"""Seconds by which a start, reckoned from clock ticks since boot, may seem later than it was."""
RACY = 0.1
"""Seconds within which a directory can change again and have the same time of change."""
AGAIN = 300.0
"""Seconds after which all files of a large directory are looked at."""
FEW = 1000
"""Files of a directory that are looked at every time."""
REMEMBERED = 2048


class _DirectoryScan(Value):
    changed: int
    due: float
    paths: list[str]


class RecentFiles:
    def __init__(self, few: int = FEW) -> None:
        self._few = few
        self._read: dict[tuple[object, ...], _DirectoryScan] = {}

    def written(self, directory: str, since: float, ends: tuple[str, ...], begins: str) -> list[str]:
        """As `find_recent`."""
        asked, now, wall = (directory, since, ends, begins), time.monotonic(), time.time()
        changed = _modified_ns(directory)
        before = self._read.get(asked)
        if before is not None and before.changed == changed and now < before.due:
            return [path for path in before.paths if _modified_ns(path) / 1e9 >= since - SLACK]
        count, paths = _scan_recent(*asked)
        self._read.pop(asked, None)
        if count > self._few and wall - changed / 1e9 > RACY:
            if len(self._read) >= REMEMBERED:
                self._read.clear()
            self._read[asked] = _DirectoryScan(changed, now + AGAIN, paths)
        return paths


def find_recent(directory: str, since: float, ends: tuple[str, ...] = (".jsonl",), begins: str = "") -> list[str]:
    """Files of a directory that were written since, the last one first; none where there is no directory."""
    return _scan_recent(directory, since, ends, begins)[1]


def _scan_recent(directory: str, since: float, ends: tuple[str, ...], begins: str) -> tuple[int, list[str]]:
    found, count = [], 0
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                if entry.name.endswith(ends) and entry.name.startswith(begins):
                    count += 1
                    try:
                        now = entry.stat(follow_symlinks=False)
                    except FileNotFoundError:
                        continue
                    if now.st_mtime >= since - SLACK:
                        found.append((now.st_mtime, entry.path))
    except (FileNotFoundError, NotADirectoryError):
        return 0, []
    return count, [path for _, path in sorted(found, reverse=True)]


def _modified_ns(path: str) -> int:
    """When it last changed, in nanoseconds; 0 where it is not there."""
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except (FileNotFoundError, NotADirectoryError):
        return 0
