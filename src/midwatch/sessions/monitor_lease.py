"""Which monitor of a session acts, and what it writes down for whoever comes after it.

One holds the lease. Others wait for what it says and take its place when it is gone; after one that was killed they go
on where it was. Where nothing can be written, everyone watches for himself and brings nothing back.
"""

from __future__ import annotations

import contextlib
import os
import time

from midwatch.core.errors import MidwatchError
from midwatch.core.job_model import Record
from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.jobs.monitor_plan import MonitorPlan
from midwatch.jobs.monitor_state import MonitorState
from midwatch.journal import journal
from midwatch.sessions.model import FINAL, MonitorOptions
from midwatch.sessions.targets import ManagedSession, TargetView
from midwatch.system import procfs

NOTED = 10.0
"""Seconds after which notes are written although nothing but time has changed them."""
OBSERVED = 300.0
"""Seconds after which the journal is told again that nothing has changed: only then is the time between observed."""


class MonitorLease:
    """What one monitor of a session of ours may do, and for how long."""

    def __init__(self, subject: ManagedSession, wanted: MonitorOptions) -> None:
        self.subject = subject
        self.wanted = wanted
        self.resumes = wanted.resumes
        self.plan = MonitorPlan("", continues=wanted.continues)
        """What this watch is to do; written down where others must know of it."""
        self.began = time.monotonic()
        """When the watch began, time that was lost not counted."""
        self.leading = False
        self._lease = monitor_store.session_lease(subject.base)
        self._first = monitor_store.read_state(subject.base)
        self._noted: tuple[object, ...] = ()
        self._noted_at = 0.0
        self._observed: tuple[str, ...] = ()
        self._observed_at = 0.0

    def acquire(self) -> bool:
        """Whether we are the one who acts."""
        if self.leading:
            return True
        try:
            self.leading = self._lease.take()
        except OSError:
            self.leading, self.resumes = True, 0
            return True
        if self.leading and self.other_verdict() is not None:
            self.leading = False
            self._lease.close()
        elif self.leading:
            record = self.subject.looker.facts(self.subject.name).record
            self._carry_on(monitor_store.read_state(self.subject.base), record)
            self._begin_plan(record)
        return self.leading

    def _carry_on(self, watch: MonitorState | None, record: Record | None) -> None:
        """Go on where a monitor of this run, or of the one that it repeats, was killed; what nobody watched is lost."""
        if watch is None or record is None or watch.verdict is not None or watch.boot != procfs.boot_id():
            return
        if watch.run in (record.run, record.again):
            self.began = min(self.began, time.monotonic() - (watch.at - watch.began))
            self.resumes = min(self.resumes, watch.resumes)

    # What it is to do, for all who ask

    def _begin_plan(self, record: Record | None) -> None:
        """Take over the plan of a watch that goes on, or make one."""
        if record is None or not (self.wanted.on_limit == "wait" or self.wanted.until == FINAL):
            return
        found, most = monitor_store.read_plan(self.subject.base), self.wanted.continues
        if found is not None and not found.ended and found.run in (record.run, record.again):
            self.plan, most = found, min(most, found.continues)
        self._write_plan(self.plan._replace(
            run=record.run, monitor=(os.getpid(), procfs.start_time(os.getpid())), boot=procfs.boot_id(),
            until=self.wanted.until, on_limit=self.wanted.on_limit, continues=most,
        ))  # fmt: skip

    def _write_plan(self, plan: MonitorPlan) -> None:
        if plan != self.plan:
            self.plan = plan
            with contextlib.suppress(OSError):
                monitor_store.write_plan(self.subject.base, plan)

    def end_plan(self, state: str) -> None:
        """The watch is over. One that was only interrupted is taken up again after a reboot."""
        if self.plan.run:
            self._write_plan(self.plan._replace(ended=state))

    def refuses_to_continue(self) -> str:
        """Why the session is not told to continue after a limit; empty where it may be."""
        if monitor_store.is_limit_cancelled(self.subject.base):
            return f"a person cancelled that (`midwatch limit {self.subject.name} --continue` allows it again)"
        if self.plan.continues <= 0:
            return f"it was told to continue as often as this watch allows (--continues {self.wanted.continues})"
        return ""

    def count_continuation(self) -> None:
        plan = self.plan._replace(continues=self.plan.continues - 1)
        if self.plan.run:
            self._write_plan(plan)
        self.plan = plan

    def other_watches_on(self) -> bool:
        """Whether the monitor that acts beside us ends only with the work."""
        plan = monitor_store.read_plan(self.subject.base)
        return plan is not None and plan.until == FINAL and not plan.ended

    # What it remembers

    def other_verdict(self) -> Verdict | None:
        """What the monitor that acted beside us came to since we began."""
        watch = monitor_store.read_state(self.subject.base)
        return None if watch is None or watch == self._first or watch.left else watch.verdict

    def acting_monitor(self) -> dict[str, tuple[int, int]]:
        """The process whose end would make us the one."""
        watch = monitor_store.read_state(self.subject.base)
        return {"monitor": watch.monitor} if watch is not None and watch.verdict is None else {}

    def note(self, view: TargetView, verdict: Verdict | None = None, acting: str = "", *, left: bool = False) -> None:
        """Remember on disk what would let another monitor, or `ls`, say something else."""
        if not self.leading or view.record is None:
            return
        if self.plan.run:
            self._write_plan(self.plan._replace(run=view.record.run))
        now, memory = time.monotonic(), view.memory
        essence = (
            view.record.run, verdict, acting, self.resumes, self.began, view.agent,
            memory and (memory.turn, memory.detail, memory.since, memory.stale_since, memory.pending),
        )  # fmt: skip
        if essence == self._noted and now < self._noted_at + NOTED:
            return
        policy = self.subject.session.policy
        watch = MonitorState(
            run=view.record.run, boot=procfs.boot_id(), monitor=(os.getpid(), procfs.start_time(os.getpid())),
            began=self.began, at=now, patience=(policy.stale_s, policy.grace_s), clock=policy.clock,
            resumes=self.resumes, agent=view.agent, memory=memory, acting=acting, verdict=verdict, left=left,
        )  # fmt: skip
        with contextlib.suppress(OSError):
            monitor_store.write_state(self.subject.base, watch)
            self._noted, self._noted_at = essence, now

    def record_state(self, record: Record | None, verdict: Verdict) -> None:
        """Tell the journal how it is: at each change, and now and then that it is still so."""
        now, essence = time.monotonic(), (record.run if record else "", verdict.state, verdict.cause)
        if essence != self._observed or now >= self._observed_at + OBSERVED:
            self._observed, self._observed_at = essence, now
            self.journal(record, "observed", state=verdict.state, cause=verdict.cause, reason=verdict.reason)

    def journal(self, record: Record | None, event: str, **body: object) -> None:
        """Note an event with the process that saw it: what lies between two events of one process was watched."""
        if record is not None and self.leading:
            by = f"{os.getpid()}-{procfs.start_time(os.getpid())}"
            with contextlib.suppress(OSError, MidwatchError):
                journal.record_event(self.subject.directory, record.name, record.run, event, **body, monitor=by)

    def close(self) -> None:
        self._lease.close()
