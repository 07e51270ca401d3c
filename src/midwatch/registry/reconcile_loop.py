"""Keeping a list true for as long as somebody wants it: a pass whenever something stirs, else now and then.

What wakes it: the list's own file, a pane's process that ends, a message of the broker, a look that is due, signals.
None of these says what is so; every one means a pass over all.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time

from midwatch.agents import parts
from midwatch.agents.file_head_cache import FileHeadCache
from midwatch.agents.file_write_watcher import FileWriteWatcher
from midwatch.config import paths
from midwatch.core.errors import MidwatchError
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.registry import drift_notifications
from midwatch.registry.model import RUNNING, DriftReport
from midwatch.registry.reconcile import ReconcilePass, Reconciler, RegistryObservation, failed_pass
from midwatch.system.wakeup_sources import WakeupSources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from midwatch.registry.kanban_card import CardUpdater
    from midwatch.registry.mqtt_subscription import EndSubscription

SHORT, LONG, MANY = 30.0, 60.0, 5
"""Seconds between passes, and from how many sessions on it is the longer."""
SETTLING = 0.2
"""Seconds that a pass waits for its reason to be over: a file may be written in pieces, a server may be ending."""
SOONEST = 1.0
"""Seconds between two passes that something woke us for: an agent may write all the time."""
MOST_ENDS = 400
"""Processes whose end wakes us; of more, the next pass finds it."""


class LoopOptions(Value):
    """How long to stay, and how often to look."""

    interval: float | None = None
    """None: as the number of sessions tells."""
    timeout: float = 0.0
    idle: float = 0.0
    """Both 0: no limit."""


class ReconcileWatcher:
    def __init__(
        self,
        reconciler: Reconciler,
        wanted: LoopOptions,
        *,
        card: CardUpdater | None,
        subscription: EndSubscription | None,
    ) -> None:
        self.reconciler, self.wanted = reconciler, wanted
        self.card, self.subscription = card, subscription
        self.trouble = ""
        self.writing = FileWriteWatcher()
        self._beat = LoopBeat()
        self._heads = FileHeadCache()
        self._followed: tuple[set[str], set[str]] = {reconciler.path}, set()
        self._began = self._stirred = time.monotonic()

    def run(self, tell: Callable[[ReconcilePass], None]) -> int:
        """Until a limit, a signal or a person ends it. Returns the exit code; why it ended is said on stderr."""
        path = self.reconciler.file.path
        alarm = WakeupSources(os.path.dirname(path), frozenset((os.path.basename(path),)))
        alarm.also(self.writing)
        alarm.also(self.subscription)
        try:
            return self._run(alarm, tell)
        finally:
            alarm.close()
            self.writing.close()
            if self.card is not None:
                self.card.close(time.monotonic())

    def _run(self, alarm: WakeupSources, tell: Callable[[ReconcilePass], None]) -> int:
        due = 0.0
        while True:
            now = time.monotonic()
            if now >= due:
                due = now + self._pass(alarm, tell)
            if alarm.signals.asked:
                return 128 + alarm.signals.asked
            if why := self._over():
                sys.stderr.write(f"midwatch: {why}\n")
                return 0
            if self._sleep(alarm, due):
                due = min(due, max(time.monotonic() + SETTLING, now + SOONEST))

    def _pass(self, alarm: WakeupSources, tell: Callable[[ReconcilePass], None]) -> float:
        """Look, write, tell. Returns for how long nothing needs to be done."""
        self.writing.follow(*self._followed)  # before the look: what comes after it wakes us
        ends: tuple[DriftReport, ...] = ()
        try:
            if self.subscription is not None:
                ends = self.reconciler.apply_reports(self.subscription.take(), self.subscription.accepted)
            looked = self.reconciler.observe()
            passed = self.reconciler.act(looked)
        except MidwatchError as error:
            self._complain(f"{error}; nothing is changed until then")
            self._tell(failed_pass(str(error))._replace(new=ends), tell)
            return self._pause(0)
        self._complain("; ".join(passed.troubles))
        self._tell(passed._replace(new=(*ends, *passed.new)), tell)
        unknown, known = _watched_directories(looked, self._heads)
        before, self._followed = self._followed, ({self.reconciler.path, *unknown}, known)
        if not alarm.watch_ends(_watched_processes(looked)) or self._followed != before or passed.again is not None:
            return max(passed.again or 0.0, SETTLING)
        return self._pause(sum(row.status == RUNNING for row in looked.registry.rows))

    def _tell(self, passed: ReconcilePass, tell: Callable[[ReconcilePass], None]) -> None:
        if passed.new:
            self._stirred = time.monotonic()
            if trouble := self._remember(passed):
                sys.stderr.write(f"midwatch: {visible(trouble)}\n")
                passed = passed._replace(troubles=(*passed.troubles, trouble))
        tell(passed)

    def _remember(self, passed: ReconcilePass) -> str:
        """Note what is new. Returns what could not be done."""
        trouble = ""
        if not self.reconciler.dry:
            trouble = drift_notifications.record_drifts(
                self.reconciler.path, paths.project_root(self.reconciler.workspace), passed.new
            )
        if self.card is not None:
            new = [report for report in passed.new if not report.repeated]
            self.card.add_drifts(
                [each.drift._replace(message=drift_notifications.format_report(each)) for each in new], time.monotonic()
            )
        return trouble

    def _sleep(self, alarm: WakeupSources, due: float) -> bool:
        """Sleep until something is due. True: something stirred that is worth a pass."""
        moments = [due, self._limit(), *([self.card.due()] if self.card else [])]
        if self.subscription is not None:
            moments.append(self.subscription.tend())
        until = self._beat.after_pass(min(moments))
        alarm.sleep(until)
        if self.subscription is not None and self.subscription.news:
            self._stirred = time.monotonic()
            return True
        return time.monotonic() < until

    def _pause(self, sessions: int) -> float:
        if self.subscription is not None and not self.subscription.connected:
            return self.subscription.fallback_s
        return self.wanted.interval or default_interval(sessions)

    def _limit(self) -> float:
        limits = [self._began + self.wanted.timeout] if self.wanted.timeout else []
        limits += [self._stirred + self.wanted.idle] if self.wanted.idle else []
        return min(limits, default=float("inf"))

    def _over(self) -> str:
        now = time.monotonic()
        if self.card is not None and (asked := self.card.tend(now)):
            return asked
        if self.wanted.timeout and now >= self._began + self.wanted.timeout:
            return f"--timeout: {self.wanted.timeout:g} s are over"
        if self.wanted.idle and now >= self._stirred + self.wanted.idle:
            return f"--idle-timeout: nothing for {self.wanted.idle:g} s"
        return ""

    def _complain(self, trouble: str) -> None:
        """Say once what is wrong, and once that it is over."""
        if trouble != self.trouble:
            sys.stderr.write(f"midwatch: {visible(trouble) or 'everything can be seen again'}\n")
            self.trouble = trouble


def default_interval(sessions: int) -> float:
    return LONG if sessions >= MANY else SHORT


def _watched_processes(looked: RegistryObservation) -> dict[str, tuple[int, int]]:
    """Processes of panes whose end is worth a look."""
    names = {row.name for row in looked.registry.rows if row.status == RUNNING}
    found = {pane.id: (pane.pid, pane.start) for pane in looked.sight.panes if pane.session in names and pane.start}
    return dict(list(found.items())[:MOST_ENDS])


def _watched_directories(looked: RegistryObservation, heads: FileHeadCache) -> tuple[set[str], set[str]]:
    """Where a conversation would appear of sessions whose id is not known yet, and of those that may begin another.

    What the latter write all the time into the one that is known is no news: only new names are.
    """
    unknown: set[str] = set()
    known: set[str] = set()
    now, day = time.time(), time.strftime("%Y/%m/%d")
    for row in looked.registry.rows:
        if (running := looked.sight.running.get(row.at)) is None:
            continue
        files, found = parts.files(running.agent), known if row.conversation else unknown
        with contextlib.suppress(OSError):  # such as a directory of another's: the next timed look tells
            found.update(files.shelves(running._replace(started=now), heads))  # where one would begin now
        if not row.conversation:
            found.update(files.arrivals(running.environment, day))
    return {_nearest_directory(place) for place in unknown}, {_nearest_directory(place) for place in known}


def _nearest_directory(directory: str) -> str:
    """The directory, or the nearest one above it that is there: in that one it will appear."""
    while not os.path.isdir(directory) and len(directory) > 1:
        directory = os.path.dirname(directory)
    return directory
