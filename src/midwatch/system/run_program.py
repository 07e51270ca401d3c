"""Programs of others that Midwatch runs and waits for, each with a deadline. The only module that uses `subprocess`.

`run` starts a program without a terminal, in a group of its own, and collects its output; `call` is the same with
errors in words. `run_in_foreground` leaves the terminal to the program. `pass_on` starts a program of ours that ends at
once. Clients of tmux are started by `midwatch.tmux.client`: importing `subprocess` would slow every `ls` and `wait`.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time

from midwatch.core.text import format_duration
from midwatch.core.value import Value
from midwatch.system import processes, procfs, terminate_tree
from midwatch.system.atomic_files import write_all
from midwatch.system.child_environment import without_secrets
from midwatch.system.end_signals import EndSignals
from midwatch.system.kill_on_exit import KillOnExit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

CHUNK = 1 << 16
MOST = 8
"""Pieces read at a time: all that a pipe holds, though not all that others may go on writing into it."""
MERCY = 1.0
"""Seconds between asking a group to end and ending it, and for a program that was killed to be gone."""
BLIND = 0.05
"""Seconds between looks where the kernel does not tell of an end."""
LONGEST_WAIT = 86400.0
"""Seconds of one sleep; poll takes no number of milliseconds above 2^31."""
LARGEST = 64 << 20
"""Bytes that `call` reads."""


class OutputCap(Value):
    """How much is kept of what a program prints."""

    size: int
    ends: bool = False
    """A program that prints more is ended. Otherwise the last bytes are kept."""


class RunLimits(Value):
    seconds: float
    output: OutputCap
    errors: OutputCap | None = None
    """For standard error, if it is kept apart; otherwise it is mixed into the output, or dropped."""
    drop_errors: bool = False
    mercy: float = 0.0
    """Seconds between SIGTERM and SIGKILL; 0: SIGKILL at once."""
    whole_group: bool = False
    """What a program leaves running when it ends by itself is ended too."""
    keeps_terminal: bool = False
    """The program stays in our session, so that it can ask for something at our terminal; only itself is ended then."""


class ProgramRun(Value):
    code: int
    """Its exit code; below 0 the signal that killed it."""
    output: bytes
    errors: bytes
    ended: bool = True
    """It ended by itself. Otherwise it was ended: for its output, because it was cancelled, or because it was late."""
    too_much: bool = False


class ProgramOutput(Value):
    code: int
    """Its exit code; below 0 the signal that ended it."""
    out: str
    trouble: str


class CallError(Exception):
    """It could not be run; the message begins a sentence, to which a link adds what to do."""


class ProgramLateError(CallError):
    """It took too long and was ended."""


def run_program(
    command: list[str], limits: RunLimits, *, cwd: str | None = None, env: Mapping[str, str] | None = None,
    data: bytes = b"", cancel: int = -1,
) -> ProgramRun:  # fmt: skip
    """Run a program until it ends, its time is up, it prints too much, or the pipe ``cancel`` ends.

    ``data`` is its standard input. Its own end counts, not the end of its output, which its children may keep open.
    It is killed if we end before it, in whatever way. Raises OSError if it cannot be started, ValueError for a NUL in
    the command.
    """
    signals, tie = EndSignals(), KillOnExit()
    try:
        stdin = _input(data)
        try:
            with signals:  # one that comes before the program is tied to us waits until it is
                process = subprocess.Popen(
                    command, cwd=cwd, env=without_secrets(os.environ if env is None else env), stdin=stdin,
                    stdout=subprocess.PIPE, stderr=_errors(limits), start_new_session=not limits.keeps_terminal,
                    pass_fds=(tie.inherited,), bufsize=0,
                )  # fmt: skip
                tie.watch(process.pid, group=not limits.keeps_terminal)
        finally:
            os.close(stdin)
    except (OSError, ValueError):
        tie.close()
        raise
    streams = [_Stream(process.stdout, limits.output)]
    streams += [_Stream(process.stderr, limits.errors)] if limits.errors else []
    waited = _Waited(process.pid, alone=limits.keeps_terminal)
    ended = False
    try:
        if signals.asked:
            signal.raise_signal(signals.asked)
        ended = waited.listen(streams, time.monotonic() + limits.seconds, cancel)
    finally:
        if not ended:
            waited.end(limits.mercy)
        elif limits.whole_group:
            waited.end(0.0)
        tie.close()
        waited.close()
        try:
            code = process.wait(MERCY)
        except subprocess.TimeoutExpired:  # it hangs in the kernel; it ends when it comes back
            code = -signal.SIGKILL
        for stream in streams:
            stream.pipe.close()
    errors = bytes(streams[1].text) if limits.errors else b""
    return ProgramRun(code, bytes(streams[0].text), errors, ended, any(stream.too_much for stream in streams))


def call(
    words: list[str], env: Mapping[str, str], *, limit: float, name: str = "", cwd: str | None = None
) -> ProgramOutput:
    """What a program printed and how it ended, in ``limit`` seconds. ``name``: as it is called in an error."""
    cap, called = OutputCap(LARGEST, ends=True), name or words[0]
    try:
        done = run_program(words, RunLimits(limit, cap, cap), cwd=cwd, env=env)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise CallError(f"{words[0]} cannot be run: {why}") from error
    if done.too_much:
        raise CallError(f"`{called}` said more than {LARGEST >> 20} MB")
    if not done.ended:
        raise ProgramLateError(f"`{called}` took longer than {format_duration(limit)} and was ended")
    return ProgramOutput(done.code, done.output.decode("utf-8", "replace"), done.errors.decode("utf-8", "replace"))


def run_in_foreground(command: list[str], cwd: str, limit: float) -> int | None:
    """Run a program in the caller's terminal, where it may ask for a password; its output goes to standard error.

    What it leaves running on purpose (a service, a tunnel) is left. What still runs when its time is up, or when the
    caller goes, is ended with everything below it. The exit code (below 0: the signal that killed it); None when late.
    """
    process = subprocess.Popen(command, cwd=cwd, stdout=2, env=without_secrets(os.environ))
    start = procfs.start_time(process.pid)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.returncode is None:
            terminate_tree.end_tree(lambda: {process.pid: start})
            process.poll()


def pass_on(command: list[str], data: bytes, env: Mapping[str, str], *, errors: int, pass_fds: tuple[int, ...]) -> None:
    """Start a program of ours that forks what it is to start, and wait for its end. ``env`` is its whole environment.

    It is safe in a program with threads: after the fork there is one system call, made in C. Raises OSError.
    """
    step = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=errors, stderr=errors, env=env, pass_fds=pass_fds
    )  # fmt: skip
    step.communicate(data)


def _input(data: bytes) -> int:
    """A file without a name: a pipe would make us wait for a program that does not read."""
    if not data:
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    fd = os.memfd_create("input")
    try:
        write_all(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _errors(limits: RunLimits) -> int:
    if limits.drop_errors:
        return subprocess.DEVNULL
    return subprocess.PIPE if limits.errors else subprocess.STDOUT


class _Stream:
    """What comes from one pipe of a program."""

    def __init__(self, pipe: IO[bytes] | None, cap: OutputCap) -> None:
        assert pipe is not None
        self.pipe, self.cap = pipe, cap
        self.fd = pipe.fileno()
        self.text = bytearray()
        os.set_blocking(self.fd, False)

    @property
    def too_much(self) -> bool:
        return self.cap.ends and len(self.text) > self.cap.size

    def take(self) -> bool:
        """Read what is there; False when nothing can come any more."""
        for _ in range(MOST):
            try:
                data = os.read(self.fd, CHUNK)
            except BlockingIOError:
                return True
            self.text += data
            if not self.cap.ends:
                del self.text[: -self.cap.size]
            if not data or self.too_much:
                return bool(data)
        return True


class _Waited:
    """A child that is not reaped yet: neither its number nor that of its group can be another's."""

    def __init__(self, pid: int, *, alone: bool) -> None:
        self.pid, self.alone = pid, alone
        """``alone``: it has no group of its own."""
        self.pidfd = processes.watch_exit(pid)

    def listen(self, streams: list[_Stream], deadline: float, cancel: int) -> bool:
        """Read until it has ended, must be ended, or ``cancel`` is readable; whether it ended by itself."""
        poll, opened = select.poll(), list(streams)
        for fd in (*[stream.fd for stream in streams], cancel, -1 if self.pidfd is None else self.pidfd):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        while True:
            left = min(deadline - time.monotonic(), LONGEST_WAIT if self.pidfd is not None else BLIND)
            ready = {fd for fd, _ in poll.poll(max(0.0, left) * 1000)}
            ended = self.pidfd in ready if self.pidfd is not None else self._has_ended()
            for stream in list(opened):  # after its end was asked for: then all it printed is there to be read
                if not stream.take():
                    poll.unregister(stream.fd)
                    opened.remove(stream)
            over = any(stream.too_much for stream in streams) or cancel in ready or time.monotonic() >= deadline
            if ended or over:
                return ended

    def _has_ended(self) -> bool:
        return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def end(self, mercy: float) -> None:
        """End its group: asking first, if there is mercy."""
        if mercy:
            self._signal(signal.SIGTERM)
            self._signal(signal.SIGCONT)
            self._await_end(time.monotonic() + mercy)
        self._signal(signal.SIGKILL)

    def _await_end(self, until: float) -> None:
        if self.pidfd is not None:
            poll = select.poll()  # select takes no descriptor above 1,023
            poll.register(self.pidfd, select.POLLIN)
            poll.poll(max(0.0, until - time.monotonic()) * 1000)
            return
        while time.monotonic() < until and not self._has_ended():
            time.sleep(BLIND)

    def _signal(self, number: int) -> None:
        try:
            os.kill(self.pid, number) if self.alone else os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):
            pass

    def close(self) -> None:
        if self.pidfd is not None:
            os.close(self.pidfd)
