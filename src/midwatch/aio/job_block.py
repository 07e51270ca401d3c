"""A job for the time of an `async with` block."""

from __future__ import annotations

import asyncio
import functools
from types import TracebackType

from midwatch.aio import in_thread, streams, waits
from midwatch.api import job_block, jobs
from midwatch.core.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import AsyncIterator, Callable
    from typing import Any, ParamSpec

    from midwatch.api.arguments import Duration, Path, Until

    P = ParamSpec("P")


class AsyncRunningJob:
    """A job that an `async with` block has started. `name` and `verdict` are as `run` returned them."""

    def __init__(self, verdict: Verdict, directory: Path | None) -> None:
        self.verdict = verdict
        self.dir = directory

    @property
    def name(self) -> str:
        return self.verdict.name

    async def wait(
        self,
        *,
        timeout: Duration | None = None,  # noqa: ASYNC109  # the caller's own; what comes back then is a verdict
        until: Until | None = None,
        match: str | re.Pattern[str] | None = None,
    ) -> Verdict:
        """As `midwatch.wait`."""
        return await waits.wait(self, dir=self.dir, timeout=timeout, until=until, match=match)

    async def status(self) -> Verdict:
        """As `midwatch.status`."""
        return await in_thread.status(self, dir=self.dir)

    async def logs(self, *, lines: int | None = None) -> str:
        """As `midwatch.logs`."""
        return await in_thread.logs(self, dir=self.dir, lines=lines)

    def follow(self) -> AsyncIterator[str]:
        """As `midwatch.follow`."""
        return streams.follow(self, dir=self.dir)

    async def stop(self) -> Verdict:
        """As `midwatch.stop`."""
        return await in_thread.stop(self, dir=self.dir)


class AsyncJobBlock:
    """Starts a job when its block is entered, and stops it when the block is left while it runs."""

    def __init__(self, start: Callable[[], Verdict], directory: Path | None) -> None:
        self._block = job_block.JobBlock(start, directory)

    async def __aenter__(self) -> AsyncRunningJob:
        entering = asyncio.ensure_future(asyncio.to_thread(self._block.__enter__))
        try:
            started = await asyncio.shield(entering)
        except asyncio.CancelledError:
            await entering
            await asyncio.to_thread(self._block.__exit__, None, None, None)
            raise
        return AsyncRunningJob(started.verdict, started.dir)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:  # fmt: skip
        await asyncio.to_thread(self._block.__exit__, kind, error, trace)


def _make_block(start: Callable[P, Verdict]) -> Callable[P, AsyncJobBlock]:
    def job(*args: P.args, **named: P.kwargs) -> AsyncJobBlock:
        directory: Any = named.get("dir")
        return AsyncJobBlock(functools.partial(start, *args, **named), directory)

    return functools.wraps(start)(job)


job = _make_block(jobs.run)
job.__name__ = job.__qualname__ = "job"
job.__doc__ = """Start a job for the time of an `async with` block; else as `midwatch.job`."""
