"""What an attempt at a step stands on: its session, which is closed when it is over, its monitor, and signals."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable

from midwatch.core.errors import MidwatchError
from midwatch.core.policy import Policy
from midwatch.core.verdict import Verdict
from midwatch.jobs import stop
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.launch import JobSpec
from midwatch.sessions import last_output, verify
from midwatch.sessions.model import MonitorOptions
from midwatch.sessions.monitor import SessionMonitor
from midwatch.sessions.monitor_lease import MonitorLease
from midwatch.sessions.targets import ManagedSession, TargetView
from midwatch.system import processes, procfs
from midwatch.system import terminate_tree as hand
from midwatch.system.atomic_files import write_atomic
from midwatch.system.end_signals import EndSignals
from midwatch.tmux.sessions import TmuxSessions

LEAVES = 5.0
"""Seconds that the shim of an agent that is gone may take to end."""


class StepSession(ManagedSession):
    """The session of one attempt. What it has shown is saved before it is closed."""

    def __init__(self, looker: JobDirectory, job: JobSpec, policy: Policy) -> None:
        super().__init__(looker, job.name, policy)
        self.job = job
        self.text = ""
        self.path = ""
        """Where that is; empty while it is not, or could not be, saved."""

    def settled(self) -> Verdict:
        """What is to be said of it, once its shim has said how an agent ended that is gone."""
        looked = self.session.observe()
        if not looked.verdict.final and looked.facts.record is not None:
            processes.await_exit(looked.facts.record.shim.pid, LEAVES)
            looked = self.session.observe()
        return looked.verdict

    def save(self) -> None:
        assert self.job.pane is not None
        if not self.path:
            self.text = last_output.last_lines(self.job.pane, f"{self.base}.log")
            with contextlib.suppress(OSError):
                write_atomic(f"{self.base}.output", self.text)
                self.path = f"{self.base}.output"

    def clear_away(self) -> str:
        self.save()
        return close_session(self.looker, self.job)


def close_session(looker: JobDirectory, job: JobSpec) -> str:
    """End what is left of exactly that run, and its session. Returns why not; empty when it is gone."""
    assert job.pane is not None
    why = ""
    try:
        record = looker.facts(job.name).record
        if record is not None and record.run == job.run:
            stop.end_job(looker, job.name, run=job.run)
        left = hand.end_tree(lambda: processes.start_times(processes.find_run_processes(job.run)), spare=job.spare)
        why = f"still there: {', '.join(map(str, left))}" if left else ""
    except MidwatchError as error:
        why = str(error)
    return TmuxSessions(job.pane.server).close(job.pane) or why


def end_children(before: set[int]) -> None:
    """End what we have started since: a signal may come between a start and whoever would see to its end."""
    for pid in set(procfs.children(os.getpid())) - before:  # not reaped yet, so these numbers can be nobody else's
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL) if os.getpgid(pid) == pid else os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)


class StepMonitor(SessionMonitor):
    """A monitor for which work counts since the first of all attempts, and which resumes nothing.

    ``again`` says whether what crashed or hangs is begun anew. Then that is no end, and nobody is told of it.
    """

    def __init__(
        self, stage: StepSession, wanted: MonitorOptions, say: Callable[[Verdict], None], since: float,
        again: Callable[[Verdict], bool],
    ) -> None:  # fmt: skip
        super().__init__(stage, wanted, say)
        self.since = since
        self.again = again
        self.checked = False
        """It has come to a verification of our own."""
        self.worked = True  # it has taken its prompt

    def verified(self, view: TargetView, said: Verdict) -> Verdict:
        if view.record is None or not self.wanted.verify:
            return verify.verify_verdict(said, "", "", None)
        self.checked = True
        asked, before = EndSignals(self.alarm.signals.asked), set(procfs.children(os.getpid()))
        try:
            with asked, asked.at_once():
                return verify.verify_verdict(said, self.wanted.verify, view.record.cwd, self.since)
        except KeyboardInterrupt:
            end_children(before)
            self.alarm.signals.asked = asked.asked
            why = "whether the work is there was not found out"
            return said._replace(state="abandoned", cause="monitor-ended", reason=why)

    def left_open(self, verdict: Verdict, why: str) -> Verdict:  # noqa: ARG002  # the step closes it, and says so
        return verdict

    def resume(self, actor: MonitorLease, view: TargetView, said: Verdict) -> Verdict | None:
        if not self.again(said):
            return self.over(view, said)
        actor.note(view, acting="resume")
        return said
