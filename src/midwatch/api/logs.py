"""The output of jobs from Python: all of it, its last lines, or line by line as it is written."""

from __future__ import annotations

from typing import overload

from midwatch.api.arguments import job_name, open_directory
from midwatch.config import sentinel_files
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.jobs import log_stream
from midwatch.jobs.codec.log_text import LogText
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.log_scan import LogReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from midwatch.api.arguments import Job, Path


@overload
def logs(name: Job, *, dir: Path | None = ..., lines: int | None = ..., raw: Literal[False] = ...) -> str: ...
@overload
def logs(name: Job, *, dir: Path | None = ..., lines: int | None = ..., raw: Literal[True]) -> bytes: ...
def logs(
    name: Job,
    *,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    lines: int | None = None,
    raw: bool = False,
) -> str | bytes:
    r"""Return what a job has written, or its last ``lines``. With ``raw``: every byte, else text that is safe to print.

    >>> import midwatch
    >>> done = midwatch.wait(midwatch.run(["printf", r"one\ntwo\n"], name="count"))
    >>> midwatch.logs("count")
    'one\ntwo\n'
    >>> midwatch.logs(done, lines=1, raw=True)
    b'two\n'
    """
    _, reader = _open(name, dir, lines)
    data = b"" if reader is None else b"".join(log_stream.read_chunks(reader))
    if raw:
        return data
    text = LogText()
    return text.feed(data) + text.end()


def follow(name: Job, *, dir: Path | None = None, lines: int | None = None) -> Iterator[str]:  # noqa: A002
    """Return an iterator over the lines of a job's output, which waits for new ones until the job has ended.

    >>> import midwatch
    >>> job = midwatch.run(["sh", "-c", "echo one; echo two"], name="count")
    >>> for line in midwatch.follow(job):
    ...     print(line)
    one
    two
    """
    looker, reader = _open(name, dir, lines)
    return _lines(log_stream.LogFollower(looker, job_name(name), reader, guest=True)) if reader else iter(())


def _lines(follower: log_stream.LogFollower) -> Iterator[str]:
    lines = LogLines()
    try:
        for data in follower.chunks():
            yield from lines.feed(data)
    finally:
        follower.close()
    yield from lines.end()


class LogLines:
    """Bytes of a log as lines that are safe to print."""

    def __init__(self) -> None:
        self._text = LogText()
        self._rest = ""

    def feed(self, data: bytes) -> list[str]:
        *lines, self._rest = (self._rest + self._text.feed(data)).split("\n")
        return lines

    def end(self) -> list[str]:
        left = (self._rest + self._text.end()).split("\n")
        return left if left[-1] else left[:-1]


def open_follower(name: Job, directory: Path | None, lines: int | None) -> log_stream.LogFollower | None:
    """What looks at a log again and again, for whoever sleeps in another way."""
    looker, reader = _open(name, directory, lines)
    return log_stream.LogFollower(looker, job_name(name), reader, guest=True) if reader else None


def _open(name: Job, directory: Path | None, lines: int | None) -> tuple[JobDirectory, LogReader | None]:
    if lines is not None and (not isinstance(lines, int) or lines < 0):
        raise UsageError(f"lines is a number of lines, not {lines!r}")
    job, looker = names.check_name(job_name(name), blanks=directory is not None), open_directory("logs", directory)
    if not sentinel_files.is_job(f"{looker.directory}/{job}"):
        raise RefusedError(f"there is no job {job!r} in {looker.directory}")
    return looker, log_stream.open_log(looker, job, lines)
