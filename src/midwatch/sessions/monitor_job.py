"""A monitor as a job of its own, ``<session>.monitor``: it outlives the terminal, and every verb for jobs works on it.

The job runs `midwatch monitor NAME --until final …` with this very interpreter. What it is to do is written down before
it begins (`jobs.monitor_plan`), so that it can be started again after a reboot.
"""

from __future__ import annotations

import os
import sys

from midwatch.core import names
from midwatch.core.errors import RefusedError
from midwatch.core.names import is_pane
from midwatch.core.policy import PATIENT
from midwatch.jobs import launch, monitor_store, start
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.monitor_plan import CONTINUES, MonitorPlan
from midwatch.sessions.model import FINAL
from midwatch.system import processes
from midwatch.system.child_environment import SECRETS
from midwatch.tmux import sessions as tmux_sessions

SUFFIX = ".monitor"
DEFAULTS = {"--until": FINAL, "--on-limit": "wait", "--resume": "3"}
"""What such a monitor does for a session of ours, unless told otherwise."""
ENDS_SOON = 5.0
"""Seconds that the monitor of a session which is over may take to end."""


def job_name(target: str, server: str = "") -> str:
    """The name of the job that watches a target, on a named tmux server. UsageError where it is too long for a name."""
    plain = (f"pane-{target[1:]}" if is_pane(target) else target) + (f"@{server}" if server else "")
    return names.check_name("".join(each if each in names.PLAIN else "_" for each in plain) + SUFFIX)


def start_monitor(
    looker: JobDirectory, target: str, arguments: list[str], *, watched: str, server: str = "",
    launch_shim: start.Launch = launch.launch_shim,
) -> str:  # fmt: skip
    """Start the job that watches a target; its name. RefusedError where something watches it already.

    ``watched``: the session of ours that it is; empty for an agent that others started, which is on a ``server``.
    """
    job = job_name(target, "" if watched else server)
    refuse_second_monitor(looker, job, watched)
    if watched:
        missing = {flag: value for flag, value in DEFAULTS.items() if flag not in arguments}
        arguments = [*arguments, *(word for pair in missing.items() for word in pair)]
        _write_plan(looker, watched, job, arguments)
    elif "--until" not in arguments:
        arguments = [*arguments, "--until", FINAL]
    start.start_detached(_build_job(looker, job, target, arguments), looker, launch_shim)
    return job


def restart_monitor(looker: JobDirectory, session: str, plan: MonitorPlan) -> None:
    """Start the job of a watch that was torn off, as it was; what it has used up of its plan stays so."""
    refuse_second_monitor(looker, plan.job, session)
    record = looker.facts(session).record
    if record is None:
        raise RefusedError(f"there is no session {session} in {looker.directory}")
    monitor_store.write_plan(f"{looker.directory}/{session}", plan._replace(run=record.run, ended=""))
    cwd = plan.cwd if os.path.isdir(plan.cwd) else record.cwd
    start.start_detached(_build_job(looker, plan.job, session, list(plan.arguments), cwd), looker)


def refuse_second_monitor(looker: JobDirectory, job: str, watched: str) -> None:
    """RefusedError where a monitor of the session lives."""
    verdict = looker.verdict(job)
    if not verdict.final and verdict.process != "gone":
        raise RefusedError(
            f"{watched or job.removesuffix(SUFFIX)} is watched already, by the job {job} ({verdict.state}); "
            f"`midwatch stop {job}` ends that watch"
        )
    if watched and monitor_store.has_monitor(f"{looker.directory}/{watched}"):
        watch = monitor_store.read_state(f"{looker.directory}/{watched}")
        who = f" (pid {watch.monitor[0]})" if watch is not None else ""
        raise RefusedError(f"{watched} is watched already, by another `midwatch monitor`{who}; end that one first")


def await_last_monitor(looker: JobDirectory, session: str) -> None:
    """Let the monitor of a session that is over come to its end, before the session begins anew."""
    record = looker.facts(job_name(session)).record
    if record is not None and record.end is None:
        processes.await_exit(record.shim.pid, ENDS_SOON)


def _write_plan(looker: JobDirectory, session: str, job: str, arguments: list[str]) -> None:
    record = looker.facts(session).record
    if record is None:
        raise RefusedError(f"there is no session {session} in {looker.directory}")
    base = f"{looker.directory}/{session}"
    monitor_store.allow_limit(base)
    monitor_store.write_plan(base, MonitorPlan(
        record.run, until=FINAL, continues=int(_value(arguments, "--continues") or CONTINUES),
        on_limit=_value(arguments, "--on-limit"), job=job, arguments=tuple(arguments), cwd=os.getcwd(),
    ))  # fmt: skip


def _value(arguments: list[str], flag: str) -> str:
    return arguments[arguments.index(flag) + 1] if flag in arguments else ""


def _build_job(looker: JobDirectory, job: str, target: str, arguments: list[str], cwd: str = "") -> launch.JobSpec:
    """The job. Its secrets are ours, as it starts those who deliver notices; a tmux server that it may start stays."""
    command = [sys.executable, "-P", "-m", "midwatch", "monitor", target, *arguments, "--exit-zero", "--json"]
    if "--dir" not in arguments:
        command += ["--dir", looker.directory]
    return launch.JobSpec(
        directory=looker.directory, name=job, run=launch.new_run_id(), command=command, cwd=cwd or os.getcwd(),
        env={name: os.environ[name] for name in sorted(SECRETS) if name in os.environ}, policy=PATIENT,
        foreground=False, spare=(tmux_sessions.SERVER,),
    )  # fmt: skip
