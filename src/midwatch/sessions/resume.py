"""Bringing a session back: end what is left of it, make sure that nobody else has its conversation, start it there.

Only ever the conversation that was recorded, or the one that its own files name beyond doubt; never "the latest".
"""

from __future__ import annotations

import os

from midwatch.agents.conversation_holders import find_holders
from midwatch.agents.definition import Detector
from midwatch.agents.sqlite_conversations import SqliteConversations
from midwatch.agents.transcript_follower import TranscriptFollower
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Record
from midwatch.core.pane_model import RunningAgent
from midwatch.core.verdict import Verdict
from midwatch.jobs import launch, monitor_store
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.stop import end_job
from midwatch.sessions import conversation_lease
from midwatch.sessions import spawn as sessions_spawn
from midwatch.system import processes
from midwatch.system import terminate_tree as hand

GO_ON = "Continue where you left off."
STOPPED = "somebody stopped it meanwhile"


class SessionStoppedError(RefusedError):
    """A person does not want it back."""

    def __init__(self) -> None:
        super().__init__(STOPPED)


def resume_session(
    looker: JobDirectory, record: Record, agent: Detector, *, since: float | None, attempt: int = 1,
    stuck: Verdict | None = None,
) -> launch.JobSpec:  # fmt: skip
    """Start the agent again with its conversation. RefusedError says why not.

    ``since``: the moment (wall clock) from which on a person's `stop` forbids it; None when a person asks.
    ``stuck``: what is said of it, where it is ended because it hangs: then that is how it ended.
    """
    base = f"{looker.directory}/{record.name}"
    _refuse_if_stopped(base, since)
    conversation = find_conversation(base, record, agent)
    sessions_spawn.find_launch_rules(record.name, agent, record.cwd)  # nothing is ended that could not be brought back
    if stuck is not None:
        monitor_store.record_ending(base, record.run, stuck)
    end_job(looker, record.name, run=record.run)
    left = hand.end_tree(lambda: processes.start_times(processes.find_run_processes(record.run)), spare=record.spare)
    if left:
        raise RefusedError(f"what is left of it cannot be ended: {', '.join(map(str, left))}")
    _refuse_if_open(agent, conversation)
    _refuse_if_stopped(base, since)
    job = sessions_spawn.resume_in_pane(looker, record, agent, conversation, attempt=attempt)
    if since is not None and monitor_store.is_stop_requested(base, since):
        end_job(looker, record.name)
        raise SessionStoppedError
    return job


def adopt_conversation(looker: JobDirectory, wish: sessions_spawn.SpawnRequest) -> launch.JobSpec:
    """Go on with a conversation of which nothing but its id is known: whoever had it, it was none of our sessions."""
    _refuse_if_open(wish.agent, wish.conversation)
    return sessions_spawn.start_conversation(looker, wish)


def _refuse_if_open(agent: Detector, conversation: str) -> None:
    if others := find_holders(agent, conversation):
        raise RefusedError(f"its conversation is open in another process ({', '.join(map(str, others))})")


def _refuse_if_stopped(base: str, since: float | None) -> None:
    if since is not None and monitor_store.is_stop_requested(base, since):
        raise SessionStoppedError


def find_conversation(base: str, record: Record, agent: Detector) -> str:
    """Its id: as learned last, as recorded, or as its files tell that were written since it was started."""
    found = (
        conversation_lease.read_conversation(base, record.run) or record.conversation or _find_written(record, agent)
    )
    if not found:
        raise RefusedError("nobody knows the id of its conversation: none was begun, or several could be it")
    return found


def _find_written(record: Record, agent: Detector) -> str:
    wanted = {name: os.environ[name] for name in ("HOME", *agent.variables) if name in os.environ}
    was = RunningAgent(
        agent.agent, record.work.pid, record.work.start, record.started, record.cwd, record.command,
        wanted | {name: value for name, value in record.env.items() if name in agent.variables},
    )  # fmt: skip
    report = TranscriptFollower().read(was) or SqliteConversations().read(was)
    return report.words.get("conversation", "") if report else ""
