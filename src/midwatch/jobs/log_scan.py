"""The output of a job: its last line, and lines that match, read once each however large it grows.

The log of a session is put aside when it has grown large (`<name>.log.1`), and begun anew. Both are read as one.
"""

import os
import re

from midwatch.core.foreign_text import NOTHING, ForeignText, is_visible
from midwatch.jobs.codec.log_text import SEQUENCE
from midwatch.system.atomic_files import PREVIOUS, open_plain

CHUNK = 1 << 18
TAIL = 4096
LONGEST_LINE = 1 << 20


class LogReader:
    """Reads a log to its end, a part at a time, and goes on there later, also where it was put aside meanwhile.

    ``whole``: begin with what was put aside before; only logs of sessions have such a part. Then a file stays open, for
    its number may be another's as soon as it is gone.
    """

    def __init__(self, path: str, *, whole: bool) -> None:
        self.path = path
        self._whole = whole
        self._fd = -1
        self._file: tuple[int, int] | None = None
        self._offset = 0

    def read(self, most: int) -> bytes:
        """The next part, smaller only at the end. Raises OSError where there is no log."""
        if self._fd < 0:
            self.open()
        found = b""
        while len(found) < most and (data := self._part(most - len(found))):
            found += data
        return found

    def _part(self, most: int) -> bytes:
        data = self._next(most)
        if not data and (following := self._following()):
            data = self._next(most)  # written just before it was put aside
            if not data:
                self._enter(open_plain(following))
                data = self._next(most)
        return data

    def skip(self, lines: int) -> None:
        """Go to where the last lines begin. Raises OSError where there is no log."""
        self._enter(open_plain(self.path))
        self._offset = find_tail_offset(self._fd, lines)
        lines -= 0 if self._offset else _count_lines(self._fd)
        if self._whole and lines > 0 and not self._offset and os.path.exists(self.path + PREVIOUS):
            self._enter(open_plain(self.path + PREVIOUS))
            self._offset = find_tail_offset(self._fd, lines)

    def pause(self) -> None:
        """Keep no file open that need not be; the next ``read`` finds its place again."""
        if not self._whole:
            self._close()

    def open(self) -> None:
        """Go to where it was, or to the beginning. Raises OSError where there is no log."""
        there = [open_plain(self.path)]
        if self._whole and os.path.exists(self.path + PREVIOUS):
            there.insert(0, open_plain(self.path + PREVIOUS))
        offset = self._offset
        at = next((fd for fd in there if _file_identity(os.fstat(fd)) == self._file), None)
        self._enter(there[0] if at is None else at)
        self._offset = 0 if at is None else offset
        for fd in there:
            if fd != self._fd:
                os.close(fd)

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _enter(self, fd: int) -> None:
        self._close()
        self._fd, self._file, self._offset = fd, _file_identity(os.fstat(fd)), 0

    def _next(self, most: int) -> bytes:
        data = os.pread(self._fd, most, self._offset)
        self._offset += len(data)
        return data

    def _following(self) -> str:
        """The file that goes on where this one ends; empty if none does, as in a run that is over and was archived."""
        ours = os.fstat(self._fd)
        previous = self.path + PREVIOUS
        if not ours.st_nlink:  # put aside, and then gone
            return next((path for path in (previous, self.path) if os.path.exists(path)), "")
        if _is_same_file(ours, self.path) or not _is_same_file(ours, previous):
            return ""
        return self.path


def _file_identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _is_same_file(found: os.stat_result, path: str) -> bool:
    try:
        return _file_identity(os.stat(path, follow_symlinks=False)) == _file_identity(found)
    except OSError:
        return False


def _count_lines(fd: int) -> int:
    count = offset = 0
    while data := os.pread(fd, CHUNK, offset):
        count += data.count(b"\n")
        offset += len(data)
    return count


def find_tail_offset(fd: int, count: int) -> int:
    """Where the last ``count`` lines begin, read backwards so that a log of any size costs the same."""
    size = at = os.fstat(fd).st_size
    wanted = count + (1 if size and os.pread(fd, 1, size - 1) == b"\n" else 0)
    while at > 0 and wanted > 0:
        start = max(0, at - CHUNK)
        block = os.pread(fd, at - start, start)
        while (found := block.rfind(b"\n")) >= 0:
            wanted -= 1
            if wanted == 0:
                return start + found + 1
            block = block[:found]
        at = start
    return 0 if count else size


def read_tail(path: str, size: int) -> bytes:
    """The last bytes of a log that Midwatch writes; empty where there is none."""
    data = b""
    for part in (path, path + PREVIOUS):
        try:
            with open(open_plain(part), "rb") as log:
                log.seek(max(0, os.fstat(log.fileno()).st_size - size + len(data)))
                data = log.read(size - len(data)) + data
        except OSError:
            break
    return data


class LogScan:
    """Looks for a line in a growing log, a part at a time. ``find`` reads what came since it was last called."""

    def __init__(self, path: str, pattern: re.Pattern[str], *, whole: bool) -> None:
        self.path = path
        self.pattern = pattern
        self.reader = LogReader(path, whole=whole)
        self.rest = b""
        self.behind = False
        """There was more to read than one part: ask again."""

    def find(self) -> ForeignText | None:
        """The first new line that matches. An unfinished last line counts too; it may be a prompt."""
        try:
            chunk = self.reader.read(CHUNK)
        except OSError:
            self.behind = False
            return None
        finally:
            self.reader.pause()
        self.behind = len(chunk) == CHUNK
        *lines, rest = (self.rest + chunk).split(b"\n")
        self.rest = rest[-LONGEST_LINE:]
        for line in lines if self.behind else [*lines, self.rest]:
            text = line.decode("utf-8", "replace").rstrip("\r")
            if self.pattern.search(text):
                return ForeignText(text.strip())
        return None


def read_last_line(path: str) -> ForeignText:
    """The last line with text in it, without control characters; empty when there is none."""
    try:
        with open(open_plain(path), "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - TAIL))
            lines = log.read(TAIL).decode("utf-8", "replace").replace("\r", "\n").split("\n")
    except OSError:
        return NOTHING
    for line in reversed(lines):
        if shown := "".join(c for c in SEQUENCE.sub("", line) if is_visible(c)).strip():
            return ForeignText(shown)
    return NOTHING
