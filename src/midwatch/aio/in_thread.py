"""Functions of the API that block for a moment, in a thread of the loop's own pool."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine, Iterable
from typing import overload

from midwatch.api import jobs as api_jobs
from midwatch.api import logs as api_logs
from midwatch.api import prompts as api_prompts
from midwatch.api import sessions as api_sessions
from midwatch.api import subjects as api_subjects
from midwatch.core.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, ParamSpec, TypeVar

    from midwatch.api.arguments import Duration, Job, Path

    P = ParamSpec("P")
    R = TypeVar("R")


def _in_a_thread(call: Callable[P, R]) -> Callable[P, Coroutine[Any, Any, R]]:
    @functools.wraps(call)
    async def called(*args: P.args, **named: P.kwargs) -> R:
        return await asyncio.to_thread(call, *args, **named)

    return called


# A cancelled one is finished all the same, and a job may have been started by it.
run = _in_a_thread(api_jobs.run)
status = _in_a_thread(api_jobs.status)
beat = _in_a_thread(api_jobs.beat)
snapshot = _in_a_thread(api_subjects.snapshot)
spawn = _in_a_thread(api_sessions.spawn)
send = _in_a_thread(api_prompts.send)
answer = _in_a_thread(api_prompts.answer)


@overload
async def ls(*, dir: Path | None = ..., all: Literal[False] = ...) -> list[Verdict]: ...
@overload
async def ls(*, all: Literal[True]) -> dict[str, list[Verdict]]: ...
async def ls(*, dir: Path | None = None, all: bool = False) -> list[Verdict] | dict[str, list[Verdict]]:  # noqa: A002
    """As `midwatch.ls`."""
    return await asyncio.to_thread(api_jobs.ls, dir=dir, all=all)  # type: ignore[arg-type]


@overload
async def stop(jobs: Job, *, dir: Path | None = ...) -> Verdict: ...  # type: ignore[overload-overlap]  # a text is one name
@overload
async def stop(jobs: Iterable[Job], *, dir: Path | None = ...) -> list[Verdict]: ...
async def stop(jobs: Job | Iterable[Job], *, dir: Path | None = None) -> Verdict | list[Verdict]:  # noqa: A002
    """As `midwatch.stop`."""
    return await asyncio.to_thread(api_jobs.stop, jobs, dir=dir)


@overload
async def logs(name: Job, *, dir: Path | None = ..., lines: int | None = ..., raw: Literal[False] = ...) -> str: ...
@overload
async def logs(name: Job, *, dir: Path | None = ..., lines: int | None = ..., raw: Literal[True]) -> bytes: ...
async def logs(
    name: Job,
    *,
    dir: Path | None = None,  # noqa: A002
    lines: int | None = None,
    raw: bool = False,
) -> str | bytes:
    """As `midwatch.logs`."""
    return await asyncio.to_thread(api_logs.logs, name, dir=dir, lines=lines, raw=raw)  # type: ignore[arg-type]


async def monitor(  # noqa: PLR0913
    target: Job,
    *,
    deadline: Duration | None = None,
    stale: Duration | None = None,
    grace: Duration | None = None,
    resume: int = 0,
    verify: str | None = None,
    clock: Literal["life", "final"] | None = None,
    on_limit: Literal["report", "wait"] | None = None,
    continues: int | None = None,
    until: Literal["outcome", "final"] | None = None,
    cleanup: bool = False,
    on_change: Callable[[Verdict], None] | None = None,
    dir: Path | None = None,  # noqa: A002
    socket: Path | None = None,
) -> Verdict:
    """As `midwatch.monitor`; ``on_change`` is called in the loop. Cancelled, the watch ends and the session goes on."""
    loop = asyncio.get_running_loop()

    def say(verdict: Verdict) -> None:
        if on_change is not None:
            loop.call_soon_threadsafe(on_change, verdict)

    found = await asyncio.to_thread(
        api_sessions.prepare_monitor, target, deadline=deadline, stale=stale, grace=grace, resume=resume,
        verify=verify, clock=clock, on_limit=on_limit, continues=continues, until=until, cleanup=cleanup, on_change=say,
        dir=dir, socket=socket,
    )  # fmt: skip
    if isinstance(found, Verdict):
        return found
    watching = asyncio.ensure_future(asyncio.to_thread(found.run, lambda _: None))
    try:
        return await asyncio.shield(watching)
    except asyncio.CancelledError:
        found.alarm.signals.ask()
        await watching
        raise
