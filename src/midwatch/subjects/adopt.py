"""Adopting work that somebody else started: find out what is meant, claim a name, start a supervisor."""

from __future__ import annotations

import os
import signal

from midwatch.config import paths, sentinel_files
from midwatch.core import names
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Adopted, Alive, JobFacts
from midwatch.core.policy import SESSION, Policy
from midwatch.core.value import Value
from midwatch.jobs import foreign_process, launch
from midwatch.jobs.foreign_process import ForeignProcess
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules import verdict as job_verdict
from midwatch.jobs.start import claim_name
from midwatch.notifications import report_change
from midwatch.tmux.sessions import TmuxSessions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from midwatch.sessions.find_agent import FoundAgent


class AdoptedJob(Value):
    """Work that has a supervisor now."""

    name: str
    notes: tuple[str, ...]
    """What cannot be seen of it."""


def adopt_process(looker: JobDirectory, pid: int, name: str | None, *, may_stop: bool) -> AdoptedJob:
    """Adopt a process. RefusedError when it is no work, has ended, or its name is taken."""
    found = foreign_process.hold_process(pid)
    try:
        if name is None:  # the same for the same process: whoever adopts it twice is told
            name = f"{names.derive_name(found.command[0], '')}{pid}"
        return _start_supervisor(looker, found, name, Adopted("", "", may_stop, found.log))
    finally:
        os.close(found.pidfd)


def adopt_session(looker: JobDirectory, there: FoundAgent, name: str | None, *, may_stop: bool) -> AdoptedJob:
    """Adopt an agent with the pane that it runs in. It stays where it is; its conversation is known if it tells."""
    pane, known = there.pane, there.panes.known[there.id]
    found = foreign_process.hold_process(known.process[0])
    try:
        if found.start != known.process[1]:
            raise RefusedError(f"the agent in {pane.id} has just ended")
        talks = [talk for report in there.seen.sighting.reports if (talk := report.words.get("conversation", ""))]
        start = known.detector.start
        seat = TmuxSessions(pane.server).seat(pane.id)
        return _start_supervisor(
            looker, found._replace(blind={}), name or pane.session, Adopted("", "", may_stop, ""),
            agent=known.detector.agent, pane=seat, conversation=talks[0] if talks else "", policy=SESSION,
            spare=start.daemons if start else (),
        )  # fmt: skip
    finally:
        os.close(found.pidfd)


def find_unfinished_steps(directory: str, policy: Policy) -> list[str]:
    """Steps of a foreign directory whose process is there and that have not ended."""
    there = JobDirectory(directory, policy)
    try:
        steps = sentinel_files.list_jobs(directory)
    except OSError as error:
        raise RefusedError(f"cannot read {directory}: {error.strerror}") from error
    looks = ((step, there.facts(step)) for step in steps)
    return [step for step, facts in looks if facts.record is None and not _find_problem(facts)]


def adopt_step(looker: JobDirectory, directory: str, named: str, name: str | None, *, may_stop: bool) -> AdoptedJob:
    """Adopt what a foreign directory says under a name. RefusedError when there is nothing at work."""
    there = JobDirectory(directory, looker.policy)
    found = foreign_process.hold_process(_find_process(there, named))
    try:
        _find_process(there, named, found.pid)  # it is the same, now that we hold on to it
        seen = found._replace(blind={source: why for source, why in found.blind.items() if source != "output"})
        adopted = Adopted(directory, named, may_stop, f"{directory}/{named}.log")
        return _start_supervisor(looker, seen, name or named.replace(" ", "-"), adopted)
    finally:
        os.close(found.pidfd)


def _find_process(there: JobDirectory, named: str, expected: int = 0) -> int:
    facts = there.facts(named)
    if facts.record is not None:
        raise RefusedError(
            f"{named} in {there.directory} is a job of Midwatch; say `midwatch wait {named} --dir {there.directory}`"
        )
    if why := _find_problem(facts):
        raise RefusedError(f"{named} in {there.directory} cannot be adopted: {why}")
    assert isinstance(facts.shim, Alive)
    if expected not in (0, facts.shim.pid):
        raise RefusedError(f"{named} in {there.directory} was started again just now; try once more")
    return facts.shim.pid


def _find_problem(facts: JobFacts) -> str:
    verdict = job_verdict.judge(facts)
    if verdict.final:
        return f"{verdict.state}: {verdict.reason}"
    return "" if isinstance(facts.shim, Alive) else verdict.reason


def _start_supervisor(
    looker: JobDirectory, found: ForeignProcess, name: str, adopted: Adopted, **more: Any
) -> AdoptedJob:
    if adopted.stop:
        _may_signal(found, adopted.dir)
    policy, notes = (more.pop("policy"), ()) if "policy" in more else _visible_policy(found, looker.policy)
    job = launch.JobSpec(
        directory=looker.directory, name=names.check_name(name), run=launch.new_run_id(), command=found.command,
        cwd=found.cwd,
        env={}, policy=policy, foreground=False, adopted=adopted, work=(found.pid, found.start), notes=notes,
        notify=report_change.find_configured_project(paths.project_root(os.getcwd())), **more,
    )  # fmt: skip
    lease = claim_name(job.directory, job.name, looker)
    try:
        keeper = launch.launch_shim(job, lease, (found.pidfd,) * 3, tty=False, command=launch.supervisor_command())
    finally:
        os.close(lease)
    with open(keeper.control, encoding="utf-8", errors="replace") as said:
        words = said.readline().rstrip("\n").split("\t")
    if words[0] == "refused":
        raise RefusedError(f"cannot write to {job.directory}: {words[1]}")
    if words[0] != "started":
        raise RefusedError(f"the keeper of {name} did not start; see {job.directory}/spool/shim.err")
    return AdoptedJob(job.name, notes)


def _may_signal(found: ForeignProcess, directory: str) -> None:
    if directory and (others := paths.find_sharing(directory)):
        raise RefusedError(f"{others}: nothing named there is signalled; adopt it without --stop")
    try:
        signal.pidfd_send_signal(found.pidfd, 0)
    except PermissionError:
        raise RefusedError(f"process {found.pid} may not be signalled by this user; adopt it without --stop") from None
    except ProcessLookupError:
        raise RefusedError(f"process {found.pid} has just ended") from None


def _visible_policy(found: ForeignProcess, policy: Policy) -> tuple[Policy, tuple[str, ...]]:
    """The policy with only what can be seen to move, and what cannot."""
    blind = {source: why for source, why in found.blind.items() if source in policy.progress}
    progress = tuple(source for source in policy.progress if source not in blind)
    if not progress:
        source, why = next(iter(blind.items()))
        raise RefusedError(
            f"nothing would count as progress: {source} cannot be seen ({why}); choose another --progress"
        )
    notes = tuple(f"its {source} cannot be seen, so it does not count: {why}" for source, why in blind.items())
    return policy._replace(progress=progress), notes
