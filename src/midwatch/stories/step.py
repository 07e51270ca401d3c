"""One step of work from beginning to end: spawn, prompt, monitor, verify, save, clean up, read, decide; perhaps again.

Each attempt is a run of its own under the same name. Whatever ends an attempt, its session is closed before anything
else happens: an agent that nobody waits for any more would go on spending money and changing files.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from midwatch.core.errors import MidwatchError
from midwatch.core.exit_codes import exit_code
from midwatch.core.policy import Policy
from midwatch.core.states import VerdictState
from midwatch.core.text import format_duration, signal_name
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.launch import JobSpec
from midwatch.jobs.rules import resume_condition
from midwatch.sessions import spawn, verify
from midwatch.sessions.model import DEADLINE, MonitorOptions
from midwatch.sessions.prompting.model import PromptOutcome
from midwatch.stories.model import ESCALATE, Next, ParsedLog, StepEnd, Tally
from midwatch.stories.rules import next_action
from midwatch.stories.step_session import StepMonitor, StepSession, close_session, end_children
from midwatch.system import file_patterns, procfs
from midwatch.system.end_signals import EndSignals
from midwatch.trackers.codec.bmad import ARTIFACTS

READY = 60.0
"""Seconds that an agent may take to come to its prompt."""
CREATED = f"{ARTIFACTS}/[0-9]*-[0-9]*-*.md"
"""What a step `create` creates where nobody says what, in projects that have such a directory."""


class StepPlan(Value):
    """A step that somebody wants done."""

    wish: spawn.SpawnRequest
    prompt: str
    step: str = ""
    creates: str = ""
    """Of what exactly one more file must be there at the end; empty: what the step is known to create, if anything."""
    read: Callable[[str], ParsedLog] | None = None
    """Says what the output of a step that has completed means."""
    deadline_s: float = DEADLINE
    most: Tally = next_action.MOST
    keep: bool = False


class StepResult(Value):
    ended: StepEnd
    """How the last attempt ended."""
    next: Next
    tally: Tally
    attempts: int
    output: str = ""
    """Where the last of what was shown is saved; empty where nothing was."""
    asked: int = 0
    """The signal that ended the step."""

    @property
    def exit_code(self) -> int:
        """That of the final state, unless it ended well and is not to be gone on with."""
        return next_action.exit_code(exit_code(self.ended.state), self.next.action)


def not_started(why: str, step: str) -> StepResult:
    """The result of a step of which nothing was started."""
    return StepResult(StepEnd("unknown", why, step), Next(ESCALATE, why), Tally(), 0)


class StepRunner:
    """Carries out a plan. ``tell`` hears of every change of the session, ``say`` of what we do about it."""

    def __init__(
        self,
        looker: JobDirectory,
        policy: Policy,
        plan: StepPlan,
        tell: Callable[[Verdict], None],
        say: Callable[[str], None],
    ) -> None:
        self.looker = looker
        self.policy = policy
        self.plan = plan
        self.tell = tell
        self.say = say
        self.signals = EndSignals()
        self.began, self.clock = time.time(), time.monotonic()
        self.before = self.files()
        self.attempts, self.tally, self.output = 0, Tally(), ""
        self.kept: JobSpec | None = None
        """Whose session is still open."""

    def run(self) -> StepResult:
        with self.signals:
            while True:
                ended = self.attempt()
                self.tally = self.counted(ended)
                ended, then = self.hindered(ended, next_action.decide_next(ended, self.tally, self.plan.most))
                if not then.again:
                    return StepResult(ended, then, self.tally, self.attempts, self.output, self.signals.asked)
                if then.again == "cycle":
                    self.tally = self.tally._replace(cycles=self.tally.cycles + 1)
                    which = f"review cycle {self.tally.cycles} of {self.plan.most.cycles}"
                else:
                    which = f"crash retry {self.tally.crashes} of {self.plan.most.crashes}"
                self.say(f"{ended.state}: {then.why}; {which} begins")

    def hindered(self, ended: StepEnd, then: Next) -> tuple[StepEnd, Next]:
        """The same, unless there must be no further attempt although there would be one."""
        if not then.again:
            return ended, then
        why = ""
        if self.signals.asked:
            why = f"the step was ended by {signal_name(self.signals.asked)}"
        elif monitor_store.is_stop_requested(f"{self.looker.directory}/{self.plan.wish.name}", self.began):
            why = "somebody stopped it"
        if why:
            ended = ended._replace(state="stopped", reason=f"{why}; before that: {ended.state}, {ended.reason}")
            return ended, Next(ESCALATE, ended.reason)
        if time.monotonic() >= self.clock + self.plan.deadline_s:
            return ended, Next(ESCALATE, f"{then.why}; there is no time for another attempt")
        return ended, then

    # One attempt

    def attempt(self) -> StepEnd:
        if self.kept is not None:  # only the last is kept, for they have the same name
            self.cleared(None, self.kept)
        try:
            job = spawn.start_conversation(self.looker, self.plan.wish)
        except (MidwatchError, OSError) as error:
            return StepEnd("unknown", f"no session was started: {error}", self.plan.step)
        self.attempts += 1
        stage = None
        try:
            stage = StepSession(self.looker, job, self.policy)
            verdict = self.watched(stage)
            stage.save()
        finally:
            trouble = "" if self.plan.keep else self.cleared(stage, job)
            self.kept = job if self.plan.keep else None
        self.output = stage.path
        ended = self.ended(verdict, trouble)
        return self.parsed(ended, stage.text) if ended.state == "completed" else ended

    def cleared(self, stage: StepSession | None, job: JobSpec) -> str:
        """Close the session of an attempt. What could not be done, in words."""
        try:
            why = close_session(self.looker, job) if stage is None else stage.clear_away()
        except (MidwatchError, OSError) as error:
            why = str(error)
        return f"; its session could not be closed: {why}" if why else ""

    def watched(self, stage: StepSession) -> Verdict:
        """Give it its prompt, and watch it until there is something to be said."""
        try:
            return self.refused(stage) or self.monitored(stage)
        finally:
            stage.close()

    def refused(self, stage: StepSession) -> Verdict | None:
        """What is to be said of a session that did not take its prompt."""
        self.say(f"attempt {self.attempts} has begun; it is given its prompt")
        sent = stage.session.deliver(
            self.plan.prompt, until=min(time.monotonic() + READY, self.clock + self.plan.deadline_s),
            stopped=self.signals.was_asked,
        )  # fmt: skip
        if sent.submitted:
            stage.session.last = "working"  # who leaves before a look sees more has not done what he was asked to
            return None
        found = stage.settled() if sent.outcome == PromptOutcome.EXITED else stage.session.observe().verdict
        if self.signals.asked:
            return self.left_off(found)
        if found.final and found.state != "completed":
            return found
        if found.final:
            why = f"it ended before it had its prompt: {found.reason}"
            return found._replace(state="stopped", cause="never-began", reason=why)
        if time.monotonic() >= self.clock + self.plan.deadline_s:
            return self.timed_out(found)
        state = found.state if found.state in ("waiting", "limited") else "unknown"
        return found._replace(state=state, cause="never-began", reason=f"its prompt was not delivered: {sent.reason}")

    def monitored(self, stage: StepSession) -> Verdict:
        left = max(self.clock + self.plan.deadline_s - time.monotonic(), 0.0)
        retries = max(self.plan.most.crashes - self.tally.crashes, 0)
        wanted = MonitorOptions(left, retries, cleanup=not self.plan.keep, verify=self.plan.wish.verify)
        monitor = StepMonitor(stage, wanted, self.tell, self.began, self.is_begun_anew)
        verdict = monitor.run(lambda _: None)
        self.signals.asked = self.signals.asked or monitor.alarm.signals.asked
        if verdict.state == "completed" and wanted.verify and not monitor.checked:  # another monitor has said it
            return verify.verify_verdict(verdict, wanted.verify, self.plan.wish.cwd, self.began)
        if verdict.state != "abandoned" or monitor.view is None:
            return verdict
        seen = monitor.view.verdict
        if self.signals.asked:
            return self.left_off(seen)
        return verdict if self.plan.keep else self.timed_out(seen)

    def timed_out(self, seen: Verdict) -> Verdict:
        why = f"the step's time was up ({format_duration(self.plan.deadline_s)})"
        return seen._replace(state="timeout", cause="deadline", reason=f"{why}; it was {seen.state}: {seen.reason}")

    def left_off(self, seen: Verdict) -> Verdict:
        why = f"the step was ended by {signal_name(self.signals.asked)}"
        state: VerdictState = "abandoned" if self.plan.keep else "stopped"
        what = "it was left as it is" if self.plan.keep else "it was"
        return seen._replace(state=state, cause="monitor-ended", reason=f"{why}; {what} ({seen.state}: {seen.reason})")

    def is_begun_anew(self, verdict: Verdict) -> bool:
        """Whether there is another attempt after a crash or a hang."""
        ended = self.ended(verdict)
        return bool(self.hindered(ended, next_action.decide_next(ended, self.counted(ended), self.plan.most))[1].again)

    # What it is worth

    def ended(self, verdict: Verdict, trouble: str = "") -> StepEnd:
        return StepEnd(
            verdict.state, f"{verdict.reason}{trouble}", self.plan.step,
            verdict.signal, self.is_verified(verdict), None, self.created(), verdict.until,
            unseen=verdict.state == "unknown" and resume_condition.is_resumable(verdict),
        )  # fmt: skip

    def counted(self, ended: StepEnd) -> Tally:
        return self.tally._replace(crashes=self.tally.crashes + next_action.is_crash(ended))

    def is_verified(self, verdict: Verdict) -> bool | None:
        if not self.plan.wish.verify:
            return None
        return {"completed": True, "incomplete": False}.get(verdict.state)

    def parsed(self, ended: StepEnd, text: str) -> StepEnd:
        if self.plan.read is None:
            return ended
        self.say("its turn has ended; its output is read")
        before = set(procfs.children(os.getpid()))
        try:
            with self.signals.at_once():
                return ended._replace(parsed=self.plan.read(text))
        except KeyboardInterrupt:
            end_children(before)
            why = f"the step was ended by {signal_name(self.signals.asked)} while its output was read"
            return ended._replace(state="stopped", reason=f"{why}; before that: {ended.reason}")

    def created(self) -> int | None:
        """How many files there are more than before; None where nothing is counted."""
        known = self.plan.step == "create" and os.path.isdir(f"{self.plan.wish.cwd}/{ARTIFACTS}")
        return len(self.files() - self.before) if self.plan.creates or known else None

    def files(self) -> set[str]:
        pattern = self.plan.creates or (CREATED if self.plan.step == "create" else "")
        return set(file_patterns.find_files(pattern, self.plan.wish.cwd)) if pattern else set()
