"""Looks at agents in the panes of a tmux server: observe every source, then judge.

One look is one batched question to tmux, the processes below the panes that have an agent, and whatever files and
sockets those agents offer. An agent that was seen and is gone is still looked at as long as its pane is there: a
shell where the agent was is an answer, not an absence.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property

from midwatch.agents import definition, evidence, parts
from midwatch.agents.agent_service import AgentService, ServedPane
from midwatch.agents.definition import Detector
from midwatch.agents.hooks.spool import HookSpool
from midwatch.agents.program_status.observe import ProgramStatus
from midwatch.agents.state_file_reader import StateFiles
from midwatch.agents.transcript_follower import TranscriptFollower
from midwatch.agents.turn_model import SessionMemory, SubAgentReading
from midwatch.config import paths
from midwatch.core.pane_model import Observation, Pane, ProcessInfo, RunningAgent, SourceReport
from midwatch.core.policy import PATIENT, Policy
from midwatch.core.shells import SHELLS
from midwatch.core.value import Value
from midwatch.sessions import limit_tracker, pane_drop_box
from midwatch.sessions.model import PanesObservation, PaneVerdict
from midwatch.sessions.rules import verdict as session_verdict
from midwatch.sessions.source_checks import SourceChecks, SourceMemory
from midwatch.system import exit_status
from midwatch.system.process_tree import ProcessTrees, find_running_agent
from midwatch.tmux.codec import sgr
from midwatch.tmux.control_client import ControlClient
from midwatch.tmux.server import TmuxObserver

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.agents.sqlite_conversations import SqliteConversations

EARLIER = 1.0
"""Seconds by which an event may seem older than the process that wrote it."""


class _AgentMemory(Value):
    """What is remembered of an agent's pane."""

    detector: Detector
    process: tuple[int, int]
    """Pid and start of the agent that was last seen in it."""
    running: RunningAgent | None
    memory: SessionMemory | None
    policy: Policy
    conversation: str = ""
    """The one that it had open when it was last seen alive."""
    held: exit_status.HeldProcess | None = None
    """Its process."""
    end: SourceReport | None = None
    """How that ended, once it is known."""
    sources: SourceMemory = SourceMemory()
    box: str = ""
    """The drop box of the session that it is, if it is one of ours."""


class AgentMemory(Value):
    """What another watcher knew of an agent, and how patient he was with it."""

    process: tuple[int, int]
    memory: SessionMemory
    policy: Policy


class PaneObserver:
    """The agents of one tmux server, looked at again and again."""

    def __init__(
        self, detectors: tuple[Detector, ...], spool: str, server: tuple[str, ...] = (), policy: Policy = PATIENT
    ) -> None:
        self.detectors = detectors
        self.policy = policy
        self.tmux = TmuxObserver(server)
        self.trees = ProcessTrees()
        self.files = StateFiles()
        self.transcripts = TranscriptFollower()
        self.hooks = HookSpool(spool)
        self.status = ProgramStatus(paths.status_spool())
        self.program = next((each for each in detectors if each.any), None)
        self._programs: dict[str, Detector] = {}
        self.checks = SourceChecks()
        self.known: dict[str, _AgentMemory] = {}
        self.remembered: dict[str, AgentMemory] = {}
        """Of panes that have not been looked at yet: what another watcher knew of them."""
        self.tasks: dict[str, tuple[ProcessInfo, ...]] = {}
        self._sightings: dict[str, Observation] = {}
        self._services: dict[str, AgentService | None] = {}

    def observe(self, only: str | None = None, passed: Callable[[Pane], bool] | None = None) -> PanesObservation:
        """Every pane with an agent (or only the one of that id), judged now; those ``passed`` are but listed."""
        self.tasks = {}
        self.status.refresh()
        meant = [] if passed else [*self.known] if only is None else [*self.known, only]
        found = self.tmux.observe(
            lambda pane: (only is None or pane.id == only) and not (passed and passed(pane)) and self._wanted(pane),
            known=meant,
            colours=True,
        )
        if not found.trouble:
            there = {pane.id for pane in found.panes}
            self.known = {pane: known for pane, known in self.known.items() if pane in there}
        now, wall = time.monotonic(), time.time()
        seen = [
            self._judged(pane, found.screens[pane.id], now, wall) for pane in found.panes if pane.id in found.screens
        ]
        return PanesObservation(tuple(seen), found.trouble, found.cause, found.forks, found.panes)

    def had_finished(self, pane: str) -> bool:
        """Whether an agent that is gone now had ended its turn before it went, by what it has written down itself."""
        known, seen = self.known.get(pane), self._sightings.get(pane)
        if known is None or known.running is None or seen is None:
            return False
        reports = self._reports(seen.pane, known, known.running, seen.rows)
        said = evidence.build_facts(known.detector, seen._replace(reports=reports), pane).said
        return any((each.source, each.turn, each.detail) == ("transcript", "idle", "turn-ended") for each in said)

    def sub_agents(self, pane: str) -> tuple[SubAgentReading, ...]:
        """The sub-agents of the agent in a pane, as its last look found its conversation."""
        known = self.known.get(pane)
        return () if known is None or known.running is None else self.transcripts.sub_agents(known.running)

    def attach(self, pane: Pane) -> ControlClient:
        """Look from now on without a fork, as far as that can be: through a client on the session of this pane.

        It must be a pane that Midwatch started. When the client can be read, ask it whether it is time to look.
        """
        return self.tmux.attach(pane)

    def close(self) -> None:
        self.tmux.close()
        for service in self._services.values():
            if service is not None:
                service.close()

    # Senses that only some agents need: loading them takes longer than a look.

    def _service(self, agent: str) -> AgentService | None:
        if agent not in self._services:
            self._services[agent] = parts.service(agent)
        return self._services[agent]

    @cached_property
    def databases(self) -> SqliteConversations:
        from midwatch.agents.sqlite_conversations import SqliteConversations  # noqa: PLC0415

        return SqliteConversations()

    def _wanted(self, pane: Pane) -> bool:
        self.tasks[pane.id] = tasks = self.trees.below(pane.pid, usage=pane.id in self.known)
        found = definition.find_agent(self.detectors, tasks) or self._reporting(pane, tasks)
        if found is None:
            return pane.id in self.known
        which, task = found
        known = self.known.get(pane.id)
        if known is None or known.detector is not which or known.process != (task.pid, task.start):
            # Another agent than last time: what was remembered is of its predecessor.
            agent = find_running_agent(task, which.agent, which.variables)
            who, before = (task.pid, task.start), self.remembered.pop(pane.id, None)
            memory, policy = (before.memory, before.policy) if before and before.process == who else (None, self.policy)
            box = pane_drop_box.find_drop_box(pane.pid, tasks)
            self.known[pane.id] = _AgentMemory(
                which, who, agent, memory, policy, held=exit_status.HeldProcess(*who), box=box
            )
        elif known.running is None or not known.running.args or not known.running.environment:
            # It was met in the middle of its exec, when it has its name and nothing else yet.
            self.known[pane.id] = known._replace(running=find_running_agent(task, which.agent, which.variables))
        return True

    def _reporting(self, pane: Pane, tasks: tuple[ProcessInfo, ...]) -> tuple[Detector, ProcessInfo] | None:
        """A program that nobody knows, if it reports of itself."""
        if self.program is None or not self.status.has_reader(pane):
            return None
        task = next((each for each in tasks if each.foreground and each.letter not in "ZX"), None)
        if task is None or task.name in SHELLS or self.status.read(pane, task.start) is None:
            return None
        which = self._programs.setdefault(task.name, definition.adapt_to_process(self.program, task))
        return which, task

    def _ended(self, pane: Pane, known: _AgentMemory) -> SourceReport | None:
        """How its process ended, by the kernel's word, or by that of tmux of the pane's own process."""
        if known.end is not None or known.held is None:
            return known.end
        found = known.held.status()
        if found is not None:
            code, number = exit_status.split_status(found)
            return SourceReport("process", None, {"exit": str(code)} if number is None else {"signal": str(number)})
        if pane.dead and pane.pid == known.process[0] and (pane.dead_signal or pane.dead_status):
            told = {"signal": pane.dead_signal} if pane.dead_signal else {"exit": pane.dead_status}
            return SourceReport("process", None, told)
        return None

    def _judged(self, pane: Pane, rows: tuple[str, ...], now: float, wall: float) -> PaneVerdict:
        known = self.known[pane.id]
        plain, styles = sgr.split_styles(rows)
        reports = self._reports(pane, known, known.running, plain) if known.running else ()
        end = self._ended(pane, known)
        reports = reports if end is None else (*reports, end)
        tasks = self.tasks[pane.id] + self._elsewhere(known)
        seen = Observation(known.detector.agent, pane, plain, tasks, reports, now, wall, styles)
        self._sightings[pane.id] = seen
        facts = limit_tracker.date_limits(
            evidence.build_facts(known.detector, seen, pane.id, known.running), known.memory
        )
        facts, sources = self.checks.check(known.detector, known.process, seen, facts, known.policy, known.sources)
        verdict, memory = session_verdict.judge(facts, known.memory, known.policy)
        talk = next((talk for report in reports if (talk := report.words.get("conversation", ""))), "")
        talk = known.conversation if verdict.process == "gone" else talk or known.conversation
        self.known[pane.id] = known._replace(memory=memory, conversation=talk, end=end, sources=sources)
        return PaneVerdict(seen, verdict)

    def _elsewhere(self, known: _AgentMemory) -> tuple[ProcessInfo, ...]:
        """Tools that run below a shared daemon, if they can only be this agent's: told as if they were below it."""
        agent = known.running
        if agent is None or sum(each.detector is known.detector for each in self.known.values()) > 1:
            return ()
        service = self._service(agent.agent)
        daemon = service.tools_root(agent) if service is not None else None
        if daemon is None:
            return ()
        tasks = self.trees.below(daemon, usage=True)[1:]
        return tuple(task._replace(parent=agent.pid) if task.parent == daemon else task for task in tasks)

    def _reports(
        self, pane: Pane, known: _AgentMemory, agent: RunningAgent, rows: tuple[str, ...]
    ) -> tuple[SourceReport, ...]:
        """Every source of the agent's own; who knows the conversation's id tells the others."""
        reported = self.status.read(pane, agent.start)
        state = self.files.read(agent)
        talk = state.words.get("conversation", "") if state else ""
        service = self._service(agent.agent)
        served = service.read(ServedPane(agent, known.detector, rows, known.conversation)) if service else None
        talk = talk or (served.words.get("conversation", "") if served else "")
        found = [reported, state, served]
        if served is None or not served.unclear:
            hook = self.hooks.read(agent, pane, talk, known.box)
            talk = talk or (hook.words.get("conversation", "") if hook else "")
            written = self.transcripts.read(agent, talk)
            if written is None and parts.files(agent.agent).in_database:
                written = self.databases.read(agent, talk)
            found += [hook, written]
        return tuple(_drop_if_older(report, agent) for report in found if report is not None)


def _drop_if_older(report: SourceReport, agent: RunningAgent) -> SourceReport:
    """What happened before this process began says nothing of its turn: a resumed conversation's last words."""
    if report.at is None or report.at >= agent.started - EARLIER:
        return report
    return report._replace(words={word: text for word, text in report.words.items() if word not in ("event", "open")})
