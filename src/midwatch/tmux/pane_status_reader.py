"""Notes what the program in a pane reports of itself (OSC 7501), and has it report. Part of what captures a pane.

Some programs report only to a terminal that says that it reads reports, and tmux does not. Such a program gets the
answer from here. From then on nothing is written to the pane.
"""

from __future__ import annotations

import os
import select
import time

from midwatch.system import procfs
from midwatch.system.atomic_files import append, dumps, write_atomic
from midwatch.terminal.program_status import ASKS, StatusRecords, StatusStream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from midwatch.terminal.program_status import Fields

STATUS_LIMIT = 1 << 17
"""Bytes of a status file; then it begins anew with what holds."""
FLOOD = 100
"""Reports that are written of one piece of output, the last ones."""
ANSWER = b"\x1b]7501;?\x1b\\"
DEVICE_ATTRIBUTES = b"\x1b[c"
"""The question behind that for our answer. Without that one, it comes from a program that does not ask."""
ANSWERS_EVERY, ANSWERS_FOR, WAITS_FOR = 0.005, 15.0, 120.0
"""Seconds between two answers, in which they are given, and in which an agent must begin to draw."""
LONGEST_WAIT = 86400.0


class StatusReader:
    """All of it for one pane. Without a path nothing is noted, without a sign nothing is answered."""

    def __init__(self, path: str, sign: bytes, pane: int = 1, *, logs: bool = True) -> None:
        """``pane``: what is written to this descriptor is typed into the pane. ``logs``: a log is written, too."""
        self._file = _open_status_file(path, logs=logs)
        self._handshake = StatusHandshake(sign, pane) if self._file is not None and sign else None
        if self._handshake is None:
            prevent_writes(pane)

    @property
    def answering(self) -> bool:
        """Whether what comes out of the pane must be read at once."""
        return self._handshake is not None

    def patience(self) -> float:
        """Seconds in which nothing need be done here."""
        if self._handshake is None:
            return LONGEST_WAIT
        return ANSWERS_EVERY if self._handshake.drawing else WAITS_FOR

    def take(self, data: bytes) -> None:
        asked = self._file.take(data) if self._file is not None else False
        if self._handshake is not None:
            self._handshake.read_output(data, asked=asked)

    def answer(self) -> None:
        if self._handshake is None or self._file is None:
            return
        self._handshake.answer()
        if not self._handshake.open:
            self._file.note(answers=self._handshake.answers, asked=self._handshake.asked)
            self._handshake = None

    def close(self) -> None:
        """The pane is gone, or nobody captures it any more: nothing that was reported there is true now."""
        if self._file is not None:
            self._file.remove()


def _open_status_file(path: str, *, logs: bool) -> StatusFile | None:
    try:
        return StatusFile(path, logs=logs) if path else None
    except OSError:
        return None  # a full disk: the log may still be written, and others tell of the turn


class StatusFile:
    """What the program in the pane reports of itself, a line each, for whoever looks at the pane."""

    def __init__(self, path: str, *, logs: bool = True) -> None:
        self.path, self.logs = path, logs
        self._stream, self._records = StatusStream(), StatusRecords()
        self._size = 0
        self._begin([])

    def take(self, data: bytes) -> bool:
        """Note the reports in some output; true when the program asks whether they are read."""
        self._stream.resets = bool(self._records.of)
        found = self._stream.feed(data)
        if not found:
            return False
        lines = [_add_time(each) for each in found if each != ASKS and self._records.take(each)]
        if lines:
            self._write(lines[-FLOOD:])
        return ASKS in found

    def note(self, **what: object) -> None:
        self._write([_add_time(what)])

    def _begin(self, lines: list[str]) -> None:
        """Whoever reads this believes it only as long as this process lives: no report would be missed."""
        pid = os.getpid()
        head = _add_time(
            {"schema": 1, "reader": [pid, procfs.start_time(pid)], "boot": procfs.boot_id(), "logs": self.logs}
        )
        text = "".join([head, *lines])
        write_atomic(self.path, text)
        self._size, self._inode = len(text), os.stat(self.path).st_ino

    def remove(self) -> None:
        """Remove the file, unless another reader of the same pane has begun one."""
        try:
            if os.stat(self.path, follow_symlinks=False).st_ino == self._inode:
                os.unlink(self.path)
        except OSError:
            return

    def _write(self, lines: list[str]) -> None:
        text = "".join(lines)
        try:
            if self._size + len(text) > STATUS_LIMIT:
                before: list[Fields] = [{"state": self._records.before}] if self._records.before else []
                self._begin([_add_time(each) for each in (*before, *self._records.of.values())])
            else:
                append(self.path, text)
                self._size += len(text)
        except OSError:
            return  # a full disk: what comes later may be written


def _add_time(what: Mapping[str, object] | str) -> str:
    fields = {"event": what} if isinstance(what, str) else what
    now = {"at": round(time.time(), 3), "up": round(time.clock_gettime(time.CLOCK_BOOTTIME), 3)}
    return dumps({**now, **fields}) + "\n"


class StatusHandshake:
    """Answers the program's question before it is asked, and then never writes to the pane again.

    Claude Code asks once and takes the first answer: one of ours, or tmux's to the question behind it. Ours must lie
    unread in its input when it asks, so it is given again and again from the moment at which it prints ``sign``.
    """

    def __init__(self, sign: bytes, pane: int) -> None:
        self.sign, self.pane = sign, pane
        self.answers, self.asked = 0, False
        self.gives_up = time.monotonic() + WAITS_FOR
        self.drawing = False
        self.open = True
        self._room = select.poll()
        self._room.register(pane, select.POLLOUT)

    def read_output(self, data: bytes, *, asked: bool) -> None:
        """See in some output whether to begin, or that the question was asked, or will not be."""
        if asked:
            self.asked = True
            self.close()
        elif DEVICE_ATTRIBUTES in data:
            self.close()
        elif not self.drawing and self.sign in data:
            self.drawing = True
            self.gives_up = time.monotonic() + ANSWERS_FOR

    def answer(self) -> None:
        """Answer if it is time to, and there is room."""
        if time.monotonic() > self.gives_up:
            self.close()
        elif self.open and self.drawing and self._room.poll(0):
            self.answers += 1
            os.write(self.pane, ANSWER)

    def close(self) -> None:
        if self.open:
            self.open = False
            prevent_writes(self.pane)


def prevent_writes(pane: int) -> None:
    """Whatever is written there from now on, by whatever part of this program, cannot reach the pane."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, pane)
    os.close(null)
