"""Watches that something has torn off: after a reboot, or a tmux server that was killed with all that was in it.

A session that a job watched is brought back by its own conversation, through the lease, and told to go on if it had
something to do. Then the job is started again with what it was given the first time.
"""

from __future__ import annotations

import time

from midwatch.agents import catalog, launch
from midwatch.agents.definition import Detector
from midwatch.config import paths, sentinel_files
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Record
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs import monitor_store
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.monitor_plan import MonitorPlan
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.sessions import monitor_job, resume, spawn
from midwatch.sessions.agent_session import AgentSession
from midwatch.sessions.rules import lost_watch
from midwatch.shim import terminate

LIVES = ("alive", "suspended", "unsupervised")
READY = 60.0
"""Seconds that an agent may take to come to its prompt."""


class LostWatch(Value):
    """A session that a job is to watch, and does not."""

    name: str
    record: Record
    plan: MonitorPlan
    lives: bool
    """The session is there; only its monitor is gone."""
    turn: str
    """What its agent was at when somebody last saw it."""
    why: str
    """What became of it."""


def find_lost_watches(looker: JobDirectory) -> list[LostWatch]:
    """All of a directory; nothing is done. None of a directory that others may write to."""
    if paths.find_sharing(looker.directory):
        return []
    try:
        names = sentinel_files.list_jobs(looker.directory)
    except OSError:
        return []
    return [found for name in names if (found := find_lost_watch(looker, name)) is not None]


def resume_command(lost: LostWatch, directory: str) -> list[str]:
    """What would be run. RefusedError says why it cannot be."""
    agent = _find_agent(lost.record)
    conversation = resume.find_conversation(f"{directory}/{lost.name}", lost.record, agent)
    how = spawn.find_launch_rules(lost.name, agent, lost.record.cwd)
    return launch.resume_command(how, conversation, lost.record.options)


def restore_watch(looker: JobDirectory, lost: LostWatch) -> Verdict:
    """Bring the session back where it is gone, have it go on, and watch it. RefusedError says why it is not back."""
    record = looker.facts(lost.name).record
    if record is None:
        raise RefusedError(f"the record of {lost.name} is gone")
    if record.run == lost.record.run and not lost.lives:
        resume.resume_session(looker, record, _find_agent(record), since=record.started, attempt=record.attempt + 1)
    session = AgentSession(looker, lost.name, looker.policy)
    try:
        if not lost.lives and lost_watch.has_more_to_do(lost.turn):
            session.deliver(resume.GO_ON, until=time.monotonic() + READY)
        verdict = session.observe().verdict
    finally:
        session.close()
    if verdict.final:
        raise RefusedError(f"it was started, and ended at once: {verdict.reason}")
    monitor_job.restart_monitor(looker, lost.name, lost.plan)
    return verdict


def find_watched_session(looker: JobDirectory, job: str) -> str:
    """The session that a job watches, or is to watch again once both are back; empty where there is none."""
    session = job.removesuffix(monitor_job.SUFFIX)
    plan = monitor_store.read_plan(f"{looker.directory}/{session}") if session != job else None
    is_there = sentinel_files.is_job(f"{looker.directory}/{session}")
    return session if is_there and plan is not None and plan.job == job and lost_watch.is_watch_open(plan) else ""


def find_lost_watch(looker: JobDirectory, name: str) -> LostWatch | None:
    """A session whose watch something has torn off; None for all others."""
    base = f"{looker.directory}/{name}"
    plan = monitor_store.read_plan(base)
    if plan is None or not lost_watch.is_watch_open(plan):
        return None
    facts = looker.facts(name)
    record = facts.record
    if record is None or record.pane is None or monitor_store.is_stop_requested(base, record.started):
        return None
    if _is_watched(looker, plan.job, base):
        return None
    verdict, watch = job_verdict.judge(facts), monitor_store.read_state(base, record.run)
    if verdict.final and not lost_watch.is_lost(verdict, record, plan):
        return None
    if not verdict.final and (plan.ended or verdict.process not in LIVES):
        return None  # what runs on another machine is watched there
    turn = watch.memory.turn if watch is not None and watch.memory is not None else ""
    return LostWatch(name, record, plan, not verdict.final, turn, verdict.reason)


def _is_watched(looker: JobDirectory, job: str, base: str) -> bool:
    """Whether a monitor lives, or a person has ended the one that did."""
    facts = looker.facts(job)
    verdict = job_verdict.judge(facts)
    if (not verdict.final and verdict.process != "gone") or monitor_store.has_monitor(base):
        return True
    return facts.record is not None and terminate.read_stop(f"{looker.directory}/{job}", facts.record.run) is not None


def _find_agent(record: Record) -> Detector:
    found = next((each for each in catalog.load_all() if each.agent == record.agent), None)
    if found is None:
        raise RefusedError(f"there is no file for the agent {record.agent} any more")
    return found
