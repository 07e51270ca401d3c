"""The state that an agent writes of itself. Where that is, and what it says, stands in the agent's folder."""

from __future__ import annotations

import os

from midwatch.agents import parts
from midwatch.core.errors import FormatError
from midwatch.core.pane_model import RunningAgent, SourceReport
from midwatch.system.atomic_files import read_plain

LARGEST = 1 << 20
MOST = 512


class StateFiles:
    """Kept by a watcher from look to look, for all its agents; a file that did not change is not read again."""

    def __init__(self) -> None:
        self._read: dict[tuple[int, int], tuple[tuple[int, ...], SourceReport | None]] = {}

    def read(self, running: RunningAgent) -> SourceReport | None:
        """What the agent says of itself; None where it says nothing, trouble where that cannot be read."""
        path, who = path_of(running), (running.pid, running.start)
        if not path:
            return None
        try:
            now = os.stat(path)
            seen = (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns)
            before = self._read.pop(who, ((), None))
            if before[0] != seen:
                before = (seen, _read(path, running))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return _trouble(f"{path} cannot be read: {error.strerror or error}")
        except FormatError as error:
            return _trouble(f"{path}: {error}")
        self._read[who] = before
        if len(self._read) > MOST:
            del self._read[next(iter(self._read))]
        return before[1]


def path_of(running: RunningAgent) -> str:
    """Where it is, or would be; empty for an agent that has none."""
    return parts.files(running.agent).state_path(running)


def _read(path: str, running: RunningAgent) -> SourceReport | None:
    """Read it; once more if it was just being written."""
    for again in (True, False):
        content = read_plain(path, LARGEST)
        try:
            return parts.files(running.agent).read_state(content, running)
        except FormatError:
            if not again:
                raise
    raise AssertionError


def _trouble(why: str) -> SourceReport:
    return SourceReport("state", None, {}, why)
