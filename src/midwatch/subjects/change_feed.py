"""The feed of changes: every change of a subject once, under a number of the journal, over any number of listeners.

Whoever listens observes, too, if nobody else does: the lease `.changes.lock` is held by one, which writes the changes
into the journal; all read them from there. So a listener that comes back with the last number that it has seen goes on
exactly there, and the one that observes may be killed at any moment. An event of the kernel says only that something
may have changed; what has changed is found by comparing snapshots.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterator

from midwatch.config import paths, sentinel_files
from midwatch.core.errors import FormatError, RefusedError
from midwatch.jobs.history import check_since
from midwatch.jobs.wakeups import TIMED_LOOK, JobWakeups
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal, spool_reader
from midwatch.journal.journal import Journal
from midwatch.notifications import report_change
from midwatch.subjects import codec
from midwatch.subjects.model import SubjectChange, SubjectSnapshot
from midwatch.subjects.rules import FeedState, begin_feed, find_changes
from midwatch.subjects.snapshot import SubjectService
from midwatch.system import inotify
from midwatch.system.atomic_files import write_atomic
from midwatch.system.file_locks import Lease

LOCK, STATE = ".changes.lock", ".changes"
SHORTEST = 0.1
"""Seconds between two snapshots at least, however much happens."""


class ChangeFeed:
    """``since``: the number of the last change that is known; None: begin with what changes from now on."""

    def __init__(self, service: SubjectService, since: int | None = None) -> None:
        self.service = service
        self.directory = service.looker.directory
        if why := journal.find_problem(self.directory):
            raise RefusedError(f"{why}: no journal is kept there that could be followed")
        paths.prepare_directory(self.directory)
        self._book = Journal(self.directory)
        self._lease = Lease(f"{self.directory}/{LOCK}")
        self._state: FeedState | None = None
        self._due = 0.0
        self._book.take_in()
        newest = self._book.newest()
        check_since(since or 0, newest)
        self.since = newest if since is None else since
        self._wakeups = JobWakeups(self.directory, set(), guest=True)
        self._files: inotify.FileEvents | None = None
        self._poll = select.epoll() if hasattr(select, "epoll") else select.poll()
        self._listen()

    def changes(
        self, reader: int | None = None, after_pass: Callable[[float], float] = lambda until: until
    ) -> Iterator[SubjectChange]:
        """For ever, or until whoever reads from the file descriptor ``reader`` has gone (BrokenPipeError).

        ``after_pass`` takes the moment at which the next pass begins, and may give a sooner one.
        """
        poll = select.poll()
        if hasattr(select, "epoll"):  # which takes no file that `>` has opened
            poll.register(self.fileno(), select.POLLIN)
        if reader is not None:
            poll.register(reader, 0)
        while True:
            yield from self.take()
            until = after_pass(self.due)
            ready = dict(poll.poll(max(0.0, until - time.monotonic()) * 1000 + 1))
            if reader in ready:
                raise BrokenPipeError

    def take(self) -> list[SubjectChange]:
        """Observe, if that is ours to do, and return what has come into the journal."""
        self._wakeups.take()
        if self._files is not None:
            self._files.read()
        self._watch()
        if self._lease.take():
            self._record()
        else:
            self._due = time.monotonic() + TIMED_LOOK
        return self._read()

    @property
    def due(self) -> float:
        """The monotonic moment at which to call ``take`` though nothing may happen before."""
        return self._due

    def fileno(self) -> int:
        """For whoever sleeps on more than this: when it is readable, call ``take``."""
        assert isinstance(self._poll, select.epoll)
        return self._poll.fileno()

    def close(self) -> None:
        self.service.close()
        self._book.close()
        self._lease.close()
        self._wakeups.close()
        if self._files is not None:
            self._files.close()
        if isinstance(self._poll, select.epoll):
            self._poll.close()

    def _record(self) -> None:
        """Compare a snapshot with what was told, and write the changes down. The journal comes first."""
        found, now = self.service.snapshot(), time.monotonic()
        state = self._state or self._load() or begin_feed(found)
        after, changes = find_changes(state, found, now)
        if changes:
            self._book.add(*[codec.encode_change(each, time.time()) for each in changes])
        if changes or self._state is None or after.known != state.known:
            with contextlib.suppress(OSError):  # who cannot write it tells a change twice rather than never
                write_atomic(f"{self.directory}/{STATE}", codec.encode_state(after))
        self._state = after
        _notify(self.directory, found, changes)
        self._due = self._next_look(found, now)

    def _next_look(self, found: SubjectSnapshot, now: float) -> float:
        """Panes cannot push; jobs do, but for what only time makes true."""
        live = {each.verdict.name: each for each in found.subjects if each.kind == "job" and not each.verdict.final}
        for name in self._wakeups.names - set(live):
            self._wakeups.forget(name)
        self._wakeups.names |= set(live)
        ended = [name for name, each in live.items() if each.pid and not self._wakeups.watch_process(name, each.pid)]
        polled = self.service.scope.servers or self.service.scope.registry
        sessions = any(each.kind != "job" and not each.verdict.final for each in found.subjects)
        late = polled or sessions or self._files is None or ended or (self._state and self._state.missing)
        moments = [each.verdict.look_at for each in live.values() if each.verdict.look_at is not None]
        longest = TIMED_LOOK if late else 86400.0
        return max(now + SHORTEST, min([now + longest, self._wakeups.due, *moments]))

    def _load(self) -> FeedState | None:
        try:
            text = sentinel_files.read(f"{self.directory}/{STATE}")
        except (FormatError, OSError):
            return None
        return codec.decode_state(text) if text is not None else None

    def _read(self) -> list[SubjectChange]:
        self._book.take_in()
        found: list[SubjectChange] = []
        while page := self._book.after(self.since, kind=journal_codec.CHANGED):
            found += [codec.decode_change(each) for each in page]
            self.since = page[-1].seq
        return found

    def _listen(self) -> None:
        if hasattr(select, "epoll"):
            self._poll.register(self._wakeups.fileno(), select.POLLIN)
        if inotify.find_event_problem(self.directory):
            return
        try:
            self._files = inotify.FileEvents()
            self._poll.register(self._files.fileno(), select.POLLIN)
        except (OSError, AttributeError):
            self._files = None

    def _watch(self) -> None:
        """Ask for events, again before each look: what was made anew has another inode."""
        if self._files is None:
            return
        spool = spool_reader.spool_directory(self.directory)
        with contextlib.suppress(OSError):
            self._files.add(self.directory, inotify.MOVED_TO | inotify.CREATE | inotify.DELETE)
            self._files.add(spool, inotify.MODIFY | inotify.CREATE | inotify.MOVED_TO)
            if os.path.exists(wal := f"{self._book.path}-wal"):
                self._files.add(wal, inotify.MODIFY)


def _notify(directory: str, found: SubjectSnapshot, changes: tuple[SubjectChange, ...]) -> None:
    """Report what a session needs a person for, as its monitor would: it is sent once, however many watch.

    Ends are left to shims and monitors, who know whether the work was verified.
    """
    told = {each.id: each for each in changes if each.kind == "session" and not each.final}
    for subject in found.subjects if told else ():
        change, record = told.get(subject.id), subject.record
        if change is None or record is None or not record.notify:
            continue
        before = subject.verdict._replace(state=change.was, final=False) if change.was else None  # type: ignore[arg-type]
        about = report_change.change_subject(record)
        report_change.report_verdict(directory, subject.verdict, before, project=record.notify, about=about)
