"""Waiting for jobs and sessions: look when something happened, or when the judge said that time may change it.

Of a session the outcome is waited for, as a monitor tells it (`subjects.session_wait`); a wait does nothing about it.
"""

from __future__ import annotations

import time

from midwatch.core.exit_codes import REPORTED
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Alive, Gone, JobFacts, Record
from midwatch.core.redaction import redact
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.observation_schedule import NEVER, ObservationSchedule
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.jobs.wait_model import WaitOptions, WaitOutcome
from midwatch.jobs.wait_state import MOST_HELD, WaitedSubject, hold_work, identify_directory
from midwatch.system import procfs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Protocol

    from midwatch.jobs.stall_tracker import StallTracker
    from midwatch.subjects.session_wait import SessionWaits
    from midwatch.subjects.strict_wait import StrictWait

    class Attention(Protocol):
        """What can be told to wake a wait."""

        def watch_process(self, name: str, pid: int) -> bool: ...
        def watch_writes(self, name: str, path: str) -> bool: ...
        def forget(self, name: str) -> None: ...


AGAIN = 1.0
AWAY = 10.0
"""Seconds for which a directory may be gone (a remount, a rename) before that is the answer."""
LATE = 2.0
"""A wake-up later than this means that time was lost (suspend, SIGSTOP); lost time does not count as silence."""


class SubjectWait:
    """One wait for some names of one directory. ``outcomes`` yields each as soon as it is known.

    With ``beside`` whoever drives it takes the looks at sessions (`SessionWaits`).
    """

    def __init__(
        self, looker: JobDirectory, names: list[str], wanted: WaitOptions, *, guest: bool = False, beside: bool = False
    ) -> None:
        self.looker = looker
        self.beside = beside
        self.wanted = wanted
        self.guest = guest
        self.began = time.monotonic()
        self.deadline = NEVER if wanted.timeout_s is None else self.began + wanted.timeout_s
        self.pending = {name: WaitedSubject(name) for name in names}
        self.keeper: StallTracker | None = None
        self.sessions: SessionWaits | None = None
        self.enforcement: StrictWait | None = None
        self.wakeups: Attention | None = None
        self.schedule = ObservationSchedule()
        self.home = identify_directory(looker.directory)

    def outcomes(self, tick: Callable[[list[str]], None] | None = None) -> Generator[WaitOutcome, None, None]:
        """Wait. With ``tick``, call it about every second with the names waited for (for a line on a terminal)."""
        try:
            # Most waits are for what has ended already: a first look needs no wake-ups.
            yield from self.look_at(list(self.pending))
            if self.pending:
                yield from self.woken(tick)
        finally:
            self.close()

    def woken(self, tick: Callable[[list[str]], None] | None) -> Generator[WaitOutcome, None, None]:
        from midwatch.jobs.loop_beat import LoopBeat  # noqa: PLC0415  # what has ended already needs neither
        from midwatch.jobs.wakeups import JobWakeups  # noqa: PLC0415

        beat = LoopBeat(self.looker.directory, self.pending)
        self.wakeups = wakeups = JobWakeups(self.looker.directory, set(self.pending), guest=self.guest)
        try:
            yield from self.look_at(list(self.pending))
            while self.pending:
                if time.monotonic() >= self.deadline:
                    yield from map(self.give_up, list(self.pending))
                    return
                if tick:
                    tick(list(self.pending))
                until = beat.after_pass(min(self.until(), time.monotonic() + 1.0 if tick else NEVER))
                touched = wakeups.sleep(until)
                now = time.monotonic()
                if now > until + LATE:
                    self.add_lost_time(now - until)
                yield from self.look_at([*touched, *self.schedule.overdue(now)])
        finally:
            wakeups.close()

    def give_up(self, name: str) -> WaitOutcome:
        """What the caller's time has run out for, as it is now."""
        seen = self.sessions.observe(name) if self.sessions is not None and self.pending[name].seated else None
        return WaitOutcome(seen or self.looker.verdict(name, self.pending[name].memory), "timeout")

    def live(self, name: str) -> Verdict:
        """How it is at this moment; a session, by the last look."""
        return (self.sessions.live(name) if self.sessions is not None else None) or self.looker.verdict(name)

    def verified(self, outcome: WaitOutcome) -> WaitOutcome:
        """What an end is worth: its verifier says so, and this takes as long as that does."""
        record, given = outcome.record, self.wanted.verify
        if record is None or not (given or record.verify or record.pane):
            return outcome
        from midwatch.sessions import verify  # noqa: PLC0415
        from midwatch.sessions.rules import monitor  # noqa: PLC0415  # few have anything to be verified by

        if not monitor.is_verifiable(outcome.verdict):
            return outcome
        return outcome._replace(verdict=verify.verify_by_record(outcome.verdict, record, self.looker.directory, given))

    def close(self) -> None:
        for each in (self.keeper, self.sessions):
            if each is not None:
                each.close()

    # When to look

    def until(self) -> float:
        """The moment at which something is to be done though nothing may happen."""
        return min(self.schedule.earliest(), self.deadline)

    def add_lost_time(self, gap: float) -> None:
        from midwatch.jobs.rules import stall  # noqa: PLC0415  # time is lost by few

        for subject in self.pending.values():
            if subject.memory.seen is not None:
                subject.memory = subject.memory._replace(seen=stall.shift_times(subject.memory.seen, gap))
        for keeper in (self.sessions, self.enforcement):
            if keeper is not None:
                keeper.add_lost_time(gap)

    # Looking

    def look_at(self, names: list[str]) -> Iterator[WaitOutcome]:
        for name in names:
            subject = self.pending.get(name)
            if subject is None:
                continue
            outcome = self.observe(subject)
            if outcome is None and self.wakeups is not None and not self.attend(subject, self.wakeups):
                outcome = self.observe(subject)
            if outcome is not None:
                del self.pending[name]
                self.schedule.forget(name)
                if self.wakeups is not None:
                    self.wakeups.forget(name)
            try:
                if outcome is not None:
                    yield outcome
            finally:  # whoever waits knows first
                if subject.news is not None:
                    self.report_news(subject, *subject.news)

    def observe(self, subject: WaitedSubject) -> WaitOutcome | None:
        facts = self.looker.facts(subject.name, subject.memory)
        current = self.is_its_run(subject, facts.record)
        if not current:
            facts = self.looker.archived(subject.name, subject.run) or facts
        verdict = job_verdict.judge(facts)
        if not facts.exists:
            return self.missing(subject, verdict)
        if self.enforcement is not None:
            verdict = self.enforcement.applied(facts, verdict, subject.memory)
        subject.known, record = True, facts.record
        subject.settled = verdict.settled and facts.earlier is None
        subject.away_since, self.home = None, self.home or identify_directory(self.looker.directory)
        subject.run = subject.run or (record.run if record else "")
        subject.seated = record is not None and record.pane is not None
        if record is not None and record.notify and verdict.settled and isinstance(facts.shim, Gone):
            subject.news = verdict, record, facts.now
        matched = self.scan(subject, facts)
        if matched is not None:
            reason = f"a line matched: {redact(matched.line())}"
            return WaitOutcome(verdict._replace(reason=reason, matched=matched), "match", record)
        if subject.log is not None and subject.log.behind:
            self.schedule.set(subject.name, facts.now)  # a long log is read in parts, to its end
            return None
        if subject.seated:
            over = self.of_session(facts, verdict, current=current)
        else:
            over = verdict if self.done(verdict) else None
        if over is None:
            self.remember(subject, facts, verdict)
            return None
        if self.wanted.match and over.final:
            over = over._replace(reason=f"{over.reason}; no line matched {self.wanted.match.pattern!r}")
        return WaitOutcome(over, "state", record)

    def is_its_run(self, subject: WaitedSubject, record: Record | None) -> bool:
        """Whether this is the run that is waited for; a session that was resumed goes on in another."""
        if not subject.run or (record is not None and record.run == subject.run):
            return True
        if record is None or record.pane is None or record.again != subject.run or self.wanted.until == "exited":
            return False
        subject.run = record.run
        return True

    def of_session(self, facts: JobFacts, verdict: Verdict, *, current: bool) -> Verdict | None:
        if self.sessions is None:
            from midwatch.subjects.session_wait import SessionWaits  # noqa: PLC0415  # jobs do not pay for tmux

            self.sessions = SessionWaits(self.looker, self.wanted.until, beside=self.beside)
        return self.sessions.over(facts, verdict, current=current)

    def report_news(self, subject: WaitedSubject, verdict: Verdict, record: Record, at: float) -> None:
        """Have somebody told what its shim, which was killed, can no longer have told."""
        from midwatch.notifications import report_change  # noqa: PLC0415  # few lose their shim

        before, subject.said, subject.news = subject.said, verdict, None
        directory, about = self.looker.directory, report_change.change_subject(record)
        if not report_change.is_resumed(directory, record, verdict):
            report_change.report_verdict(directory, verdict, before, project=record.notify, about=about, at=at)

    def done(self, verdict: Verdict) -> bool:
        if not verdict.settled:
            return False
        if verdict.final or verdict.state == "unknown":
            return True
        return verdict.state == self.wanted.until if self.wanted.until else verdict.state in REPORTED

    def missing(self, subject: WaitedSubject, verdict: Verdict) -> WaitOutcome | None:
        if subject.known:
            away = self.is_away(subject)
            if away or self.looker.facts(subject.name).exists:  # the second: it is back since the look before
                self.schedule.set(subject.name, time.monotonic() + (AGAIN if away else 0.0))
                return None
            goes_on = subject.pid and procfs.start_time(subject.pid) == subject.pid_start
            left = f"process {subject.pid} goes on" if goes_on else "its process has ended"
            return WaitOutcome(verdict._replace(reason=f"its files were removed while waiting; {left}"), "state")
        due = self.began + self.wanted.start_s
        self.schedule.set(subject.name, due)
        return WaitOutcome(verdict, "state") if time.monotonic() >= due else None

    def is_away(self, subject: WaitedSubject) -> bool:
        """Whether its whole directory is out of sight, which may be back in a moment: that says nothing of the job."""
        now, found = time.monotonic(), identify_directory(self.looker.directory)
        removed = identify_directory(f"/proc/{subject.last_pid}/cwd", links=0)  # a shim lives in it
        if self.home in (found, None, removed):
            return False
        subject.away_since = now if subject.away_since is None else subject.away_since
        return now < subject.away_since + AWAY

    def scan(self, subject: WaitedSubject, facts: JobFacts) -> ForeignText | None:
        if self.wanted.match is None or facts.log is None:
            return None
        if subject.log is None:
            from midwatch.jobs.log_scan import LogScan  # noqa: PLC0415  # only where a line is waited for

            whole = facts.record is not None and facts.record.pane is not None and facts.record.adopted is None
            subject.log = LogScan(facts.log, self.wanted.match, whole=whole)
        return subject.log.find()

    def remember(self, subject: WaitedSubject, facts: JobFacts, verdict: Verdict) -> None:
        """Note what this look saw, and when the next must be even if nothing wakes us."""
        memory = subject.memory
        if facts.status is not None and memory.status_since is None:
            memory = memory._replace(status_since=facts.now)
        unseen = memory.unseen_since if memory.unseen_since is not None else facts.now
        memory = memory._replace(unseen_since=unseen if verdict.state == "unknown" else None)
        late = facts.now + AGAIN  # its shim is about to tell; look once more if it does not
        due = NEVER if verdict.look_at is None else verdict.look_at if verdict.look_at > facts.now else late
        stopper = facts.stop.by if facts.stop is not None else None
        subject.pid = next((each.pid for each in (facts.shim, facts.work, stopper) if isinstance(each, Alive)), 0)
        subject.last_pid = subject.pid or subject.last_pid
        subject.pid_start = procfs.start_time(subject.pid) if subject.pid else 0
        if not (facts.record and isinstance(facts.shim, Alive)):
            if self.keeper is None:
                from midwatch.jobs.stall_tracker import StallTracker  # noqa: PLC0415  # a shim keeps the time of most

                self.keeper = StallTracker(self.looker.directory, self.looker.place.boot)
            seen, again = self.keeper.note(facts, verdict, memory.seen)
            process, keeps = (subject.pid, subject.pid_start), self.keeper.leases.get(subject.name) is not None
            memory = memory._replace(seen=seen, process=process, keeps=keeps, pid_written=facts.pid_written)
            due = min(due, again)
        many = self.wakeups is None or self.guest or self.beside or len(self.pending) > MOST_HELD
        subject.memory = memory._replace(held=hold_work(facts, memory.held, many=many))
        self.schedule.set(subject.name, due if self.sessions is None else min(due, self.sessions.due(subject.name)))

    def attend(self, subject: WaitedSubject, wakeups: Attention) -> bool:
        """Make sure that the end of its process and its next line wake us. False: look again at once."""
        if subject.log is not None:
            wakeups.watch_writes(subject.name, subject.log.path)
        for path in self.sessions.files(subject.name) if self.sessions is not None else ():
            wakeups.watch_writes(subject.name, path)
        base = f"{self.looker.directory}/{subject.name}"
        awaited = () if subject.settled else ("status", "result")
        missed = [suffix for suffix in awaited if wakeups.watch_writes(subject.name, f"{base}.{suffix}")]
        return (not subject.pid or wakeups.watch_process(subject.name, subject.pid)) and not missed
