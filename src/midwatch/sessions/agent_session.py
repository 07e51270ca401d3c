"""A session of ours: prompts for it, and the verdict by its files and processes, as for any job, and by its pane.

Whoever looks learns the conversation's id as soon as there is one, and writes it down with the lease's second name.
"""

from __future__ import annotations

import contextlib

from midwatch.agents import catalog
from midwatch.agents.definition import Detector
from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import JobFacts, Record
from midwatch.core.policy import Policy
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.jobs.wait_state import JobWatchState
from midwatch.sessions import conversation_lease
from midwatch.sessions.model import PanesObservation as PanesLooked
from midwatch.sessions.model import PaneVerdict
from midwatch.sessions.pane_observer import AgentMemory, PaneObserver
from midwatch.sessions.prompting.model import PromptOutcome, PromptResult
from midwatch.sessions.rules import managed_verdict
from midwatch.sessions.rules.managed_verdict import PaneState
from midwatch.system.process_tree import ProcessTrees
from midwatch.tmux import client as tmux_client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


Servers = dict[tuple[str, ...], PaneObserver]
"""Watchers of servers, by the arguments that reach them."""


class SessionObservation(Value):
    facts: JobFacts
    verdict: Verdict
    seen: PaneVerdict | None


class AgentSession:
    """One session of ours, looked at again and again, or once."""

    def __init__(
        self, looker: JobDirectory, name: str, policy: Policy, servers: Servers | None = None, *, watching: bool = False
    ) -> None:
        """``servers``: watchers of servers that others use, too.

        A monitor is ``watching`` and judges by its own patience; who only looks, by that of the last monitor.
        """
        self.looker = looker
        self.name = name
        self.base = f"{looker.directory}/{name}"
        self.policy = policy
        self.memory = JobWatchState()
        self.run = ""
        self.conversation = ""
        self.last = ""
        """The turn that was last seen."""
        self.closed: Verdict | None = None
        """What a monitor said of it before it closed it."""
        self.batch: PanesLooked | None = None
        """A look at all panes of its server, where somebody else has had it."""
        self._servers: Servers = {} if servers is None else servers
        self._shared = servers is not None
        self._watching = watching

    def observe(self) -> SessionObservation:
        facts = self.facts()
        verdict, record, seen = job_verdict.judge(facts), facts.record, None
        unseen = facts.now if self.memory.unseen_since is None else self.memory.unseen_since
        self.memory = self.memory._replace(unseen_since=unseen if verdict.state == "unknown" else None)
        if record is None or record.pane is None:
            return SessionObservation(facts, verdict, None)
        glance = PaneState()
        if others := paths.find_sharing(self.looker.directory):
            glance = PaneState(None, f"{others}; the tmux server that it names is not asked")
        elif not verdict.final and verdict.process in ("alive", "unsupervised"):
            glance, seen = self._glance(record)
        over = verdict.state == "completed" or verdict.cause == "exit-unseen"
        if over and self.last == "working" and self.panes(record).had_finished(record.pane.id):
            self.last = "idle"  # it left before anybody could see that its turn had ended
        if verdict.final:
            self.hear_of_closing(record)
        verdict = managed_verdict.judge(verdict, glance, self.last, facts.now, self.closed)
        if seen is not None and verdict.turn:
            if (verdict.turn, verdict.detail) != ("waiting", "menu"):  # which opens for whoever types its goodbye
                self.last = verdict.turn
            self._learn(record, seen)
        return SessionObservation(facts, verdict, seen)

    def observe_reported(self) -> SessionObservation:
        """What is true of it, with what its last monitor said of its work; who watches asks after the work himself."""
        looked = self.observe()
        watch = monitor_store.read_state(self.base, self.run) if looked.verdict.final and self.run else None
        verdict = managed_verdict.apply_verification(looked.verdict, watch.verdict if watch else None)
        if verdict.state == "limited":
            from midwatch.sessions import limit_plan  # noqa: PLC0415  # few are

            verdict = limit_plan.add_limit_plan(self.base, verdict)
        return looked._replace(verdict=verdict)

    def facts(self) -> JobFacts:
        """Its files and processes; what an earlier watcher remembers of it is taken in before its pane is looked at."""
        facts = self.looker.facts(self.name, self.memory)
        if facts.record is not None and facts.record.pane is not None and facts.record.run != self.run:
            self.meet(facts.record)
        return facts

    def deliver(
        self, text: str, *, until: float, stopped: Callable[[], bool] = lambda: False, past_limit: bool = False
    ) -> PromptResult:
        """Give the agent a prompt as soon as it takes one."""
        from midwatch.sessions.prompting import send  # noqa: PLC0415  # who only looks types nothing

        record = self.observe().facts.record
        if record is None or record.pane is None:
            return PromptResult(PromptOutcome.EXITED, "it has ended")
        sent = send.send_prompt(
            self.panes(record), record.pane.id, text, until=until, past_limit=past_limit,
            stopped=lambda: stopped() or self._has_ended(),
        )  # fmt: skip
        self.observe()
        return (
            PromptResult(PromptOutcome.EXITED, "it has ended")
            if sent.outcome == PromptOutcome.INTERRUPTED and not stopped()
            else sent
        )

    def _has_ended(self) -> bool:
        record = self.looker.facts(self.name).record
        return record is not None and record.end is not None

    def panes(self, record: Record) -> PaneObserver:
        """The watcher of the server that the session is on."""
        assert record.pane is not None
        return find_observer(self._servers, record.pane.server, self.policy)

    def detector(self, record: Record) -> Detector:
        found = next((each for each in catalog.load_all() if each.agent == record.agent), None)
        if found is None:
            raise RefusedError(f"there is no file for the agent {record.agent} any more")
        return found

    def close(self) -> None:
        for panes in () if self._shared else set(self._servers.values()):
            panes.close()

    def meet(self, record: Record) -> None:
        """Another run than last time: what was remembered is of its predecessor."""
        self.run, self.last, self.closed = record.run, "", None
        self.memory = JobWatchState()
        self.conversation = conversation_lease.read_conversation(self.base, record.run) or record.conversation
        watch = monitor_store.read_state(self.base, record.run)
        if watch is None or watch.memory is None or watch.boot != record.shim.boot:
            return
        self.last = watch.memory.turn
        if record.end is None:
            assert record.pane is not None
            stale, grace = watch.patience
            policy = (
                self.policy if self._watching else self.policy._replace(stale_s=stale, grace_s=grace, clock=watch.clock)
            )
            self.panes(record).remembered[record.pane.id] = AgentMemory(watch.agent, watch.memory, policy)

    def hear_of_closing(self, record: Record) -> None:
        """A monitor says what it came to before it closes a session: what is finished stays so."""
        watch = monitor_store.read_state(self.base, record.run)
        if watch is not None and watch.acting == "cleanup":
            self.closed = watch.verdict

    def _glance(self, record: Record) -> tuple[PaneState, PaneVerdict | None]:
        assert record.pane is not None
        looked = self.batch or self.panes(record).observe(record.pane.id)
        seen = next((each for each in looked.seen if is_own_pane(record, each)), None)
        shell = _shell(record) if seen is None or seen.verdict.turn == "exited" else ""
        return PaneState(seen.verdict if seen else None, looked.trouble, shell), seen

    def _learn(self, record: Record, seen: PaneVerdict) -> None:
        """Whoever begins anew in the same process (`/clear`) has another conversation, and its lease goes with it."""
        found = next((talk for report in seen.sighting.reports if (talk := report.words.get("conversation", ""))), "")
        if not found or found == self.conversation:
            return
        own = f"{record.agent}-{self.conversation}" if self.conversation else record.run
        self.conversation = found
        with contextlib.suppress(OSError):  # it is looked for again by whoever comes next
            if conversation_lease.rename_lease(own, record.agent, found, record.spare):
                conversation_lease.write_conversation(self.base, record.run, found)


def find_observer(servers: Servers, place: tuple[str, ...], policy: Policy) -> PaneObserver:
    """What observes a server, made if it is not there: the same for all arguments that reach that server."""
    if place not in servers:
        socket = tmux_client.socket_path(place)
        same = (each for other, each in servers.items() if tmux_client.socket_path(other) == socket)
        servers[place] = next(same, None) or PaneObserver(catalog.load_all(), paths.hook_spool(), place, policy)
    return servers[place]


def _shell(record: Record) -> str:
    """The shell that a session was made with, where it runs nothing."""
    tasks = ProcessTrees().below(record.work.pid)
    return managed_verdict.find_idle_shell(tasks) if tasks and tasks[0].start == record.work.start else ""


def is_own_pane(record: Record, seen: PaneVerdict) -> bool:
    """Whether the session's own processes are in the pane: after a restart of tmux its number may be another's."""
    own = {(each.pid, each.start) for each in (record.shim, record.work)}
    return any((task.pid, task.start) in own for task in seen.sighting.tasks)


def judge_ended(looker: JobDirectory, facts: JobFacts) -> Verdict:
    """How a run of a session has ended, by its files and by what its last monitor wrote down."""
    record = facts.record
    assert record is not None
    session = AgentSession(looker, facts.name, looker.policy)
    session.meet(record)
    session.hear_of_closing(record)
    return managed_verdict.judge(job_verdict.judge(facts), PaneState(), session.last, facts.now, session.closed)
