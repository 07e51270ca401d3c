"""Writes what a person could read in a pane into a log. tmux runs it (`pipe-pane`) and gives it every byte.

Started with ``python -I -S``; it ends when its pane does, or when the capture is closed. It is asleep while the pane is
silent, and never holds the pane back: tmux keeps for it what it has not read yet.

It also notes what the program reports of itself (``status_reader``).
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import sys
import termios
import time

from midwatch.system.atomic_files import PREVIOUS, write_all
from midwatch.terminal.transcript import ScreenTranscript
from midwatch.tmux.pane_status_reader import StatusReader

LIMIT = 4 << 20
"""Bytes of a log, and of the one before it, which is kept as `.1`."""
SIZE = (120, 40)
PIECE = 1 << 16
GATHERS = 0.005
"""Seconds in which more may come before what has come is read: much at once costs less than little often."""
LONGEST_WAIT = 86400.0


class PaneLog:
    """A file that grows to LIMIT and is then put aside; the one that was put aside before is gone."""

    def __init__(self, path: str, limit: int = LIMIT) -> None:
        self.path, self.limit = path, limit
        self._fd = self._open()

    def _open(self, more: int = 0) -> int:
        flags = os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe may have no reader
        return os.open(self.path, flags | more, 0o600)

    def append(self, text: str) -> None:
        """Write whole lines. On a full disk they are lost, and what comes later may not be."""
        data = text.encode("utf-8", "replace")
        try:
            self._turn(len(data))
            write_all(self._fd, data)
        except OSError:
            return

    def _turn(self, more: int) -> None:
        """Begin a new file if this one would grow too large, or somebody else has put it aside."""
        ours = os.fstat(self._fd)
        if _is_same_file(ours, self.path):
            if not ours.st_size or ours.st_size + more <= self.limit:
                return
            self._put_aside()
        elif not _is_same_file(ours, self.path + PREVIOUS):
            return  # it belongs to a run that is over, and was archived
        fd = self._open(os.O_CREAT)
        os.close(self._fd)
        self._fd = fd

    def _put_aside(self) -> None:
        """There is a log at every moment: whoever opens it finds the old one or the new one."""
        new = f"{os.path.dirname(self.path)}/.{os.path.basename(self.path)}.{os.getpid()}"
        try:
            os.link(self.path, new)
            os.rename(new, self.path + PREVIOUS)
        except OSError:  # a file system without links
            os.rename(self.path, self.path + PREVIOUS)
            return
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        os.rename(new, self.path)


def _is_same_file(ours: os.stat_result, path: str) -> bool:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (ours.st_dev, ours.st_ino)


def terminal_size(terminal: str) -> tuple[int, int]:
    """Columns and rows; of a pane that is gone, none. It is not kept open, or tmux would not see its end."""
    try:
        fd = os.open(terminal, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0, 0
    try:
        height, columns = struct.unpack("HH", fcntl.ioctl(fd, termios.TIOCGWINSZ, b"\0" * 8)[:4])
    except OSError:
        return 0, 0
    finally:
        os.close(fd)
    return columns, height


class VisibleLines:
    """What a person could read in the pane, on its way into the log."""

    def __init__(self, path: str, terminal: str) -> None:
        self.log, self.terminal = PaneLog(path), terminal
        self._said: list[str] = []
        columns, height = terminal_size(terminal)
        self._transcript = ScreenTranscript(columns or SIZE[0], height or SIZE[1], self._said.append)

    def wait(self) -> float:
        """Seconds until there is something to do though nothing may come."""
        due = self._transcript.due()
        return LONGEST_WAIT if due is None else max(0.0, due - time.monotonic()) + 0.001

    def take(self, data: bytes) -> None:
        self._transcript.resize(*terminal_size(self.terminal))
        self._transcript.feed(data, time.monotonic())

    def observe(self) -> None:
        due = self._transcript.due()
        if due is not None and time.monotonic() >= due:
            self._transcript.observe(time.monotonic())

    def write(self, *, last: bool) -> None:
        if last:
            self._transcript.finish()
        if self._said:
            self.log.append("".join(self._said))
            self._said.clear()


def main() -> None:
    """Without a path for the log only reports are read."""
    path, status, sign, terminal = sys.argv[2], sys.argv[3], bytes.fromhex(sys.argv[4]), sys.argv[5]
    reports = StatusReader(status, sign, logs=bool(path))
    lines = VisibleLines(path, terminal) if path else None
    poll = select.poll()
    poll.register(0, select.POLLIN)
    going = True
    data = b""
    while going:
        wait = min(LONGEST_WAIT if lines is None else lines.wait(), reports.patience())
        if poll.poll(wait * 1000):
            if len(data) < PIECE and not reports.answering:
                time.sleep(GATHERS)
            data = os.read(0, PIECE)
            reports.take(data)
            if lines is not None:
                lines.take(data)
            going = bool(data)
        elif lines is not None:
            lines.observe()
        reports.answer()
        if lines is not None:
            lines.write(last=not going)
    reports.close()
