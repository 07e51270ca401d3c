"""Starting a job under a name: refuse what is unsafe, put away the last run, launch."""

from __future__ import annotations

import os

from midwatch.config import paths
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Alive, Record
from midwatch.jobs import launch as jobs_launch
from midwatch.jobs import name_claim
from midwatch.jobs.job_directory import JobDirectory
from midwatch.system import processes

FILES = 16
"""File descriptors that starting a job takes."""
LEAVE_LIMIT = 10.0
"""Seconds that the shim of a run that has ended may take to leave."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from midwatch.jobs.admission import Admission

    Launch = Callable[..., jobs_launch.LaunchedShim]


class StartPermit:
    """That a job may start now: its name is ours and no breaker forbids it. Held until it was launched, or not."""

    def __init__(self, lease: int, admission: Admission | None) -> None:
        self.lease = lease
        self.admission = admission

    def close(self, *, launched: bool) -> None:
        """The shim holds the lease from now on, if there is one."""
        os.close(self.lease)
        if self.admission is not None:
            self.admission.close(launched=launched)


def find_descriptor_problem() -> str:
    """Why there are too few file descriptors for a job: its streams, pipes, lease and log; empty where there are."""
    held: list[int] = []
    try:
        while len(held) < FILES:
            held += os.pipe()
    except OSError as error:
        return f"no job can be started: {error.strerror}; allow more, for example with `ulimit -n 1024`"
    finally:
        for fd in held:
            os.close(fd)
    return ""


def acquire_permit(job: jobs_launch.JobSpec, looker: JobDirectory) -> StartPermit:
    """Leave to start a job, or RefusedError. The breaker is asked first, for a claim puts the last run away."""
    paths.prepare_directory(job.directory)
    if why := find_descriptor_problem():
        raise RefusedError(why)
    admission = None
    if job.breaker is not None:
        from midwatch.jobs import admission as jobs_admission  # noqa: PLC0415  # only a job under one pays for it

        admission = jobs_admission.admit_run(looker, job.breaker, job.run, job.name)
    try:
        return StartPermit(claim_name(job.directory, job.name, looker), admission)
    except BaseException:
        if admission is not None:
            admission.close(launched=False)
        raise


def repeat_job(directory: str, record: Record, env: dict[str, str]) -> jobs_launch.JobSpec:
    """A job as it was, to be run once more; what the caller's environment is now, it inherits.

    ``env``: variables that are given again, as their values are not kept.
    """
    if record.adopted is not None:
        raise RefusedError(f"{record.name} was not started by Midwatch, so it cannot be started again by it")
    if record.agent:
        how = f"midwatch resume {record.name}" if record.pane else "midwatch spawn --headless"
        raise RefusedError(f"{record.name} is an agent, and what it was asked is not kept; `{how}` starts it again")
    if not os.path.isdir(record.cwd):
        raise RefusedError(f"there is no directory {record.cwd} any more, in which {record.name} ran")
    if missing := [name for name in record.withheld if name not in env]:
        given = " ".join(f"--env {name}=…" for name in missing)
        raise RefusedError(f"{record.name} was started with --env {', '.join(missing)}, whose value is not kept; give "
                           f"it again: midwatch retry {record.name} {given}")  # fmt: skip
    return jobs_launch.JobSpec(
        directory=directory, name=record.name, run=jobs_launch.new_run_id(), command=list(record.command),
        cwd=record.cwd,
        env=record.env | env, policy=record.policy, foreground=False, retries=record.retries,
        backoff_s=record.backoff_s, breaker=record.breaker, again=record.run, notify=record.notify,
    )  # fmt: skip


def claim_name(directory: str, name: str, looker: JobDirectory) -> int:
    """Make a name free for a new run and take its lease, or say why it cannot be had."""
    lease = hold_name(directory, name, looker)
    try:
        archive_last_run(directory, name)
    except BaseException:
        os.close(lease)
        raise
    return lease


def hold_name(directory: str, name: str, looker: JobDirectory) -> int:
    """The lease of a name under which nothing runs; its last run stays as it is."""
    paths.prepare_directory(directory)
    base = f"{directory}/{name}"
    name_claim.refuse_links(base)
    try:
        lease = name_claim.lock_name(base)
        if lease is None and has_shim_left(looker, name):
            lease = name_claim.lock_name(base)
    except OSError as error:
        raise RefusedError(f"cannot write to {directory}: {error.strerror}") from error
    verdict = looker.verdict(name)
    if lease is None or not (verdict.final or verdict.process == "gone"):
        if lease is not None:
            os.close(lease)
        already = "being started by someone else" if verdict.final else f"{verdict.state} already ({verdict.reason})"
        raise RefusedError(f"{name} is {already}; wait for it, `midwatch stop {name}`, or choose another --name")
    return lease


def archive_last_run(directory: str, name: str, *, goes_on: bool = False) -> None:
    """Archive what the last run of a name left, which goes on with the next or is over."""
    try:
        name_claim.archive_run(directory, name, goes_on=goes_on)
    except OSError as error:
        raise RefusedError(f"cannot put away the last run of {name}: {error.strerror}") from error


def has_shim_left(looker: JobDirectory, name: str) -> bool:
    """Whether the last run has ended and its shim has left by now: it tells readers first, then waits for its disk."""
    record = looker.facts(name).record
    if record is None or record.end is None:
        return False
    gone = not isinstance(processes.find_process(record.shim, looker.place), Alive)
    return gone or processes.await_exit(record.shim.pid, LEAVE_LIMIT)


def open_log(job: jobs_launch.JobSpec) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(f"{job.directory}/{job.name}.log", flags, 0o600)
    except OSError as error:
        raise RefusedError(f"cannot write {job.directory}/{job.name}.log: {error.strerror}") from error


def open_input(text: bytes) -> int:
    """Something to read that stands in no file and on no command line."""
    fd = os.memfd_create("input")
    with open(os.dup(fd), "wb") as file:
        file.write(text)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def start_detached(
    job: jobs_launch.JobSpec, looker: JobDirectory, launch: Launch = jobs_launch.launch_shim, feed: bytes = b""
) -> list[str]:
    """Start a job that outlives us, with something to read. Returns what its shim said first: started, or ended."""
    leave = acquire_permit(job, looker)
    launched = False
    try:
        log = open_log(job)
        source = open_input(feed) if feed else os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        shim = launch(job, leave.lease, (source, log, log), tty=False)
        for fd in (log, source):
            os.close(fd)
        with open(shim.control, encoding="utf-8", errors="replace") as said:
            words = said.readline().rstrip("\n").split("\t")
        launched = words[0] in ("started", "ended")
    finally:
        leave.close(launched=launched)
    if words[0] == "refused":
        raise RefusedError(f"cannot write to {job.directory}: {words[1]}")
    if not launched:
        raise RefusedError(f"the shim of {job.name} did not start; see {job.directory}/spool/shim.err")
    return words
