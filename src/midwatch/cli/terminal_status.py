"""Reports of a call to the terminal that it runs in: OSC 7501, and OSC 9;4 where that is known to be understood.

They go to standard error, where the live line is, and only if that is a terminal: whoever is to call this asks
`os.isatty(2)` first, and imports it only then. A terminal gets reports if it is known for them or has answered the
query; the settings can turn both off, or reports on without a question. A terminal that cannot be written to is left
alone: no report is worth a call that hangs or fails.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import termios
import time

from midwatch.cli import context, output
from midwatch.core.text import visible
from midwatch.core.verdict import Verdict
from midwatch.system.atomic_files import write_all
from midwatch.terminal import known_terminals, status_report
from midwatch.terminal.call_reports import CallReports
from midwatch.terminal.report_model import ProgramReport

APP = "midwatch"
RECORD = "midwatch"
"""Our record in the terminal, beside the root, which belongs to the work: an agent may report there itself, and what is
cleared there is cleared below. One record for all our calls: ends stay, and one for each job would pile up."""
REFRESH = 10.0
"""Seconds after which the same is sent again: Ghostty takes a bar of OSC 9;4 away after about 15."""
CHUNK = 4096
PATIENCE = 0.2
"""Seconds within which a terminal must have answered."""
HELD = (
    signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU,
)  # fmt: skip
"""Signals that wait until the terminal has its modes back; SIGTTOU because who holds it may set them at any time."""


class TerminalStatus:
    """What is reported. Without anybody to report to, nothing is written."""

    def __init__(self, *, status: bool, bar: bool, typed: bytes = b"") -> None:
        self.status = status
        self.bar = bar
        self.typed = typed
        """What was typed while the terminal was asked, for the work that reads this terminal."""
        self.reports = CallReports()
        self.over = False
        self._begun = False
        self._last = b""
        self._sent = 0.0

    def start(self, name: str) -> None:
        self.report(self.reports.started(name))

    def ongoing(self, live: list[Verdict], pending: int) -> None:
        self.report(self.reports.ongoing(live, pending))

    def outcome(self, verdict: Verdict, code: int) -> None:
        self.reports.add_outcome(verdict, code)

    def run_outcome(self, verdict: Verdict) -> None:
        self.reports.add_run_outcome(verdict)

    def finish(self) -> None:
        """The last report, of all outcomes."""
        if last := self.reports.last():
            self.report(last)
            self.over = True

    def close(self) -> None:
        """Whatever ended the call without a last report, a Ctrl-C or an error: nothing of it is to stay."""
        if self._begun and not self.over:
            self.report(self.reports.broken_off())

    def report(self, report: ProgramReport) -> None:
        data = self._encoded(report)
        now = time.monotonic()
        if not data or (data == self._last and not (self.bar and now >= self._sent + REFRESH)):
            return
        self._begun = True  # before it is written: a Ctrl-C may come as soon as it is
        if _write(data):
            self._last, self._sent = data, now

    def _encoded(self, report: ProgramReport) -> bytes:
        told = status_report.encode_status(
            report.state, path=RECORD, kind=report.kind, progress=report.progress, app=APP, title=report.title,
            msg=report.msg,
        )  # fmt: skip
        bar = status_report.encode_bar(report.state, report.progress)
        return told * self.status + bar * self.bar


def open_status(*, keeps_typed: bool = False) -> TerminalStatus:
    """Find out whether the terminal at standard error takes reports; it may be asked.

    With ``keeps_typed`` what a person types meanwhile is in the result, else it is put back for the next who reads.
    """
    env = os.environ
    if not known_terminals.takes_reports(env) or (wanted := context.program_status_mode()) == "off":
        return TerminalStatus(status=False, bar=False)
    status, typed = wanted == "on" or known_terminals.shows_status(env), b""
    if not status and known_terminals.answers_queries(env) and _may_ask():
        status, typed = _query_terminal(keeps_typed=keeps_typed)
    if typed and not keeps_typed:
        _put_back(typed)
        typed = b""
    return TerminalStatus(status=status, bar=known_terminals.shows_progress_bar(env), typed=typed)


def _may_ask() -> bool:
    """Whether the answer comes to us: it is as if typed, so this must be our keyboard, and nobody typing."""
    try:
        same = os.isatty(0) and os.fstat(0).st_rdev == os.fstat(2).st_rdev
        return same and os.tcgetpgrp(0) == os.getpgrp() and not _has_input() and _has_room()
    except OSError:
        return False


def _query_terminal(*, keeps_typed: bool) -> tuple[bool, bytes]:
    """Whether the terminal knows OSC 7501, and what was typed beside its answers. Its modes are as they were."""
    answers, rest = status_report.StatusAnswers(), b""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        before = termios.tcgetattr(0)
        try:
            termios.tcsetattr(0, termios.TCSANOW, _unbuffered_modes(before))
            if not _has_input():  # half a line, which could not be seen before
                os.write(2, status_report.QUERY)
                _read_answers(answers, time.monotonic() + PATIENCE)
            answers.finish()
            while answers.typed and not keeps_typed and _can_put_back() and _has_input():
                rest += os.read(0, CHUNK)  # what is put back comes last, so all of it must be, to stay in order
        finally:
            termios.tcsetattr(0, termios.TCSANOW, before)
    except (OSError, termios.error):
        pass  # the terminal has gone, or is another's by now
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return bool(answers.supported), answers.typed + rest


def _read_answers(answers: status_report.StatusAnswers, deadline: float) -> None:
    """Read one byte at a time: what comes after the last answer is for the next who reads."""
    while not answers.over and select.select([0], [], [], max(0.0, deadline - time.monotonic()))[0]:
        if not (data := os.read(0, 1)):
            return
        answers.feed(data[0])


def _unbuffered_modes(modes: list[int | list[bytes | int]]) -> list[int | list[bytes | int]]:
    """Keys as they are typed, not shown; Ctrl-C is still a signal."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, keys = modes
    assert isinstance(lflag, int)
    assert isinstance(keys, list)
    keys = list(keys)
    keys[termios.VMIN], keys[termios.VTIME] = 1, 0
    lflag &= ~(termios.ICANON | termios.ECHO | termios.ECHONL)
    return [iflag, oflag, cflag, lflag, ispeed, ospeed, keys]


def _can_put_back() -> bool:
    try:
        with open("/proc/sys/dev/tty/legacy_tiocsti", encoding="ascii") as switch:
            return switch.read(1) != "0"
    except OSError:  # a kernel that is older than the switch
        return True


def _put_back(typed: bytes) -> None:
    """As if typed again. Where the kernel forbids that, it is at least not lost in silence."""
    for at in range(len(typed)):
        try:
            fcntl.ioctl(0, termios.TIOCSTI, typed[at : at + 1])
        except OSError:
            lost = visible(typed[at:].decode("utf-8", "replace"))
            output.print_warning(f"what you typed while the terminal was asked for its abilities is lost: {lost}")
            return


def _has_input() -> bool:
    return bool(select.select([0], [], [], 0)[0])


def _has_room() -> bool:
    return bool(select.select([], [2], [], 0)[1])


def _write(data: bytes) -> bool:
    """Write a report whole, to a terminal that is not stopped (Ctrl-S)."""
    try:
        if not _has_room():
            return False
        write_all(2, data)
    except BlockingIOError:  # half a sequence is ended by the next escape
        return False
    except OSError:
        return False
    return True
