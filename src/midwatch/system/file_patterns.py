"""Files that match a pattern such as ``docs/**/*.md``, looked for within limits: who made the directories is not known.

The patterns are those of the glob module, with one difference: ``**`` follows no link. Two links that lead to their own
directory are a tree without end.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase

from midwatch.core.errors import RefusedError
from midwatch.core.text import format_duration, visible

MOST = 1_000_000
"""Entries of directories that are looked at."""
LIMIT = 20.0
"""Seconds that a search may take."""
OFTEN = 1000
"""Entries between two looks at the clock."""
ANY_DEPTH = "**"


def find_files(pattern: str, directory: str) -> list[str]:
    """Plain files that match, sorted, each as the pattern has it. RefusedError where there is more than a limit."""
    return [] if pattern.endswith("/") else sorted(_FileSearch(pattern, directory).run())


class _FileSearch:
    def __init__(self, pattern: str, directory: str) -> None:
        self._pattern, self._directory = pattern, directory
        self._parts = _split_pattern(pattern)
        self._looked, self._until = 0, time.monotonic() + LIMIT

    def run(self) -> set[str]:
        found: set[str] = set()
        begin = ("/" if self._pattern.startswith("/") else "", 0)
        left, known = [begin], {begin}
        while left:
            path, at = left.pop()
            for each, now in self._step(path, at):
                if now == len(self._parts):
                    found.add(each)
                elif (each, now) not in known:
                    known.add((each, now))
                    left.append((each, now))
        return found

    def _step(self, path: str, at: int) -> Iterator[tuple[str, int]]:
        """Where to go on from a directory (which ends with a slash), and with which part; files have no further one."""
        part, last = self._parts[at], at + 1 == len(self._parts)
        if part == ANY_DEPTH:
            yield path, at + 1
            for entry in self._entries(path):
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    yield f"{path}{entry.name}/", at
        elif not glob.has_magic(part):
            self._count()
            if not last:
                yield f"{path}{part}/", at + 1
            elif self._is_file(path + part):
                yield path + part, at + 1
        else:
            for entry in self._entries(path):
                if (entry.name[0] != "." or part[0] == ".") and fnmatchcase(entry.name, part):
                    if last and self._is_file(path + entry.name):
                        yield path + entry.name, at + 1
                    elif not last:
                        yield f"{path}{entry.name}/", at + 1

    def _entries(self, path: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(os.path.join(self._directory, path)) as entries:
                for entry in entries:
                    self._count()
                    yield entry
        except (OSError, ValueError):
            return  # no directory, or none that may be read

    def _is_file(self, path: str) -> bool:
        return os.path.isfile(os.path.join(self._directory, path))

    def _count(self) -> None:
        self._looked += 1
        if self._looked > MOST:
            self._refuse(f"there are more than {MOST:,} files and directories to look at")
        if not self._looked % OFTEN and time.monotonic() > self._until:
            self._refuse(f"to look for them takes longer than {format_duration(LIMIT)}")

    def _refuse(self, why: str) -> None:
        raise RefusedError(f"files that match {visible(self._pattern)} cannot be found: {why}; name them more closely")


def _split_pattern(pattern: str) -> list[str]:
    parts: list[str] = []
    for part in filter(None, pattern.split("/")):
        if part != ANY_DEPTH or parts[-1:] != [ANY_DEPTH]:
            parts.append(part)
    return [*parts, "*"] if parts[-1:] == [ANY_DEPTH] else parts or [""]
