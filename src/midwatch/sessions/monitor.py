"""Watching one session in a single call: look when something happened or time may have changed it, act, say, be done.

One monitor of a session acts (`sessions.monitor_lease`). Others that watch it report what that one reports, and one
takes its place when it is gone. Whatever ends a monitor, the session goes on.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

from midwatch.agents.file_write_watcher import FileWriteWatcher
from midwatch.core.causes import Cause
from midwatch.core.errors import MidwatchError, RefusedError
from midwatch.core.job_model import Record
from midwatch.core.text import signal_name
from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.jobs.rules import resume_condition
from midwatch.notifications import report_change
from midwatch.sessions import pane_resume, verify
from midwatch.sessions import resume as sessions_resume
from midwatch.sessions.limit_wait import READY, LimitWait
from midwatch.sessions.model import FINAL, MonitorOptions
from midwatch.sessions.monitor_lease import MonitorLease
from midwatch.sessions.prompting.model import PromptOutcome
from midwatch.sessions.rules import monitor
from midwatch.sessions.session_outcome import CALM, SOONEST, SessionOutcomeTracker
from midwatch.sessions.targets import ForeignPane, ManagedSession, TargetView
from midwatch.sessions.watch_reports import WatchReports
from midwatch.system.wakeup_sources import WakeupSources

LATE = 2.0
"""A wake-up later than this means that time was lost (suspend, SIGSTOP); lost time does not count."""
RETRY_NOTICES, UNTOUCHED = 60.0, ("abandoned", "not_found")


class SessionMonitor(SessionOutcomeTracker):
    """``say`` is called with every change that does not end it."""

    def __init__(
        self, subject: ManagedSession | ForeignPane, wanted: MonitorOptions, say: Callable[[Verdict], None]
    ) -> None:
        super().__init__(subject, wanted)
        self.say = say
        self.actor = MonitorLease(subject, wanted) if isinstance(subject, ManagedSession) else None
        self.pane_resumes = 0 if self.actor else wanted.resumes
        """How often an agent that others started may still be brought back."""
        self.began = time.monotonic()
        self.limit = LimitWait(subject, say, self.is_asked, self.actor)
        self.reports = WatchReports(subject)
        self.retried = 0.0
        self.last_check: tuple[object, Verdict] | None = None
        """A turn, and what its end was worth: the work is asked after once for each."""
        self.beat = LoopBeat()
        telling = frozenset(f"{subject.name}.{suffix}" for suffix in ("status", "json", "watch", "halt", "limit"))
        self.alarm = WakeupSources(subject.directory, telling, guest=wanted.guest)
        self.writing = FileWriteWatcher()

    def run(self, end: Callable[[Verdict], None]) -> Verdict:
        """Watch, say at the end what there is to be said, and then write down that it was said."""
        try:
            self.alarm.also(self.writing)
            while (over := self.attend()) is None:
                pass
        except BaseException as error:
            self.break_off(error)
            raise
        else:
            end(over)
            if self.view:
                self.journal(self.view.record, "watched", state=over.state, cause=over.cause, reason=over.reason)
            return over
        finally:
            self.writing.close()
            self.alarm.close()
            self.subject.close()
            if self.actor:
                self.actor.close()

    @property
    def deadline(self) -> float:
        began = self.actor.began if self.actor and not self.wanted.afresh else self.began
        return began + self.wanted.deadline_s

    def attend(self) -> Verdict | None:
        """One round; the verdict when the watch is over."""
        if self.actor and not self.actor.acquire():
            return self.follow(self.actor)
        view, said = self.observe()
        now, verdict = time.monotonic(), view.verdict
        if said is not None and monitor.is_verifiable(said):
            said = self.verified_once(view, said)
        if self.wanted.on_limit == "wait":
            said = self.limit.attend(view, said, self.deadline - now)
        again = said is not None and self.may_resume(said)
        goes_on = said is None or monitor.is_ongoing(said, verdict, self.wanted)
        if (goes_on or again) and self.alarm.signals.asked:
            return self.leave("monitor-ended", f"the monitor was ended by {signal_name(self.alarm.signals.asked)}")
        if said is not None and again:
            return self.resume(self.actor, view, said) if self.actor else self.resume_pane(view, said)
        if goes_on and now >= self.deadline:
            return self.leave("deadline", monitor.format_timeout(self.wanted))
        if said is not None and not goes_on:
            return self.over(view, said)
        if said is not None or verdict.settled:
            self.report(view, said or verdict, over=False, waits=said is None and self.wanted.on_limit == "wait")
        self.note(view)
        self.sleep(view)
        return None

    def follow(self, actor: MonitorLease) -> Verdict | None:
        """Another monitor acts: wait for what it says, or for its end."""
        if (told := actor.other_verdict()) is not None:
            return told
        if self.wanted.until != FINAL and actor.other_watches_on() and (said := self.own_outcome()) is not None:
            return said
        asked = self.alarm.signals.asked
        if asked or time.monotonic() >= self.deadline:
            why = f"this monitor was ended by {signal_name(asked)}" if asked else monitor.format_timeout(self.wanted)
            cause: Cause = "monitor-ended" if asked else "deadline"
            return monitor.abandoned_verdict(self.subject.observe().verdict, cause, f"{why}, another one goes on")
        self.alarm.watch_ends(actor.acting_monitor())
        self.alarm.sleep(self.beat.after_pass(min(time.monotonic() + CALM, self.deadline)))
        return None

    def own_outcome(self) -> Verdict | None:
        """What there is to be said, where the monitor that acts watches on to the end of the work."""
        view, said = self.observe()
        if said is None or self.is_brought_back(view, said):
            return None
        if said.state == "limited" and self.wanted.on_limit == "wait":
            return None
        return self.verified(view, said) if monitor.is_verifiable(said) else said

    # Watching

    def sleep(self, view: TargetView) -> None:
        now = time.monotonic()
        self.writing.follow(view.files)
        self.alarm.also(self.subject.control)
        if now >= self.retried + RETRY_NOTICES:
            report_change.start_delivery(self.subject.directory)
            self.retried = now
        until = self.beat.after_pass(min(self.next_look(view.verdict, now), self.deadline))
        if self.alarm.watch_ends(view.ends):
            self.alarm.sleep(until, soonest=now + SOONEST)
        if (late := time.monotonic() - max(until, now)) > LATE:
            self.add_lost_time(late)

    def add_lost_time(self, seconds: float) -> None:
        super().add_lost_time(seconds)
        self.began += seconds
        if self.actor:
            self.actor.began += seconds

    def report(self, view: TargetView, verdict: Verdict, *, over: bool, waits: bool = False) -> None:
        """Notices for those who want them, the journal, and while it goes on a word for whoever waits here."""
        if self.actor:
            self.actor.record_state(view.record, verdict)
        if self.reports.report(verdict, view.about, began=self.began, waits=waits) and not over:
            self.say(verdict)

    def note(self, view: TargetView, verdict: Verdict | None = None, acting: str = "", *, left: bool = False) -> None:
        if self.actor:
            self.actor.note(view, verdict, acting, left=left)

    def journal(self, record: Record | None, event: str, **body: object) -> None:
        if self.actor:
            self.actor.journal(record, event, **body)

    # Acting

    def verified(self, view: TargetView, said: Verdict) -> Verdict:
        """The same, or that the work is not there."""
        given = self.wanted.verify
        if view.record is not None:
            return verify.verify_by_record(said, view.record, self.subject.directory, given)
        return verify.verify_verdict(said, given, view.cwd, view.began)

    def verified_once(self, view: TargetView, said: Verdict) -> Verdict:
        """The same, asked once for each turn: a watch that goes on comes by again and again."""
        turn = (view.record.run if view.record else "", view.verdict.final, monitor.turn_marks(view.memory))
        if self.last_check is None or self.last_check[0] != turn:
            self.last_check = turn, self.verified(view, said)
        return self.last_check[1]

    def is_asked(self) -> bool:
        """Whether somebody wants this monitor to end."""
        return bool(self.alarm.signals.asked)

    def may_resume(self, said: Verdict) -> bool:
        """Whether to bring it back. What others started is never ended, so it must have ended by itself."""
        if self.actor is not None:
            return self.actor.resumes > 0 and resume_condition.is_resumable(said)
        return self.pane_resumes > 0 and said.final and resume_condition.is_resumable(said)

    def resume_pane(self, view: TargetView, said: Verdict) -> Verdict | None:
        """The same for an agent that others started, in its own shell."""
        assert isinstance(self.subject, ForeignPane)
        self.pane_resumes, total = self.pane_resumes - 1, self.wanted.resumes
        self.say(pane_resume.announce(said, total - self.pane_resumes, total))
        if (refused := pane_resume.resume_in_shell(self.subject, said, self.is_asked)) is not None:
            return self.over(view, refused)
        self.idle_since = None
        self.mark_continued(submitted=True)
        return None

    def resume(self, actor: MonitorLease, view: TargetView, said: Verdict) -> Verdict | None:
        """Bring it back and watch on; or say what became of it, and why it was not."""
        record, subject, total = view.record, actor.subject, self.wanted.resumes
        assert record is not None
        actor.resumes -= 1
        self.note(view, acting="resume")
        since = record.started  # whoever wanted this very run to be stopped does not want it back
        self.say(said._replace(final=False, reason=f"{said.reason}; resuming it ({total - actor.resumes} of {total})"))
        try:
            agent = subject.session.detector(record)
            hung = said if said.state == "stuck" else None
            job = sessions_resume.resume_session(
                subject.looker, record, agent, since=since, attempt=record.attempt + 1, stuck=hung
            )
        except sessions_resume.SessionStoppedError:
            view = self.view = subject.observe()
            reason = f"{said.reason}; {sessions_resume.STOPPED}"
            return self.over(view, said._replace(state="stopped", cause="stop-asked", reason=reason))
        except (RefusedError, OSError) as error:
            return self.over_or_on(view, said._replace(reason=f"{said.reason}; not resumed: {error}"))
        self.journal(record, "resumed", reason=said.reason, by=job.run)
        self.idle_since = None
        sent = subject.session.deliver(
            sessions_resume.GO_ON, until=time.monotonic() + READY,
            stopped=lambda: self.is_asked() or monitor_store.is_stop_requested(subject.base, since),
        )  # fmt: skip
        self.mark_continued(submitted=sent.submitted)
        if sent.submitted or self.is_asked() or monitor_store.is_stop_requested(subject.base, since):
            return None
        if sent.outcome == PromptOutcome.WORKING:
            return None  # its turn goes on by itself: a daemon had it
        view = self.view = subject.observe()
        if view.verdict.final or view.verdict.state in ("waiting", "limited"):
            return None  # the next look tells
        why = f"it was resumed after it had {said.state}, but could not be told to go on: {sent.reason}"
        return self.over_or_on(view, view.verdict._replace(state="waiting", cause="not-continued", reason=why))

    # Ending

    def over_or_on(self, view: TargetView, verdict: Verdict) -> Verdict | None:
        """The watch ends with this, or reports it and goes on."""
        if not monitor.is_ongoing(verdict, view.verdict, self.wanted):
            return self.over(view, verdict)
        self.report(view, verdict, over=False)
        return None

    def over(self, view: TargetView, verdict: Verdict) -> Verdict:
        self.report(view, verdict, over=True)
        return self.finish(view, verdict)

    def finish(self, view: TargetView, verdict: Verdict) -> Verdict:
        cleanup = self.wanted.cleanup and verdict.final and verdict.state not in UNTOUCHED
        if self.actor and (verdict.final or not self.actor.plan.job):
            self.actor.end_plan(verdict.state)
        self.note(view, verdict, "cleanup" if cleanup else "")
        if cleanup:
            try:
                why = self.subject.clear_away()
            except RefusedError as error:
                why = str(error)
            if why:
                return self.left_open(verdict, why)
        return verdict

    def left_open(self, verdict: Verdict, why: str) -> Verdict:
        """What is said at the end although the session could not be closed."""
        return verdict._replace(reason=f"{verdict.reason}; its session could not be closed: {why}")

    def leave(self, cause: Cause, why: str) -> Verdict:
        """The watch ends before the work does."""
        assert self.view is not None
        verdict = monitor.abandoned_verdict(self.view.verdict, cause, why)
        self.note(self.view, verdict, left=True)
        if self.actor and (cause == "deadline" or not self.actor.plan.job):
            self.actor.end_plan(verdict.state)
        self.report(self.view, verdict, over=True)
        return verdict

    def break_off(self, error: BaseException) -> None:
        """Say that the watch has ended, as far as that can be said."""
        if self.view is not None and (self.actor is None or self.actor.leading):
            with contextlib.suppress(OSError, MidwatchError):
                over = self.leave("monitor-failed", f"the monitor broke: {type(error).__name__} {error}".strip())
                self.journal(self.view.record, "watched", state=over.state, cause=over.cause, reason=over.reason)
