"""Following the journal: each event once, in order, as soon as it is there.

A file event says only that something may have come: every look takes in all spools and asks the journal for all beyond
the last number. A look that finds nothing writes nothing, so taking in wakes us once more and then no more.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator, Sequence

from midwatch.core.errors import RefusedError
from midwatch.core.event import Event
from midwatch.jobs.history import check_since
from midwatch.jobs.loop_beat import NEVER, LoopBeat
from midwatch.jobs.wakeups import TIMED_LOOK
from midwatch.journal import spool_reader
from midwatch.journal.journal import Journal
from midwatch.system import inotify

GONE = inotify.DELETE_SELF | inotify.MOVE_SELF | 0x4
"""The last is also how a file that we have open tells that its name was taken away."""


class EventFeed:
    def __init__(self, journal: Journal, since: int, names: Sequence[str], reader: int | None = None) -> None:
        self.journal = journal
        self.since = since
        self.names = names
        self.reader = reader
        """File descriptor that the events are written to, where they are written."""
        self.trouble = ""
        self.until = 0.0
        self._beat = LoopBeat()
        self._poll = select.poll()
        if reader is not None:
            self._poll.register(reader, 0)  # an error there: whoever read us has gone
        self._files: inotify.FileEvents | None = None
        if not inotify.find_event_problem(journal.directory):
            try:
                self._files = inotify.FileEvents()
                self._poll.register(self._files.fileno(), select.POLLIN)
            except (OSError, AttributeError):
                self._files = None

    def events(self) -> Iterator[Event]:
        """For ever, or until whoever reads has gone (BrokenPipeError)."""
        while True:
            found = self.look()
            for event in found:
                yield event
                self.since = event.seq
            if not found:
                self.sleep(self.until)

    def look(self) -> list[Event]:
        """What has come; ``until`` is set to when to look again although nothing may happen."""
        heard = self.listen()
        found = self.observe()
        self.until = self._beat.after_pass(NEVER if heard and not self.trouble else time.monotonic() + TIMED_LOOK)
        return found

    def fileno(self) -> int:
        """Readable when something may have come; negative where no file events tell."""
        return -1 if self._files is None else self._files.fileno()

    def take(self) -> None:
        """Take note of what has happened."""
        if self._files is not None:
            self._files.read()

    def observe(self) -> list[Event]:
        """What has come. A journal that cannot be written now is tried again; nothing is lost meanwhile."""
        try:
            self.journal.take_in()
            found = self.journal.after(self.since, self.names)
            newest = self.journal.newest() if not found else self.since
        except RefusedError as error:
            if str(error) != self.trouble:
                self.trouble = str(error)
                self.journal.say(self.trouble)
            return []
        self.trouble = ""
        check_since(self.since, newest)
        return found

    def listen(self) -> bool:
        """Ask to be woken, again before each look: what was put aside or made anew has another inode."""
        if self._files is None:
            return False
        try:
            self._files.add(
                spool_reader.spool_directory(self.journal.directory),
                inotify.MODIFY | inotify.CREATE | inotify.MOVED_TO | GONE,
            )
            self._files.add(self.journal.path, GONE)
            self._files.add(f"{self.journal.path}-wal", inotify.MODIFY | GONE)
        except OSError:
            return False
        return True

    def sleep(self, until: float) -> None:
        ready = dict(self._poll.poll(None if until == NEVER else max(0.0, until - time.monotonic()) * 1000 + 1))
        if self.reader is not None and self.reader in ready:
            raise BrokenPipeError
        if self._files is not None and ready:
            self._files.read()

    def close(self) -> None:
        if self._files is not None:
            self._files.close()
