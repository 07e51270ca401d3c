"""Asking a model through a command: the question on its standard input, the answer from its standard output.

Its output comes through pipes and is counted, so that one that never stops can neither fill a disk nor our memory. Its
end is told by a pidfd and not by the end of its output, which whatever it leaves running keeps open.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time

from midwatch.agents import parts
from midwatch.core.plain_text import clean
from midwatch.core.text import in_words, signal_name
from midwatch.core.value import Value
from midwatch.stories.codec.model_answer import ESCAPE
from midwatch.stories.model import CALL_FAILED, NO_JSON, TIMED_OUT, ParseTrouble
from midwatch.system.child_environment import without_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

LARGEST = 1 << 16
"""Bytes of an answer; what says more than that is no small object."""
KEPT = 4096
"""Bytes of its errors that are kept, from the end."""
CHUNK = 1 << 16
"""All that a pipe holds."""
NOT_FOUND = 127
PANE = re.compile(r"TMUX(?:_PANE)?")
"""Variables that tell of the pane we were called from: an agent's hooks take what is done there for its own."""
CHILD = {"STORY_AUTOMATOR_CHILD": "true"}
"""The stop hook of a story-automator lets no other agent of that project end."""


class ModelReply(Value):
    said: str
    trouble: ParseTrouble | None = None
    """Why there is none; then nothing of what was said counts."""
    again: bool = False
    """Whether it may go better if asked again."""


def ask(command: str, question: str, limit_s: float) -> ModelReply:
    """Ask once. The command runs in a group of its own, which ends with it or with its time."""
    try:
        with _input(question) as asked:
            process = subprocess.Popen(
                ["/bin/sh", "-c", command], stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                start_new_session=True, env=_environment(),
            )  # fmt: skip
    except (OSError, ValueError) as error:  # ValueError: a NUL in the command
        why = f"`{clean(command)}` cannot be run: {getattr(error, 'strerror', '') or error}"
        return ModelReply("", ParseTrouble(CALL_FAILED, why))
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout as out, process.stderr as err:
        heard = _Heard(out, err)
        try:
            heard.listen(process.pid, limit_s)
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # it is not reaped yet, so this number can be nobody else's
            process.wait()
    return _answer(command, heard, process.returncode, limit_s)


def _input(question: str) -> IO[bytes]:
    """A file without a name: a pipe would make us wait for one that does not read."""
    file = open(os.memfd_create("question"), "r+b", buffering=0)  # noqa: SIM115  # the caller closes it
    file.write(question.encode("utf-8", "replace"))
    file.seek(0)
    return file


def _environment() -> dict[str, str]:
    """Without what marks children of the agent that called us: they behave otherwise. How one signs in stays."""
    callers = (PANE, *parts.caller_variables())
    kept = without_secrets(os.environ).items()
    return {name: value for name, value in kept if not any(caller.fullmatch(name) for caller in callers)} | CHILD


class _Heard:
    def __init__(self, out: IO[bytes], err: IO[bytes]) -> None:
        self.out, self.err = out.fileno(), err.fileno()
        self.said = {self.out: b"", self.err: b""}
        self.ended = False

    @property
    def too_much(self) -> bool:
        return len(self.said[self.out]) > LARGEST

    def listen(self, pid: int, limit_s: float) -> None:
        """Until it has ended, said too much, or its time is up."""
        deadline, poller, pidfd = time.monotonic() + limit_s, select.poll(), os.pidfd_open(pid)
        try:
            for fd in (pidfd, self.out, self.err):  # its end is asked for first: then all it said is there to be read
                os.set_blocking(fd, False)
                poller.register(fd, select.POLLIN)
            while not self.ended and not self.too_much and (left := deadline - time.monotonic()) > 0:
                ready = [fd for fd, _ in poller.poll(left * 1000 + 1)]
                self.ended = pidfd in ready
                for fd in (self.out, self.err):
                    if fd in ready and not self.take(fd):
                        poller.unregister(fd)
        finally:
            os.close(pidfd)

    def take(self, fd: int) -> bool:
        """Read what is there; False when nothing can come any more."""
        try:
            part = os.read(fd, CHUNK)
        except BlockingIOError:
            return True
        self.said[fd] += part
        if fd == self.err:
            self.said[fd] = self.said[fd][-KEPT:]
        return bool(part)


def _answer(command: str, heard: _Heard, code: int, limit_s: float) -> ModelReply:
    called = f"`{clean(command)}`"
    if heard.too_much:
        return ModelReply("", ParseTrouble(NO_JSON, f"{called} said more than {LARGEST >> 10} kB"), again=True)
    if not heard.ended:
        return ModelReply("", ParseTrouble(TIMED_OUT, f"{called} took longer than {in_words(limit_s)} and was ended"))
    if code:
        how = f"was killed by {signal_name(-code)}" if code < 0 else f"ended with {code}"
        last = _last_line(heard.said[heard.err]) or _last_line(heard.said[heard.out])
        return ModelReply(
            "", ParseTrouble(CALL_FAILED, f"{called} {how}{last and f': {last}'}"), again=code != NOT_FOUND
        )
    try:
        return ModelReply(heard.said[heard.out].decode("utf-8"))
    except UnicodeDecodeError:
        return ModelReply("", ParseTrouble(NO_JSON, "the answer is not UTF-8"), again=True)


def _last_line(said: bytes) -> str:
    rows = [clean(ESCAPE.sub("", row)) for row in said[-KEPT:].decode("utf-8", "replace").splitlines()]
    return next(filter(None, reversed(rows)), "")
