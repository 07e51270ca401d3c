"""Waiting for jobs without polling: look when something happened, or when the judge said that time may change it."""

from __future__ import annotations

import heapq
import time

from dogwatch import proc
from dogwatch.judge import job
from dogwatch.judge.consequences import REPORTED
from dogwatch.loops.look import Looker, Memory
from dogwatch.model.facts import Alive, Gone, JobFacts, Record
from dogwatch.model.value import Value
from dogwatch.model.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Generator, Iterator
    from typing import Protocol

    from dogwatch.loops.keeper import Keeper
    from dogwatch.senses.logs import LogScan

    class Attention(Protocol):
        """What can be told to wake a wait."""

        def watch_process(self, name: str, pid: int) -> bool: ...
        def watch_writes(self, name: str, path: str) -> None: ...
        def forget(self, name: str) -> None: ...


NEVER = float("inf")
AGAIN = 1.0
SLICE = 100
LATE = 2.0
"""A wake-up later than this means that time was lost (suspend, SIGSTOP); lost time does not count as silence."""


class Wanted(Value):
    """What a wait is for."""

    until: str | None = None
    """A state, `final`, or None: whatever a caller must be told."""
    match: re.Pattern[str] | None = None
    start_s: float = 0.0
    """How long a name may not be there yet."""
    timeout_s: float | None = None


class Outcome(Value):
    verdict: Verdict
    how: str
    """`state`, `match`, or `timeout`: the caller's own time ran out."""


class _Subject:
    """What is known of one name while it is waited for. There may be ten thousand: it is kept small."""

    __slots__ = ("due", "known", "log", "memory", "name", "news", "pid", "pid_start", "run", "said", "settled")

    def __init__(self, name: str, now: float) -> None:
        self.name = name
        self.memory = Memory()
        self.due = now
        self.known = False
        self.run = ""
        """Which run is waited for: the one that was there at the first look, though the next may begin meanwhile."""
        self.settled = True
        self.pid = self.pid_start = 0
        self.log: LogScan | None = None
        self.news: tuple[Verdict, Record, float] | None = None
        """What nobody but us can have somebody told: its shim is gone."""
        self.said: Verdict | None = None
        """What was told of it by us."""


class Wait:
    """One wait for some names of one directory. ``outcomes`` yields each as soon as it is known."""

    def __init__(self, looker: Looker, names: list[str], wanted: Wanted, *, guest: bool = False) -> None:
        self.looker = looker
        self.wanted = wanted
        self.guest = guest
        self.began = time.monotonic()
        self.deadline = NEVER if wanted.timeout_s is None else self.began + wanted.timeout_s
        self.pending = {name: _Subject(name, self.began) for name in names}
        self.keeper: Keeper | None = None
        self.wakeups: Attention | None = None
        self.dues: list[tuple[float, str]] = []

    def outcomes(self, tick: Callable[[list[str]], None] | None = None) -> Generator[Outcome, None, None]:
        """Wait. With ``tick``, call it about every second with the names waited for (for a line on a terminal)."""
        # Most waits are for what has ended already: a first look needs no wake-ups.
        yield from self.look_at(list(self.pending))
        if not self.pending:
            return
        from dogwatch.loops.wakeups import Wakeups  # noqa: PLC0415  # what has ended already needs none

        self.wakeups = wakeups = Wakeups(self.looker.directory, set(self.pending), guest=self.guest)
        try:
            yield from self.look_at(list(self.pending))
            while self.pending:
                if time.monotonic() >= self.deadline:
                    yield from map(self.give_up, list(self.pending))
                    return
                if tick:
                    tick(list(self.pending))
                until = min(self.until(), time.monotonic() + 1.0 if tick else NEVER)
                touched = wakeups.sleep(until)
                now = time.monotonic()
                if now > until + LATE:
                    self.lose(now - until)
                yield from self.look_at([*touched, *self.overdue(now)])
        finally:
            wakeups.close()
            self.close()

    def give_up(self, name: str) -> Outcome:
        """What the caller's time has run out for, as it is now."""
        return Outcome(self.looker.verdict(name, self.pending[name].memory), "timeout")

    def close(self) -> None:
        if self.keeper:
            self.keeper.close()

    # When to look

    def until(self) -> float:
        """The moment at which something is to be done though nothing may happen."""
        return min(self.next_due(), self.deadline)

    def schedule(self, subject: _Subject, due: float) -> None:
        subject.due = due
        if due < NEVER:
            heapq.heappush(self.dues, (due, subject.name))

    def next_due(self) -> float:
        while self.dues:
            due, name = self.dues[0]
            if name in self.pending and self.pending[name].due == due:
                return due
            heapq.heappop(self.dues)
        return NEVER

    def overdue(self, now: float) -> list[str]:
        """Whose time has come: a few at once, so that thousands do not keep an event waiting."""
        found: list[str] = []
        while self.next_due() <= now and len(found) < SLICE:
            found.append(heapq.heappop(self.dues)[1])
        return found

    def lose(self, gap: float) -> None:
        from dogwatch.judge import keeping  # noqa: PLC0415  # time is lost by few

        for subject in self.pending.values():
            if subject.memory.seen is not None:
                subject.memory = subject.memory._replace(seen=keeping.shift(subject.memory.seen, gap))

    # Looking

    def look_at(self, names: list[str]) -> Iterator[Outcome]:
        for name in names:
            subject = self.pending.get(name)
            if subject is None:
                continue
            outcome = self.look(subject)
            if outcome is None and self.wakeups is not None and not self.attend(subject, self.wakeups):
                outcome = self.look(subject)
            if outcome is not None:
                del self.pending[name]
                if self.wakeups is not None:
                    self.wakeups.forget(name)
            try:
                if outcome is not None:
                    yield outcome
            finally:  # whoever waits knows first
                if subject.news is not None:
                    self.tell(subject, *subject.news)

    def look(self, subject: _Subject) -> Outcome | None:
        facts = self.looker.facts(subject.name, subject.memory)
        if subject.run and (facts.record is None or facts.record.run != subject.run):
            facts = self.looker.archived(subject.name, subject.run) or facts
        verdict = job.judge(facts)
        if not facts.exists:
            return self.missing(subject, verdict)
        subject.known, subject.settled = True, verdict.settled
        subject.run = subject.run or (facts.record.run if facts.record else "")
        if facts.record is not None and facts.record.notify and verdict.settled and isinstance(facts.shim, Gone):
            subject.news = verdict, facts.record, facts.now
        matched = self.scan(subject, facts)
        if matched is not None:
            return Outcome(verdict._replace(reason=f"a line matched: {matched}", matched=matched), "match")
        if subject.log is not None and subject.log.behind:
            self.schedule(subject, facts.now)  # a long log is read in parts; nothing can be said before its end
            return None
        if self.done(verdict):
            if self.wanted.match and verdict.final:
                verdict = verdict._replace(reason=f"{verdict.reason}; no line matched {self.wanted.match.pattern!r}")
            return Outcome(verdict, "state")
        self.remember(subject, facts, verdict)
        return None

    def tell(self, subject: _Subject, verdict: Verdict, record: Record, at: float) -> None:
        """Have somebody told what its shim, which was killed, can no longer have told."""
        from dogwatch.loops import notify  # noqa: PLC0415  # few lose their shim

        before, subject.said, subject.news = subject.said, verdict, None
        if not notify.is_brought_back(self.looker.directory, record, verdict):
            whom = notify.about(record)
            notify.changed(self.looker.directory, verdict, before, project=record.notify, about=whom, at=at)

    def done(self, verdict: Verdict) -> bool:
        if not verdict.settled:
            return False
        if verdict.final or verdict.state == "unknown":
            return True
        return verdict.state == self.wanted.until if self.wanted.until else verdict.state in REPORTED

    def missing(self, subject: _Subject, verdict: Verdict) -> Outcome | None:
        if subject.known:
            goes_on = subject.pid and proc.start_time(subject.pid) == subject.pid_start
            left = f"process {subject.pid} goes on" if goes_on else "its process has ended"
            return Outcome(verdict._replace(reason=f"its files were removed while waiting; {left}"), "state")
        self.schedule(subject, self.began + self.wanted.start_s)
        return Outcome(verdict, "state") if time.monotonic() >= subject.due else None

    def scan(self, subject: _Subject, facts: JobFacts) -> str | None:
        if self.wanted.match is None or facts.log is None:
            return None
        if subject.log is None:
            from dogwatch.senses.logs import LogScan  # noqa: PLC0415  # only where a line is waited for

            subject.log = LogScan(facts.log, self.wanted.match)
        return subject.log.find()

    def remember(self, subject: _Subject, facts: JobFacts, verdict: Verdict) -> None:
        """Note what this look saw, and when the next must be even if nothing wakes us."""
        memory = subject.memory
        if facts.status is not None and memory.status_since is None:
            memory = memory._replace(status_since=facts.now)
        unseen = memory.unseen_since if memory.unseen_since is not None else facts.now
        memory = memory._replace(unseen_since=unseen if verdict.state == "unknown" else None)
        late = facts.now + AGAIN  # its shim is about to tell; look once more if it does not
        due = NEVER if verdict.look_at is None else verdict.look_at if verdict.look_at > facts.now else late
        alive = facts.shim if isinstance(facts.shim, Alive) else facts.work
        subject.pid = alive.pid if isinstance(alive, Alive) else 0
        subject.pid_start = proc.start_time(subject.pid) if subject.pid else 0
        if not (facts.record and isinstance(facts.shim, Alive)):
            if self.keeper is None:
                from dogwatch.loops.keeper import Keeper  # noqa: PLC0415  # a shim keeps the time of most

                self.keeper = Keeper(self.looker.directory, self.looker.place.boot)
            seen, again = self.keeper.note(facts, verdict, memory.seen)
            memory = memory._replace(seen=seen, process=(subject.pid, subject.pid_start))
            due = min(due, again)
        subject.memory = memory
        self.schedule(subject, due)

    def attend(self, subject: _Subject, wakeups: Attention) -> bool:
        """Make sure that the end of its process and its next line wake us. False: look again at once."""
        if subject.log is not None:
            wakeups.watch_writes(subject.name, subject.log.path)
        if not subject.settled:
            for suffix in ("status", "result"):
                wakeups.watch_writes(subject.name, f"{self.looker.directory}/{subject.name}.{suffix}")
        return not subject.pid or wakeups.watch_process(subject.name, subject.pid)
