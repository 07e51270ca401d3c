"""Waits for an event loop, which take no thread.

All that wait for jobs of one directory on one event loop share one set of wake-ups, which the loop itself listens to;
looks are taken one at a time, with everything else that the loop has to do between them. Cancelled, a wait is over at
once and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable

from midwatch.api.arguments import wait_request
from midwatch.core.verdict import Verdict
from midwatch.notifications import send_pending
from midwatch.subjects.async_wait import HubListener, current_hubs
from midwatch.subjects.wait import LATE, SubjectWait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.api.arguments import Duration, Job, Path, Until


async def wait(
    name: Job,
    *,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    timeout: Duration | None = None,  # noqa: ASYNC109  # the caller's own; what comes back then is a verdict
    until: Until | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> Verdict:
    """As `midwatch.wait`."""
    return (await _waited([name], dir, timeout, until, start, match, first=True))[0]


async def wait_all(
    jobs: Iterable[Job],
    *,
    dir: Path | None = None,  # noqa: A002
    timeout: Duration | None = None,  # noqa: ASYNC109
    until: Until | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> list[Verdict]:
    """As `midwatch.wait_all`."""
    return await _waited(jobs, dir, timeout, until, start, match, first=False)


async def wait_any(
    jobs: Iterable[Job],
    *,
    dir: Path | None = None,  # noqa: A002
    timeout: Duration | None = None,  # noqa: ASYNC109
    until: Until | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> Verdict:
    """As `midwatch.wait_any`."""
    return (await _waited(jobs, dir, timeout, until, start, match, first=True))[0]


async def _waited(
    jobs: Iterable[Job],
    directory: Path | None,
    timeout: Duration | None,  # noqa: ASYNC109
    until: str | None,
    start: Duration | None,
    match: str | re.Pattern[str] | None,
    *,
    first: bool,
) -> list[Verdict]:
    hubs = current_hubs()
    async with hubs.turn():
        looker, names, wanted = wait_request(jobs, directory, timeout, until, start, match)
        listener = HubListener(
            hubs.hub(looker.directory), SubjectWait(looker, list(dict.fromkeys(names)), wanted, beside=True)
        )
        _send_unsent(looker.directory)
    try:
        found = await _outcomes(listener, first=first)
    finally:
        listener.leave()
    return list(found.values()) if first else [found[name] for name in names]


def _send_unsent(directory: str) -> None:
    """As the functions of the API do, but in a thread of the loop's own pool: starting a sender takes milliseconds."""
    if send_pending.is_sender_due(directory):
        asyncio.get_running_loop().run_in_executor(None, send_pending.start_sender_at_intervals, directory)


async def _outcomes(listener: HubListener, *, first: bool) -> dict[str, Verdict]:
    wait = listener.wait
    found: dict[str, Verdict] = {}
    todo = list(wait.pending)
    while True:
        for name in todo:
            found |= {verdict.name: verdict for verdict in await listener.observe(name)}
            if first and found:
                return found
        if not wait.pending:
            return found
        if time.monotonic() >= wait.deadline:
            for name in list(wait.pending)[: 1 if first else None]:
                found[name] = await listener.give_up(name)
            return found
        until = wait.until()
        touched = await listener.sleep(until)
        now = time.monotonic()
        if now > until + LATE:
            wait.add_lost_time(now - until)
        todo = [*touched, *wait.schedule.overdue(now)]
