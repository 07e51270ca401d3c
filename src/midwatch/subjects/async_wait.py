"""One directory's wake-ups, shared by all that wait for its jobs on one event loop.

The kernel gives a user a hundred file event queues or so; a thousand waits have one between them. The loop listens to
it like to any socket. It is made for the first that comes and closed after the last that leaves.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import time
import weakref
from collections.abc import AsyncIterator

from midwatch.core.verdict import Verdict
from midwatch.jobs.observation_schedule import NEVER
from midwatch.jobs.wait_model import WaitOutcome
from midwatch.jobs.wakeups import JobWakeups
from midwatch.subjects.wait import SubjectWait

_LOOPS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, WaitHubs] = weakref.WeakKeyDictionary()


class WaitHubs:
    """What all waits on one event loop share."""

    def __init__(self) -> None:
        self.of: dict[str, WaitHub] = {}
        self._turn = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """For whatever takes a moment: one at a time, and between two of them all else that the loop has to do."""
        async with self._turn:
            await asyncio.sleep(0)
            yield

    def hub(self, directory: str) -> WaitHub:
        if directory not in self.of:
            self.of[directory] = WaitHub(self, directory)
        return self.of[directory]


def current_hubs() -> WaitHubs:
    return _LOOPS.setdefault(asyncio.get_running_loop(), WaitHubs())


class WaitHub:
    def __init__(self, hubs: WaitHubs, directory: str) -> None:
        self.hubs = hubs
        self.loop = asyncio.get_running_loop()
        self.directory = directory
        self.wakeups = JobWakeups(directory, set(), guest=True)
        self.members: set[HubListener] = set()
        self.listeners: dict[str, set[HubListener]] = {}
        self.timer: asyncio.TimerHandle | None = None
        if hasattr(select, "epoll"):
            self.loop.add_reader(self.wakeups.fileno(), self.wake_listeners)

    def wake_listeners(self) -> None:
        """Something happened, or it is time to look although nothing did: tell those whom it concerns."""
        for name in self.wakeups.take():
            for listener in self.listeners.get(name, ()):
                listener.wake(name)
        self.mind_the_time()

    def mind_the_time(self) -> None:
        if self.timer is None and self.wakeups.due < NEVER:
            self.timer = self.loop.call_later(max(0.0, self.wakeups.due - time.monotonic()), self._strike)

    def _strike(self) -> None:
        self.timer = None
        self.wake_listeners()

    def close(self) -> None:
        self.hubs.of.pop(self.directory, None)
        if self.timer is not None:
            self.timer.cancel()
        if hasattr(select, "epoll"):
            with contextlib.suppress(RuntimeError):  # the loop was closed before us
                self.loop.remove_reader(self.wakeups.fileno())
        self.wakeups.close()


class HubListener:
    """One wait at a hub. To that wait it is what wakes it."""

    def __init__(self, hub: WaitHub, wait: SubjectWait) -> None:
        self.hub = hub
        self.wait = wait
        self.woken = asyncio.Event()
        self.touched: set[str] = set()
        hub.members.add(self)
        for name in wait.pending:
            hub.listeners.setdefault(name, set()).add(self)
            hub.wakeups.names.add(name)
        wait.wakeups = self

    async def observe(self, name: str) -> list[Verdict]:
        sessions = self.wait.sessions
        if sessions is not None and sessions.is_asked(name):
            await asyncio.to_thread(sessions.observe, name)
        async with self.hub.hubs.turn():
            outcomes = [*self.wait.look_at([name])]
        return [(await self.verified(outcome)).verdict for outcome in outcomes]

    async def verified(self, outcome: WaitOutcome) -> WaitOutcome:
        if outcome.record is None or not outcome.record.verify:
            return self.wait.verified(outcome)
        return await asyncio.to_thread(self.wait.verified, outcome)  # a verifier may take minutes

    async def give_up(self, name: str) -> Verdict:
        if self.wait.pending[name].seated:
            return (await asyncio.to_thread(self.wait.give_up, name)).verdict
        async with self.hub.hubs.turn():
            return self.wait.give_up(name).verdict

    async def sleep(self, until: float) -> set[str]:
        """Until something happened or that moment came; the names to look at."""
        self.hub.mind_the_time()
        loop = self.hub.loop
        timer = None if until == NEVER else loop.call_later(max(0.0, until - time.monotonic()), self.woken.set)
        try:
            await self.woken.wait()
        finally:
            if timer is not None:
                timer.cancel()
        self.woken.clear()
        touched, self.touched = self.touched, set()
        return touched

    def wake(self, name: str) -> None:
        self.touched.add(name)
        self.woken.set()

    def leave(self) -> None:
        for name in list(self.wait.pending):
            self.forget(name)
        self.wait.close()
        self.hub.members.discard(self)
        if not self.hub.members:
            self.hub.close()

    # As the wait sees it

    def watch_process(self, name: str, pid: int) -> bool:
        return self.hub.wakeups.watch_process(name, pid)

    def watch_writes(self, name: str, path: str) -> bool:
        return self.hub.wakeups.watch_writes(name, path)

    def forget(self, name: str) -> None:
        """Others may still wait for it; what they have watched stays."""
        others = self.hub.listeners.get(name, set())
        others.discard(self)
        if not others:
            self.hub.listeners.pop(name, None)
            self.hub.wakeups.forget(name)
