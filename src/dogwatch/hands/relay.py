"""Standing between a caller and work in the foreground.

The work writes into our pipes, or a terminal of its own; we copy to the caller untouched, and into the log. What
the caller does to us (Ctrl-C, Ctrl-Z, hang-up, window size) is passed on to the shim, which does it to the work.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import struct
import termios
import tty
from collections.abc import Callable, Iterator

from dogwatch.hands.spawn import Shim
from dogwatch.model.value import Value

CHUNK = 65536
PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Streams(Value):
    """What the work gets, and what we read of it."""

    stdio: tuple[int, int, int]
    copies: dict[int, int]
    """Where each of our ends goes: descriptor of ours → of the caller's."""
    terminal: int
    """Our end of the work's terminal, -1 when it has pipes."""


def open_streams() -> Streams:
    """A terminal for the work where the caller is on one, pipes elsewhere; its input is passed on as it is."""
    if os.isatty(0) and os.isatty(1):
        ours, theirs = os.openpty()
        with contextlib.suppress(OSError):
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8))
            termios.tcsetattr(theirs, termios.TCSANOW, termios.tcgetattr(0))
        if os.isatty(2):
            return Streams((theirs, theirs, theirs), {ours: 1}, ours)
        ours_err, theirs_err = os.pipe()
        return Streams((theirs, theirs, theirs_err), {ours: 1, ours_err: 2}, ours)
    out, theirs_out = os.pipe()
    err, theirs_err = os.pipe()
    return Streams((os.dup(0), theirs_out, theirs_err), {out: 1, err: 2}, -1)


class Relay:
    """Copies until the shim has said how the work ended. ``ending`` then holds its words."""

    def __init__(self, shim: Shim, streams: Streams, log: int) -> None:
        self.shim = shim
        self.streams = streams
        self.log = log
        self.said = b""
        self.ending: list[str] | None = None
        self.work = 0
        self.witness = -1
        self.over = False
        """The work has ended and nobody is left to say how."""
        self.line_start = True
        """Nothing of the work's stands on the caller's current line."""
        self.typed = b""
        self.poll = select.poll()
        self.before: list[int | list[bytes | int]] | None = None

    def run(self, every: float, idle: Callable[[], None], busy: Callable[[], None]) -> list[str] | None:
        """Relay. ``idle`` is called when nothing came for ``every`` seconds, ``busy`` before anything is shown."""
        with self.signals(), self.raw():
            self.register()
            while self.ending is None and not self.over:
                ready = self.poll.poll(every * 1000)
                if not ready:
                    idle()
                for fd, event in ready:
                    if fd in self.streams.copies:
                        busy()
                    self.handle(fd, event)
            busy()
            self.drain()
        return self.ending

    def register(self) -> None:
        self.poll.register(self.inbox, select.POLLIN)
        self.poll.register(self.shim.control, select.POLLIN)
        for fd in self.streams.copies:
            os.set_blocking(fd, False)
            self.poll.register(fd, select.POLLIN)
        if self.streams.terminal >= 0:
            self.poll.register(0, select.POLLIN)

    def handle(self, fd: int, event: int) -> None:
        if fd == self.inbox:
            for number in set(os.read(self.inbox, 4096)):
                self.on_signal(number)
        elif fd == self.shim.control:
            self.hear()
        elif fd == self.witness:
            self.over = True
        elif fd == 0:
            self.type(fd)
        else:
            if event & select.POLLOUT:
                self.flush_typed()
            if event & ~select.POLLOUT and self.copy(fd) == 0:
                self.poll.unregister(fd)

    def plain(self) -> bool:
        """Whether a line of ours may stand on the caller's terminal: nothing unfinished, nothing full-screen there."""
        if not self.line_start:
            return False
        if self.streams.terminal < 0:
            return True
        modes = termios.tcgetattr(self.streams.terminal)[3]
        return bool(modes & termios.ICANON and modes & termios.ECHO)

    # Output

    def copy(self, fd: int) -> int:
        """Copy what is there once; 0 at the end of the stream, -1 when nothing is there."""
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return -1
        except OSError:  # a terminal whose other side is closed
            return 0
        if data:
            self.line_start = data.endswith(b"\n")
            with contextlib.suppress(OSError):
                write_all(self.log, data)
            try:
                write_all(self.streams.copies[fd], data)
            except BrokenPipeError:
                os.close(fd)  # nobody reads us: the work is to find out as it would alone
                self.poll.unregister(fd)
                del self.streams.copies[fd]
                return -1
        return len(data)

    def drain(self) -> None:
        """What the work wrote before it ended is in the pipes by now; what its orphans write is not waited for."""
        for fd in list(self.streams.copies):
            while fd in self.streams.copies and self.copy(fd) > 0:
                pass

    # The shim

    def hear(self) -> None:
        heard = os.read(self.shim.control, 4096)
        *lines, self.said = (self.said + heard).split(b"\n")
        for line in lines:
            words = line.decode("utf-8", "replace").split("\t")
            if words[0] in ("ended", "refused"):
                self.ending = words
            elif words[0] == "started":
                self.work = int(words[1])
            elif words[0] == "suspended" and self.streams.terminal >= 0:
                self.suspend()
        if not heard:
            self.poll.unregister(self.shim.control)
            self.outlive_shim()

    def outlive_shim(self) -> None:
        """The shim was killed without a word: go on relaying until the work itself has ended."""
        try:
            self.witness = os.pidfd_open(self.work) if self.work else -1
        except OSError:
            self.witness = -1
        if self.witness >= 0:
            self.poll.register(self.witness, select.POLLIN)
        self.over = self.witness < 0

    def tell(self, number: int) -> None:
        """The shim is our child and not reaped before we end, so its pid is its own."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.shim.pid, number)

    # The caller

    def type(self, fd: int) -> None:
        try:
            data = os.read(fd, 4096)
        except OSError:
            data = b""
        if not data:
            self.poll.unregister(fd)
        self.typed += data
        self.flush_typed()

    def flush_typed(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.typed = self.typed[os.write(self.streams.terminal, self.typed) :]
        if self.streams.terminal in self.streams.copies:
            self.poll.modify(self.streams.terminal, select.POLLIN | (select.POLLOUT if self.typed else 0))

    def on_signal(self, number: int) -> None:
        if number in PASSED_ON:
            self.tell(number)
        elif number == signal.SIGTSTP:
            self.tell(number)
            self.suspend()
        elif number == signal.SIGCONT:
            self.tell(number)
        elif number == signal.SIGWINCH and self.streams.terminal >= 0:
            size = fcntl.ioctl(1, termios.TIOCGWINSZ, b"\0" * 8)
            fcntl.ioctl(self.streams.terminal, termios.TIOCSWINSZ, struct.pack("8s", size))

    def suspend(self) -> None:
        """Stop as the shell expects it, terminal restored; go on, and let the work go on, when it says so."""
        self.restore()
        os.kill(0 if self.streams.terminal >= 0 else os.getpid(), signal.SIGSTOP)
        self.make_raw()
        self.tell(signal.SIGCONT)

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        self.inbox, outbox = os.pipe()
        for fd in (self.inbox, outbox):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(outbox, warn_on_full_buffer=False)
        listened = (*PASSED_ON, signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)
        before = {number: signal.signal(number, lambda *_: None) for number in listened}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(-1)

    @contextlib.contextmanager
    def raw(self) -> Iterator[None]:
        self.make_raw()
        try:
            yield
        finally:
            self.restore()

    def make_raw(self) -> None:
        if self.streams.terminal >= 0:
            self.before = termios.tcgetattr(0)
            tty.setraw(0, termios.TCSADRAIN)

    def restore(self) -> None:
        if self.before is not None:
            termios.tcsetattr(0, termios.TCSADRAIN, self.before)
            self.before = None


def write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]
