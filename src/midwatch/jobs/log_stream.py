"""The output of a job as a stream: what is there, and what is written until the run that writes it has ended."""

from __future__ import annotations

import os
import time

from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Alive, JobFacts
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.log_scan import LogReader
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.jobs.wakeups import JobWakeups

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 1 << 16
LONGEST_SLEEP = 60.0


class NoLogError(RefusedError):
    """The output of a job goes to no file."""


def open_log(looker: JobDirectory, name: str, lines: int | None = None) -> LogReader | None:
    """Its output from the beginning, or its last lines; None where nothing has been written yet."""
    record = looker.facts(name).record
    adopted = record.adopted if record else None
    path = adopted.log if adopted else f"{looker.directory}/{name}.log"
    if not path:
        raise NoLogError(f"{name} was adopted, and its output does not go to a file")
    reader = LogReader(path, whole=record is not None and record.pane is not None and adopted is None)
    try:
        reader.open() if lines is None else reader.skip(lines)
    except FileNotFoundError:
        return None
    except OSError as error:
        why = "a symbolic link; it is not followed" if os.path.islink(path) else error.strerror
        raise RefusedError(f"{path}: {why}") from error
    return reader


def read_chunks(reader: LogReader) -> Iterator[bytes]:
    """What is there now, as far as it was not read yet."""
    while data := reader.read(CHUNK):
        yield data


class LogFollower:
    """Looks, says until when nothing can come, sleeps, and looks again; whoever has an event loop sleeps on that."""

    def __init__(self, looker: JobDirectory, name: str, reader: LogReader, *, guest: bool = False) -> None:
        self.looker = looker
        self.name = name
        self.reader = reader
        self.over = False
        """The run has ended, and all that it wrote was read."""
        self.until = 0.0
        """When to look again although nothing may have happened."""
        self._wakeups = JobWakeups(looker.directory, {name}, guest=guest)
        self._beat = LoopBeat()
        self._run = _run_id(looker.facts(name))

    def look(self) -> Iterator[bytes]:
        """What was written since the last look. To be read to its end."""
        self._wakeups.watch_writes(self.name, self.reader.path)  # another file, after it was put aside
        facts, verdict = self.looker.observe(self.name)
        self.over = verdict.final or _run_id(facts) != self._run
        yield from read_chunks(self.reader)
        now = time.monotonic()
        alive = next((process.pid for process in (facts.shim, facts.work) if isinstance(process, Alive)), 0)
        waits = not alive or self._wakeups.watch_process(self.name, alive)
        self.until = self._beat.after_pass(now + LONGEST_SLEEP) if waits else now

    def sleep(self) -> None:
        if self.until > time.monotonic():
            self._wakeups.sleep(self.until)

    def fileno(self) -> int:
        """Readable when it is worth a look."""
        return self._wakeups.fileno()

    @property
    def due(self) -> float:
        """When to look at the latest."""
        return min(self.until, self._wakeups.due)

    def take(self) -> None:
        """Take note of what has happened."""
        self._wakeups.take()

    def chunks(self) -> Iterator[bytes]:
        """What is written until the run has ended, as it comes; an empty chunk before each sleep."""
        while True:
            yield from self.look()
            if self.over:
                return
            yield b""
            self.sleep()

    def close(self) -> None:
        self._wakeups.close()


def _run_id(facts: JobFacts) -> str:
    return facts.record.run if facts.record else ""
