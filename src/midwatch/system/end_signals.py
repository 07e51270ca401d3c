"""Signals that ask this program to end: one handler, which notes the first of them, and four ways to use it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""That of Ctrl-C is taken over first and given back last: its usual handler could break off between two of them."""


class EndSignals:
    """Asked to end, we note it: what was begun is closed first. What our caller ignores stays ignored.

    Python hears signals in its first thread only: in another, there are none to hear.
    """

    NUMBERS: tuple[int, ...] = ENDING

    def __init__(self, asked: int = 0) -> None:
        self.asked = asked
        """The first that came."""
        self._breaking = False
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def was_asked(self) -> bool:
        return self.asked != 0

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Where nothing would be left half done: KeyboardInterrupt."""
        self._breaking = True
        try:
            if self.asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._breaking = False

    def listen(self) -> None:
        if threading.current_thread() is threading.main_thread():
            heard = [each for each in self.NUMBERS if self._replaces(each)]
            self._before = {number: signal.signal(number, self._hear) for number in heard}

    def restore(self) -> None:
        for number, handler in reversed(self._before.items()):
            signal.signal(number, handler)

    def __enter__(self) -> None:
        self.listen()

    def __exit__(self, *_: object) -> None:
        self.restore()

    def _replaces(self, number: int) -> bool:
        """Whether its present handler may be replaced."""
        return signal.getsignal(number) != signal.SIG_IGN

    def _hear(self, number: int, _: FrameType | None) -> None:
        self.asked = self.asked or number
        if self._breaking:
            self._breaking = False  # once: what ends then is not to be broken off itself
            raise KeyboardInterrupt


class CommandSignals(EndSignals):
    """For a command that a person waits for: the first signal lets it finish, the second one ends it."""

    NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def _replaces(self, number: int) -> bool:  # noqa: ARG002  # a person's Ctrl-C counts, whatever the caller ignores
        return True

    def _hear(self, number: int, _: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = number


class ExitSignals(EndSignals):
    """Where a signal would end us at once: SystemExit, so that the programs that we have started are ended first.

    Ctrl-C does so anyway. A handler of the caller's is left.
    """

    NUMBERS = (signal.SIGTERM, signal.SIGHUP)

    def _replaces(self, number: int) -> bool:
        return signal.getsignal(number) is signal.SIG_DFL

    def _hear(self, number: int, _: FrameType | None) -> None:
        raise SystemExit(128 + number)


class WakeupSignals(EndSignals):
    """The same as something to sleep on, from its making until it is closed.

    With ``guest``, in somebody else's program, no signal is heard; `ask` takes its place.
    """

    def __init__(self, *, guest: bool = False) -> None:
        super().__init__()
        self._inbox, self._outbox = os.pipe()
        os.set_blocking(self._inbox, False)
        os.set_blocking(self._outbox, False)
        self._wakeup = -1
        if not guest and threading.current_thread() is threading.main_thread():
            self._wakeup = signal.set_wakeup_fd(self._outbox, warn_on_full_buffer=False)
            self.listen()

    def fileno(self) -> int:
        return self._inbox

    def ask(self) -> None:
        """Ask it to end, from any thread, as Ctrl-C would."""
        self.asked = self.asked or signal.SIGINT
        with contextlib.suppress(OSError):
            os.write(self._outbox, b"\0")

    def read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            os.read(self._inbox, 4096)

    def close(self) -> None:
        if self._before:
            signal.set_wakeup_fd(self._wakeup)
        self.restore()
        os.close(self._inbox)
        os.close(self._outbox)
