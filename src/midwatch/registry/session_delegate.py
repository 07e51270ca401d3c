"""Handing a session that runs a task, and waiting for what becomes of it: one prompt, one turn, one verdict."""

from __future__ import annotations

import time
from collections.abc import Callable

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.policy import Policy
from midwatch.core.states import VerdictState
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.journal import journal
from midwatch.notifications import report_change
from midwatch.registry import store as registry_store
from midwatch.registry.sessions import RegisteredSessions, RowStatus
from midwatch.sessions import model as sessions_model
from midwatch.sessions import verify
from midwatch.sessions.model import MonitorOptions
from midwatch.sessions.monitor import SessionMonitor
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import send
from midwatch.sessions.prompting.model import PromptOutcome, PromptResult
from midwatch.sessions.targets import ForeignPane, ManagedSession, TargetView

READY = 60.0
"""Seconds that a session may take to come to its prompt."""
STATES: dict[str, VerdictState] = {
    PromptOutcome.WAITING: "waiting", PromptOutcome.LIMITED: "limited", PromptOutcome.UNPROVEN: "incomplete"
}  # fmt: skip
"""What is said of a task that was not taken; of all others that it is not known."""


class DelegatedTask(Value):
    prompt: str
    verify: str = ""
    timeout_s: float = sessions_model.DEADLINE


class DelegatedTaskMonitor(SessionMonitor):
    """A monitor for which work counts since the task was given."""

    def __init__(
        self,
        subject: ManagedSession | ForeignPane,
        wanted: MonitorOptions,
        say: Callable[[Verdict], None],
        since: float,
    ) -> None:
        super().__init__(subject, wanted, say)
        self.since = since
        self.checked = False
        """It has come to a verification of our own."""
        self.worked = True  # it has taken its prompt

    def verified(self, view: TargetView, said: Verdict) -> Verdict:
        given = self.wanted.verify
        self.checked = bool(given)
        return verify.verify_verdict(said, given, view.record.cwd if view.record else view.cwd, self.since)


def find_subject(listed: RegisteredSessions, standing: RowStatus, policy: Policy) -> ManagedSession | ForeignPane:
    """What is to be watched. RefusedError where there is no agent to be given anything."""
    row, pane = standing.row, standing.agent
    if standing.case.trouble:
        raise RefusedError(f"whether {row.name} runs cannot be told: {standing.case.trouble}")
    if not standing.over and standing.record is not None:
        return ManagedSession(listed.looker, row.name, policy)
    if pane is None:
        raise RefusedError(f"there is no agent in {row.name}; `midwatch session resume {row.name}` brings it back")
    if row.agent and pane.agent != row.agent:
        raise RefusedError(f"{row.name} is {row.agent} in the list, but {pane.agent} runs there")
    panes = PaneObserver(listed.detectors, paths.hook_spool(), pane.server, policy)
    seen = next((each for each in panes.observe(pane.id).seen if each.sighting.pane.pid == pane.pid), None)
    if seen is None:
        panes.close()
        raise RefusedError(f"the agent of {row.name} has just gone; look again")
    return ForeignPane(panes, seen, row.name, listed.looker.directory)


def delegate_task(
    subject: ManagedSession | ForeignPane, task: DelegatedTask, say: Callable[[Verdict], None],
    stopped: Callable[[], bool]
) -> Verdict:  # fmt: skip
    """Give it its task and wait. The verdict is that of a monitor; of a task that was not taken, why."""
    began, since = time.monotonic(), time.time()
    sent = _send_prompt(subject, task.prompt, until=began + min(READY, task.timeout_s), stopped=stopped)
    if not sent.delivered:
        return _refused_verdict(subject, sent)
    given, record = task.verify, None
    if isinstance(subject, ManagedSession):
        subject.session.last = "working"  # who leaves before a look sees more has not done what he was asked to
        record = subject.looker.facts(subject.name).record
        given = given or (record.verify if record and not paths.find_sharing(subject.directory) else "")
    left = max(began + task.timeout_s - time.monotonic(), 0.0)
    monitor = DelegatedTaskMonitor(subject, MonitorOptions(left, verify=given, afresh=True), say, since)
    verdict = monitor.run(lambda _: None)
    if verdict.state == "completed" and given and not monitor.checked and record:  # another monitor has said it
        return verify.verify_verdict(verdict, given, record.cwd, since)
    return verdict


def _send_prompt(
    subject: ManagedSession | ForeignPane, prompt: str, *, until: float, stopped: Callable[[], bool]
) -> PromptResult:
    if isinstance(subject, ManagedSession):
        return subject.session.deliver(prompt, until=until, stopped=stopped)
    return send.send_prompt(subject.panes, subject.pane.id, prompt, until=until, stopped=stopped)


def _refused_verdict(subject: ManagedSession | ForeignPane, sent: PromptResult) -> Verdict:
    verdict = subject.observe().verdict
    subject.close()
    if verdict.final and not sent.submitted:
        return verdict
    why = f"its task was not delivered: {sent.reason}"
    if sent.submitted:
        why = f"whether it has taken its task is not known: {sent.reason}"
    return verdict._replace(state=STATES.get(sent.outcome, "unknown"), cause="never-began", reason=why, final=False)


def record_end(listed: RegisteredSessions, standing: RowStatus, verdict: Verdict, code: int, elapsed_s: float) -> None:
    """The end of a task, for everyone who follows the journal."""
    record, pane = standing.record, standing.pane
    run = record.run if record is not None else f"{pane.pid}-{pane.start}" if pane is not None else "unknown"
    about = {"session": pane.session, "pane": pane.id, "cwd": pane.cwd} if pane is not None else {}
    paths.prepare_directory(listed.looker.directory)
    journal.record_event(
        listed.looker.directory, standing.row.name, run, "delegated", state=verdict.state, exit_code=code,
        reason=verdict.reason, kind="session", agent=standing.row.agent, conversation=standing.conversation or None,
        elapsed_s=round(elapsed_s, 3), **about,
    )  # fmt: skip
    report_change.start_publishing(
        listed.looker.directory, paths.project_root(registry_store.registry_workspace(listed.path))
    )
    report_change.start_publishing(
        listed.looker.directory, paths.project_root(registry_store.registry_workspace(listed.path))
    )
