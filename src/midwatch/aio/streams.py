"""What goes on for long, for an event loop: the lines of a log and the events of the journal, as they come.

The loop sleeps on the descriptor that tells of something new. Each look runs in a thread of its own, one at a time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable

from midwatch.api import events as api_events
from midwatch.api import logs as api_logs
from midwatch.api import subjects as api_subjects
from midwatch.core.event import Event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor
    from typing import TypeVar

    from midwatch.api.arguments import Job, Path
    from midwatch.jobs.log_stream import LogFollower
    from midwatch.subjects.model import SubjectChange

    T = TypeVar("T")


async def follow(name: Job, *, dir: Path | None = None, lines: int | None = None) -> AsyncIterator[str]:  # noqa: A002
    """As `midwatch.follow`, as an async iterator."""
    found = await asyncio.to_thread(api_logs.open_follower, name, dir, lines)
    if found is None:
        return
    text = api_logs.LogLines()
    try:
        while True:
            for line in await _call(None, lambda: _new_lines(found, text)):
                yield line
            if found.over:
                break
            await _readable(found.fileno(), found.due)
            found.take()
    finally:
        found.close()
    for line in text.end():
        yield line


def _new_lines(follower: LogFollower, text: api_logs.LogLines) -> list[str]:
    return [line for data in follower.look() for line in text.feed(data)]


async def events(
    jobs: Job | Iterable[Job] = (),
    *,
    dir: Path | None = None,  # noqa: A002
    since: int | None = None,
    last: int | None = None,
    follow: bool = False,
) -> AsyncIterator[Event]:
    """As `midwatch.events`, as an async iterator."""
    request = api_events.event_request(jobs, dir, since, last, follow=follow)
    own = _own_thread("midwatch-events")  # a database is for the thread that opened it
    try:
        if not follow:
            for event in await _call(own, lambda: list(api_events.past_events(request))):
                yield event
            return
        book, feed, found = await _call(own, lambda: api_events.open_feed(request))
        try:
            while True:
                for event in found:
                    feed.since = max(feed.since, event.seq)
                    yield event
                found = await _call(own, feed.look)
                if not found:
                    await _readable(feed.fileno(), feed.until)
                    feed.take()
        finally:
            feed.close()
            await _call(own, book.close)
    finally:
        own.shutdown()


async def changes(
    since: int | None = None,
    *,
    dir: Path | None = None,  # noqa: A002
    panes: bool = True,
    children: bool = True,
) -> AsyncGenerator[SubjectChange, None]:
    """As `midwatch.changes`, as an async generator."""
    own = _own_thread("midwatch-changes")  # a database is for the thread that opened it
    try:
        feed = await _call(own, lambda: api_subjects.open_feed(since, dir, panes=panes, children=children))
        try:
            while True:
                for change in await _call(own, feed.take):
                    yield change
                await _readable(feed.fileno(), feed.due)
        finally:
            await _call(own, feed.close)
    finally:
        own.shutdown()


def _own_thread(name: str) -> ThreadPoolExecutor:
    """Loaded only now: Python refuses to load it in a thread that outlives the main one, which may wait there."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    return ThreadPoolExecutor(1, thread_name_prefix=name)


async def _call(own: ThreadPoolExecutor | None, do: Callable[[], T]) -> T:
    """Do it in a thread. Cancelled, it is finished first: what it works with is closed afterwards."""
    doing = asyncio.get_running_loop().run_in_executor(own, do)
    try:
        return await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait([doing])
        raise


async def _readable(fd: int, until: float) -> None:
    """Sleep until a descriptor has something to read, or until a monotonic moment."""
    loop, woken = asyncio.get_running_loop(), asyncio.Event()
    if fd >= 0:
        loop.add_reader(fd, woken.set)
    try:
        async with asyncio.timeout(None if until == float("inf") else max(0.0, until - time.monotonic())):
            await woken.wait()
    except TimeoutError:
        pass
    finally:
        if fd >= 0:
            loop.remove_reader(fd)
