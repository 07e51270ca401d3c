"""Standing between a caller and work in the foreground.

The work writes into our pipes, or a terminal of its own; we copy to the caller untouched, and into the log. What
the caller does to us (Ctrl-C, Ctrl-Z, hang-up, window size) is passed on to the shim, which does it to the work.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import termios
import tty
from collections.abc import Callable, Iterator

from midwatch.core.text import visible
from midwatch.jobs.foreground_streams import NOWHERE, WorkStreams, copy_terminal_size, has_job_control, is_in_foreground
from midwatch.jobs.launch import LaunchedShim
from midwatch.system import procfs
from midwatch.system.atomic_files import write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.system.exit_status import HeldProcess

CHUNK = 65536
ATOMIC = 4096
"""A pipe that has room at all has room for this much, so that writing it never blocks."""
AGAIN = 0.5
INTERRUPT = b"\x03"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
OTHER = (signal.SIGTSTP, signal.SIGCONT, signal.SIGWINCH)


class ForegroundRelay:
    """Copies until the shim has said how the work ended."""

    def __init__(self, shim: LaunchedShim, streams: WorkStreams, log: int, *, typed: bytes = b"") -> None:
        self.shim = shim
        self.streams = streams
        self.log = log
        self.said = b""
        self.ending: list[str] | None = None
        self.work = 0
        self.witness = NOWHERE
        self.held: HeldProcess | None = None
        """The work, held on to once its shim is gone: its exit status can then be learnt from the kernel."""
        self.over = False
        """The work has ended and nobody is left to say how."""
        self.line_start = True
        """Nothing of the work's stands on the caller's current line."""
        self.typed = typed
        """Keys for the work that its terminal had no room for yet; at first, those typed before there was any."""
        self.asked_to_suspend = False
        self.asked_to_end = False
        self.poll = select.poll()
        self.before: list[int | list[bytes | int]] | None = None
        self.clear: Callable[[], None] = lambda: None

    def run(self, every: float, idle: Callable[[], None], busy: Callable[[], None]) -> list[str] | None:
        """Relay; returns the shim's last words, None when it was killed without any.

        ``idle`` is called when nothing came for ``every`` seconds, ``busy`` before anything is shown.
        """
        self.clear = busy
        with self.signals(), self.terminal():
            self.register()
            while self.ending is None and not self.over:
                ready = self.poll.poll(every * 1000)
                if not ready:
                    idle()
                for fd, event in ready:
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
        if self.typed:
            self.flush_typed()

    def handle(self, fd: int, event: int) -> None:
        if fd == self.inbox:
            for number in set(os.read(self.inbox, 4096)):
                self.on_signal(number)
        elif fd == self.shim.control:
            self.read_control()
        elif fd == self.witness:
            self.over = True
        elif fd == 0:
            self.type()
        else:
            if event & select.POLLOUT:
                self.flush_typed()
            if event & ~select.POLLOUT and self.copy(fd) == 0:
                self.close(fd)

    def plain(self) -> bool:
        """Whether a line of ours may stand on the caller's terminal: nothing unfinished, nothing full-screen there."""
        if not self.line_start:
            return False
        if self.streams.terminal not in self.streams.copies:
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
            self.clear()
            self.line_start = data.endswith(b"\n")
            with contextlib.suppress(OSError):
                write_all(self.log, data)
            self.show(fd, data)
        return len(data)

    def show(self, fd: int, data: bytes) -> None:
        """Write to the caller, however slowly it reads; once we were asked to end and the work has, only what fits."""
        target = self.streams.copies[fd]
        try:
            while data and target != NOWHERE:
                hurried = self.asked_to_end and self.ending is not None
                watched = [self.shim.control] if self.asked_to_end and not hurried else []
                heard, room, _ = select.select(watched, [target], [], 0 if hurried else AGAIN)
                if room:
                    with contextlib.suppress(BlockingIOError):
                        data = data[os.write(target, data[:ATOMIC]) :]
                elif hurried:
                    return
                if heard:
                    self.read_control()
        except BrokenPipeError:
            self.close(fd)  # nobody reads us: the work is to find out as it would alone
        except OSError:
            self.streams.copies[fd] = NOWHERE  # the terminal is gone; what is still said goes into the log

    def close(self, fd: int) -> None:
        self.poll.unregister(fd)
        del self.streams.copies[fd]
        if fd != self.streams.terminal:  # the terminal stays open: closing it would hang up on the work
            os.close(fd)

    def drain(self) -> None:
        """What the work wrote before it ended is in the pipes by now; what its orphans write is not waited for."""
        for fd in list(self.streams.copies):
            while fd in self.streams.copies and self.copy(fd) > 0:
                pass

    # The shim

    def read_control(self) -> None:
        heard = os.read(self.shim.control, 4096)
        *lines, self.said = (self.said + heard).split(b"\n")
        for line in lines:
            words = line.decode("utf-8", "replace").split("\t")
            if words[0] in ("ended", "refused"):
                self.ending = words
            elif words[0] in ("forked", "started"):
                self.work = int(words[1])
            elif words[0] == "retrying":
                self.clear()
                end = "\n" if self.before is None else "\r\n"
                os.write(2, f"midwatch: {visible(words[1])}{end}".encode("utf-8", "replace"))
            elif words[0] == "suspended" and (self.streams.terminal != NOWHERE or self.asked_to_suspend):
                self.suspend()
        if not heard:
            self.poll.unregister(self.shim.control)
            self.outlive_shim()

    def outlive_shim(self) -> None:
        """The shim was killed without a word: go on relaying until the work itself has ended."""
        if self.work:
            from midwatch.system.exit_status import HeldProcess  # noqa: PLC0415  # few lose their shim

            self.held = HeldProcess(self.work, procfs.start_time(self.work))
            self.witness = self.held.fileno()
        if self.witness != NOWHERE:
            self.poll.register(self.witness, select.POLLIN)
        self.over = self.witness == NOWHERE

    def signal_shim(self, number: int) -> None:
        """The shim is our child and not reaped before we end, so its pid is its own."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.shim.pid, number)

    # The caller

    def type(self) -> None:
        try:
            data = os.read(0, 4096)
        except OSError:
            data = b""
        if not data:
            self.poll.unregister(0)
        if self.streams.terminal in self.streams.copies:
            self.typed += data
            self.flush_typed()
        elif INTERRUPT in data:  # the work has closed its terminal, which could have told it
            self.signal_shim(signal.SIGINT)

    def flush_typed(self) -> None:
        terminal = self.streams.terminal
        try:
            self.typed = self.typed[os.write(terminal, self.typed) :]
        except BlockingIOError:
            pass
        except OSError:
            self.typed = b""
        if terminal in self.streams.copies:
            self.poll.modify(terminal, select.POLLIN | (select.POLLOUT if self.typed else 0))

    def on_signal(self, number: int) -> None:
        if number == signal.SIGTSTP:
            self.asked_to_suspend = True
            self.signal_shim(number)
        elif number == signal.SIGCONT:
            self.take_terminal()
        elif number == signal.SIGWINCH and self.streams.terminal != NOWHERE:
            copy_terminal_size(self.streams.terminal)

    def suspend(self) -> None:
        """Stop as the shell expects it, terminal restored; go on, and let the work go on, when it says so."""
        self.asked_to_suspend = False
        self.clear()
        self.restore()
        if has_job_control():
            os.kill(0 if self.streams.terminal != NOWHERE else os.getpid(), signal.SIGSTOP)
        self.take_terminal()
        self.signal_shim(signal.SIGCONT)

    @contextlib.contextmanager
    def signals(self) -> Iterator[None]:
        """Listen. What asks us to end is passed on at once, even while a write to the caller blocks."""
        self.inbox, outbox = os.pipe()
        for fd in (self.inbox, outbox):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(outbox, warn_on_full_buffer=False)
        heeded = [number for number in (*ENDING, *OTHER) if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, self.heed) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            signal.set_wakeup_fd(-1)

    def heed(self, number: int, _: object) -> None:
        if number in ENDING:
            self.asked_to_end = True
            self.signal_shim(number)

    @contextlib.contextmanager
    def terminal(self) -> Iterator[None]:
        self.take_terminal()
        try:
            yield
        finally:
            self.restore()

    def take_terminal(self) -> None:
        """Read the caller's keys as they are typed, if its terminal is ours to read from."""
        if self.streams.terminal == NOWHERE:
            return
        copy_terminal_size(self.streams.terminal)
        with contextlib.suppress(OSError, termios.error):
            if is_in_foreground():
                if self.before is None:
                    self.before = termios.tcgetattr(0)
                    self.poll.register(0, select.POLLIN)
                tty.setraw(0, termios.TCSADRAIN)  # also when it was ours already: a shell may have been there meanwhile

    def restore(self) -> None:
        if self.before is not None:
            with contextlib.suppress(OSError, KeyError):
                self.poll.unregister(0)
            with contextlib.suppress(OSError, termios.error):
                termios.tcsetattr(0, termios.TCSADRAIN, self.before)
            self.before = None
