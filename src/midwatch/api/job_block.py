"""A job for the time of a `with` block."""

from __future__ import annotations

import functools
from types import TracebackType

from midwatch.api import jobs, logs, waits
from midwatch.api.arguments import open_directory
from midwatch.core.errors import RefusedError
from midwatch.core.verdict import Verdict
from midwatch.jobs import stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator
    from typing import Any, ParamSpec

    from midwatch.api.arguments import Duration, Path, Until
    from midwatch.jobs.job_directory import JobDirectory

    P = ParamSpec("P")


class RunningJob:
    """A job that a `with` block has started. `name` and `verdict` are as `run` returned them."""

    def __init__(self, verdict: Verdict, directory: Path | None) -> None:
        self.verdict = verdict
        self.dir = directory

    @property
    def name(self) -> str:
        return self.verdict.name

    def wait(
        self, *, timeout: Duration | None = None, until: Until | None = None, match: str | re.Pattern[str] | None = None
    ) -> Verdict:
        """As `midwatch.wait`."""
        return waits.wait(self, dir=self.dir, timeout=timeout, until=until, match=match)

    def status(self) -> Verdict:
        """As `midwatch.status`."""
        return jobs.status(self, dir=self.dir)

    def logs(self, *, lines: int | None = None) -> str:
        """As `midwatch.logs`."""
        return logs.logs(self, dir=self.dir, lines=lines)

    def follow(self) -> Iterator[str]:
        """As `midwatch.follow`."""
        return logs.follow(self, dir=self.dir)

    def stop(self) -> Verdict:
        """As `midwatch.stop`."""
        return jobs.stop(self, dir=self.dir)


class BlockRun:
    """The one run of a job that a block has started: another one of the same name is not its own."""

    def __init__(self, verdict: Verdict, directory: Path | None) -> None:
        self.name = verdict.name
        self.looker: JobDirectory = open_directory("stop", directory)
        record = self.looker.facts(self.name).record
        self.run = record.run if record else ""

    def end(self) -> None:
        """Stop it if it still runs."""
        facts = self.looker.facts(self.name)
        if not self.run or facts.record is None or facts.record.run != self.run or facts.record.end is not None:
            return
        try:
            stop.end_job(self.looker, self.name, self.run)
        except RefusedError:
            facts = self.looker.facts(self.name)
            if facts.record is not None and facts.record.run == self.run:
                raise  # else it has ended, and somebody has started the name again meanwhile


class JobBlock:
    """Starts a job when its block is entered, and stops it when the block is left while it runs."""

    def __init__(self, start: Callable[[], Verdict], directory: Path | None) -> None:
        self._start = start
        self._dir = directory
        self._run: BlockRun | None = None

    def __enter__(self) -> RunningJob:
        verdict = self._start()
        self._run = BlockRun(verdict, self._dir)
        return RunningJob(verdict, self._dir)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        if self._run is not None:
            self._run.end()


def _make_block(start: Callable[P, Verdict]) -> Callable[P, JobBlock]:
    def job(*args: P.args, **named: P.kwargs) -> JobBlock:
        directory: Any = named.get("dir")
        return JobBlock(functools.partial(start, *args, **named), directory)

    return functools.wraps(start)(job)


job = _make_block(jobs.run)
job.__name__ = job.__qualname__ = "job"
job.__doc__ = """Start a job for the time of a block, with the arguments of `run`.

    The job is stopped when the block is left by an exception, or while the job still runs. In the block it has
    `name`, `verdict`, `wait()`, `status()`, `logs()`, `follow()` and `stop()`.

    >>> import midwatch
    >>> with midwatch.job(["sh", "-c", "echo ready; exec sleep 600"], name="server") as job:
    ...     print(job.wait(match="ready").state)
    working
    >>> midwatch.status("server").state
    'stopped'
    """
