"""Starting an agent in a pane of its own, and starting it there again with its conversation.

Everything that must be ours before the agent runs is taken first: the name, the conversation, the pane. Whoever comes
too late for one of them starts nothing and leaves everything as it was.
"""

from __future__ import annotations

import contextlib
import os
import sys
import uuid

from midwatch.agents import launch
from midwatch.agents.definition import Detector
from midwatch.agents.launch import LaunchRules
from midwatch.agents.program_status import observe as program_status_observe
from midwatch.config import load, paths
from midwatch.core.errors import FormatError, RefusedError, UsageError
from midwatch.core.job_model import PaneRef, Record
from midwatch.core.policy import SESSION, Policy
from midwatch.core.value import Value
from midwatch.jobs import launch as jobs_launch
from midwatch.jobs import start
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import pending_runs
from midwatch.sessions import conversation_lease
from midwatch.sessions.pane_handover import PaneHandover
from midwatch.system import procfs
from midwatch.tmux.sessions import SIZE, TmuxSessions

STATUS_PROTOCOL = "MIDWATCH_STATUS_PROTOCOL"


class SpawnRequest(Value):
    """A session that somebody wants."""

    name: str
    agent: Detector
    cwd: str
    server: tuple[str, ...] = ()
    model: str = ""
    arguments: tuple[str, ...] = ()
    notify: str = ""
    verify: str = ""
    command: tuple[str, ...] = ()
    """What is run instead of what the agent's file says; its conversation is found out then."""
    policy: Policy = SESSION
    """Another one for what may show nothing of its turn: then its progress is judged as that of any job."""
    env: dict[str, str] = {}  # noqa: RUF012  # of a named tuple, which nobody can change
    size: tuple[int, int] = SIZE
    conversation: str = ""
    """The one to go on with; empty for a new one."""
    status: bool = True
    """Whether what the agent reports of itself (OSC 7501) is heard, and asked for where it waits to be asked."""


def start_conversation(looker: JobDirectory, wish: SpawnRequest) -> jobs_launch.JobSpec:
    """Start an agent with a new conversation, or with one that it is told. Returns the job that it is now."""
    how = find_launch_rules(wish.name, wish.agent, wish.cwd) if wish.conversation else _launch_rules(wish)
    options = launch.start_options(how, wish.model, wish.arguments)
    if wish.conversation:
        conversation, command = wish.conversation, launch.resume_command(how, wish.conversation, options)
    else:
        conversation = str(uuid.uuid4()) if how.named and not wish.command else ""
        command = list(wish.command) or launch.begin_command(how, conversation, options)
    job = jobs_launch.JobSpec(
        directory=looker.directory, name=wish.name, run=jobs_launch.new_run_id(), command=command, cwd=wish.cwd,
        env=wish.env if wish.status else {**wish.env, STATUS_PROTOCOL: "0"},
        policy=wish.policy, foreground=False,
        notify=wish.notify, agent=wish.agent.agent, conversation=conversation, options=options, spare=how.daemons,
        without=how.without, verify=wish.verify,
    )  # fmt: skip
    last = looker.facts(wish.name).record
    asks = wish.agent.asks_after if wish.status and wants_status_reports(wish.cwd) else None
    return _start_in_pane(looker, job, wish.server, last.pane if last else None, wish.size, asks=asks)


def build_headless_job(looker: JobDirectory, wish: SpawnRequest, policy: Policy) -> jobs_launch.JobSpec:
    """The same without a terminal, as a job like any other, to be started with its prompt as input."""
    how = resumable_rules(wish.agent)
    conversation = str(uuid.uuid4()) if how.named else ""
    options = launch.start_options(how, wish.model, wish.arguments)
    return jobs_launch.JobSpec(
        directory=looker.directory, name=wish.name, run=jobs_launch.new_run_id(),
        command=launch.begin_command(how, conversation, options, headless=True), cwd=wish.cwd, env={}, policy=policy,
        foreground=False, notify=wish.notify, agent=wish.agent.agent, conversation=conversation, options=options,
        spare=how.daemons, without=how.without, verify=wish.verify,
    )  # fmt: skip


def resume_in_pane(
    looker: JobDirectory, record: Record, agent: Detector, conversation: str, *, attempt: int
) -> jobs_launch.JobSpec:
    """Start an agent again with the conversation that it had, in its pane if that is still there."""
    how = find_launch_rules(record.name, agent, record.cwd)
    job = jobs_launch.JobSpec(
        directory=looker.directory, name=record.name, run=jobs_launch.new_run_id(),
        command=launch.resume_command(how, conversation, record.options), cwd=record.cwd, env=record.env,
        policy=SESSION,
        foreground=False, again=record.run, notify=record.notify, agent=agent.agent, conversation=conversation,
        options=record.options, spare=how.daemons, without=how.without, attempt=attempt,
        verify=record.verify, since=record.started if record.since is None else record.since,
    )  # fmt: skip
    asks = agent.asks_after if record.env.get(STATUS_PROTOCOL) != "0" and wants_status_reports(record.cwd) else None
    started = _start_in_pane(looker, job, record.pane.server if record.pane else (), record.pane, asks=asks)
    pending_runs.drop_run(looker.directory, record.name, record.run)  # it was no end: the session goes on
    return started


def wants_status_reports(cwd: str) -> bool:
    """Whether agents may be asked for their reports (OSC 7501), by the environment, else by the settings files."""
    given = os.environ.get(STATUS_PROTOCOL)
    if given:
        if given not in ("0", "1"):
            raise UsageError(f"{STATUS_PROTOCOL} is 0 or 1, not {given!r}")
        return given == "1"
    try:
        return load.load(paths.project_root(cwd)).status_protocol
    except FormatError:
        return True  # the night's work goes on while somebody edits the file


def find_launch_rules(name: str, agent: Detector, cwd: str) -> LaunchRules:
    """How it could be resumed, or RefusedError."""
    how = resumable_rules(agent)
    if not how.resume:
        raise RefusedError(
            f"nobody has written down how {agent.title} resumes a conversation (agents/{agent.agent}.toml)"
        )
    if not os.path.isdir(cwd):
        raise RefusedError(f"there is no directory {cwd} any more, in which {name} ran")
    return how


def _launch_rules(wish: SpawnRequest) -> LaunchRules:
    return LaunchRules(wish.command) if wish.agent.any else resumable_rules(wish.agent)


def resumable_rules(agent: Detector) -> LaunchRules:
    if agent.start is None:
        raise RefusedError(f"nobody has written down how {agent.title} is started; add [start] to its file")
    return agent.start


def _start_in_pane(
    looker: JobDirectory, job: jobs_launch.JobSpec, server: tuple[str, ...], before: PaneRef | None,
    size: tuple[int, int] = SIZE, *, asks: str | None,
) -> jobs_launch.JobSpec:  # fmt: skip
    """``asks``: what the agent prints before it asks whether its reports are read; None: they are not heard at all."""
    with contextlib.ExitStack() as undo:
        lease = start.hold_name(job.directory, job.name, looker)
        undo.callback(os.close, lease)
        last = looker.facts(job.name).record
        if job.again and (last is None or last.run != job.again):
            raise RefusedError(f"{job.name} was started again by somebody else meanwhile")
        held = _lease_conversation(job)
        undo.callback(os.close, held)
        doorway = PaneHandover()
        undo.callback(doorway.close)
        hand = TmuxSessions(server)
        seat = _open_pane(hand, job, doorway.command(), before, size)
        job = job._replace(pane=seat)
        closing = undo.enter_context(contextlib.ExitStack())
        closing.callback(hand.close, seat)
        start.archive_last_run(job.directory, job.name, goes_on=bool(job.again))
        os.close(start.open_log(job))
        start_capture(hand, seat, f"{job.directory}/{job.name}.log", asks)
        with open(doorway.hand(job, lease, [held]), encoding="utf-8", errors="replace") as said:
            words = said.readline().rstrip("\n").split("\t")
        if words[0] == "refused":
            raise RefusedError(f"cannot write to {job.directory}: {words[1]}")
        if words[0] not in ("started", "ended"):
            raise RefusedError(f"the shim of {job.name} did not start; see {job.directory}/spool/shim.err")
        closing.pop_all()
    return job


def start_capture(hand: TmuxSessions, seat: PaneRef, log: str, asks: str | None) -> None:
    """Have it written down what the pane shows, and unless ``asks`` is None what the agent in it reports of itself."""
    status = prepare_status_path(seat.server, seat.id) if asks is not None else ""
    hand.capture(seat, capture_command(log, status, asks or ""), answers=bool(asks))


def capture_command(log: str, status: str, asks: str) -> list[str]:
    """What a pane is piped to; the pane's terminal is its last argument. Without a log only reports are read."""
    return [sys.executable, *procfs.CAPTURING, jobs_launch.ROOT, log, status, asks.encode().hex()]


def prepare_status_path(server: tuple[str, ...], pane: str) -> str:
    """Where is noted what the program in a pane reports of itself; the directory is made."""
    directory = paths.status_spool()
    os.makedirs(directory, 0o700, exist_ok=True)
    return program_status_observe.status_file_path(directory, server, pane)


def _open_pane(
    hand: TmuxSessions, job: jobs_launch.JobSpec, command: list[str], before: PaneRef | None, size: tuple[int, int]
) -> PaneRef:
    """The pane: the last one of this session if it is there and nothing runs in it any more, else a new one."""
    if before is not None and hand.is_left(before):
        hand.respawn(before, job.cwd, command)
        return before
    return hand.open(job.name, job.cwd, command, size)


def _lease_conversation(job: jobs_launch.JobSpec) -> int:
    if not job.conversation:
        return conversation_lease.create_lease(job.run)
    lease = conversation_lease.acquire_lease(job.agent, job.conversation, job.spare)
    if lease is None:
        held = ", ".join(map(str, conversation_lease.find_holders(job.agent, job.conversation, job.spare)))
        raise RefusedError(
            f"conversation {job.conversation} is open in another process ({held or 'which has just ended'}); "
            "two would spoil it. End that one first"
        )
    return lease
