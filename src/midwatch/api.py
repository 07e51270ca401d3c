"""Midwatch for programs: start work, wait for it, ask about it, and report from inside it.

Each function does what the command of its name does, by the same rules and settings. Keyword arguments stand for flags;
the rest comes from the environment and the settings files. It returns the verdict that the command prints. Nothing here
prints, takes signals or changes the calling process, and all of it may be called from any thread.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Iterable, Mapping, Sequence

from midwatch import api_arguments
from midwatch.cli import context, output
from midwatch.cli.commands import run as runs
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import FormatError, MidwatchError, RefusedError, UsageError
from midwatch.core.foreign_text import ForeignText
from midwatch.core.verdict import Verdict
from midwatch.jobs import launch, launch_from_api, start_sender
from midwatch.jobs import start as starts
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.wait_model import UNTIL, WaitOptions
from midwatch.notifications import send_pending
from midwatch.shim import beat_file
from midwatch.subjects.model import Subject, SubjectChange, SubjectScope, SubjectSnapshot
from midwatch.subjects.snapshot import SubjectService, live_verdict
from midwatch.subjects.wait import SubjectWait

__all__ = [
    "ForeignText",
    "FormatError",
    "MidwatchError",
    "RefusedError",
    "Subject",
    "SubjectChange",
    "SubjectSnapshot",
    "UsageError",
    "Verdict",
    "as_json",
    "beat",
    "changes",
    "run",
    "snapshot",
    "status",
    "wait",
    "wait_all",
    "wait_any",
]  # fmt: skip

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.api_arguments import Job, Path
    from midwatch.subjects.change_feed import ChangeFeed

    Duration = float | str

start_sender.in_guest = True


def run(  # noqa: PLR0913  # one for each flag of `midwatch run`
    command: Sequence[str],
    *,
    name: str | None = None,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    policy: str | None = None,
    timeout: Duration | None = None,
    stale: Duration | None = None,
    grace: Duration | None = None,
    on_stuck: str | None = None,
    heartbeat: Duration | None = None,
    progress: Iterable[str] | None = None,
    retries: int | None = None,
    backoff: Duration | None = None,
    breaker: str | None = None,
    preflight: bool = False,
) -> Verdict:
    """Start a job that outlives us, as `midwatch run -d` does; its name is in the verdict.

    A command that cannot be started is no exception: its verdict is `failed`, and final.
    """
    options = api_arguments.build_options(
        "run", dir=dir, policy=policy, timeout=timeout, stale=stale, grace=grace, on_stuck=on_stuck,
        heartbeat=heartbeat, progress=progress if progress is None else ",".join(progress), retries=retries,
        backoff=backoff, breaker=breaker, preflight=preflight,
    )  # fmt: skip
    if isinstance(command, str) or not command:
        raise UsageError(f"a command is a list of words such as ['make', 'all'], not {command!r}")
    words = [api_arguments.check_text(word) for word in command]
    looker = JobDirectory(paths.sentinel_directory(options.text("--dir")), context.read_policy(options))
    run_id = launch.new_run_id()
    job = launch.JobSpec(
        directory=looker.directory,
        name=names.check_name(name or names.derive_name(words[0], run_id)),
        run=run_id,
        command=words,
        cwd=api_arguments.check_directory(cwd),
        env=api_arguments.check_variables(env or {}),
        policy=looker.policy,
        foreground=False,
        **runs.safeguard_options(options),
    )
    send_pending.start_sender_at_intervals(looker.directory)
    low = launch_from_api.reserve_standard_streams()
    try:
        starts.start_detached(job, looker, launch_from_api.launch_shim)
    finally:
        for fd in low:
            os.close(fd)
    return looker.verdict(job.name)


def status(name: Job, *, dir: Path | None = None) -> Verdict:  # noqa: A002
    """The live state of a job or a session at this moment. What is not there has the verdict `not_found`.

    A session is judged by a look at its pane; nothing is verified.
    """
    job, looker = (
        names.check_name(api_arguments.job_name(name), blanks=dir is not None),
        api_arguments.open_directory("why", dir),
    )
    send_pending.start_sender_at_intervals(looker.directory)
    return live_verdict(looker, job, api_arguments.give_warning)


def snapshot(*, dir: Path | None = None, panes: bool = True, children: bool = True) -> SubjectSnapshot:  # noqa: A002
    """Every subject now: jobs and sessions, and with ``panes`` agents in tmux panes and registry rows."""
    service = _open_service(dir, panes=panes, children=children)
    try:
        return service.snapshot()
    except OSError as error:
        raise RefusedError(f"cannot read {service.looker.directory}: {error.strerror}") from error
    finally:
        service.close()


def changes(
    since: int | None = None,
    *,
    dir: Path | None = None,  # noqa: A002
    panes: bool = True,
    children: bool = True,
) -> Generator[SubjectChange, None, None]:
    """Each change of state of a subject, as it comes, for ever; ``since``: the ``seq`` of the last one that you know.

    Close the generator when you are done with it.
    """
    feed = open_feed(since, dir, panes=panes, children=children)
    try:
        yield from feed.changes()
    finally:
        feed.close()


def wait(
    name: Job,
    *,
    dir: Path | None = None,  # noqa: A002
    timeout: Duration | None = None,
    until: str | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> Verdict:
    """Block until a job has ended, or a person must be told of it; when ``timeout`` runs out, say how it is then."""
    looker, jobs, wanted = request([name], dir, timeout, until, start, match)
    return _waited(looker, jobs, wanted, first=True)[0]


def wait_all(
    jobs: Iterable[Job],
    *,
    dir: Path | None = None,  # noqa: A002
    timeout: Duration | None = None,
    until: str | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> list[Verdict]:
    """Wait for all of several jobs. The verdicts come in the order of the names."""
    return _waited(*request(jobs, dir, timeout, until, start, match), first=False)


def wait_any(
    jobs: Iterable[Job],
    *,
    dir: Path | None = None,  # noqa: A002
    timeout: Duration | None = None,
    until: str | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> Verdict:
    """Wait for the first of several jobs. When ``timeout`` runs out, the verdict is that of the first named."""
    return _waited(*request(jobs, dir, timeout, until, start, match), first=True)[0]


def beat(
    note: str = "",
    *,
    progress: float | None = None,
    result: object = None,
    name: str | None = None,
    dir: Path | None = None,  # noqa: A002
) -> None:
    """Say from inside a job that it makes progress, and leave a result (anything that JSON can hold) for who waits."""
    import json  # noqa: PLC0415  # only who leaves a result needs it

    try:
        text = None if result is None else json.dumps(result, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"a result must be what JSON can hold: {error}") from error
    try:
        directory, job, run_id = beat_file.find_beat_target(None if dir is None else os.fspath(dir), name, progress)
        beat_file.write_beat(f"{directory}/{job}", run_id, note, progress, text)
    except ValueError as error:
        raise UsageError(str(error)) from None
    except LookupError as error:
        raise RefusedError(str(error)) from None
    except OSError as error:
        raise RefusedError(f"the beat cannot be written: {error}") from error


def as_json(verdict: Verdict) -> str:
    """The very line that `midwatch wait --json` prints."""
    return output.as_json(verdict)


# What the functions share -------------------------------------------------------------------------------------------


def open_feed(since: int | None, directory: Path | None, *, panes: bool, children: bool) -> ChangeFeed:
    """The feed of changes, to be closed after use, by the thread that has opened it."""
    from midwatch.subjects.change_feed import ChangeFeed  # noqa: PLC0415  # it needs sqlite3

    return ChangeFeed(_open_service(directory, panes=panes, children=children), since)


def request(
    jobs: Iterable[Job],
    directory: Path | None,
    timeout: Duration | None,
    until: str | None,
    start: Duration | None,
    match: str | re.Pattern[str] | None,
) -> tuple[JobDirectory, list[str], WaitOptions]:
    """What a wait works with, checked as the command line is."""
    if isinstance(jobs, str | Verdict):
        raise UsageError(f"jobs are named by a list such as ['lint', 'test'], not {api_arguments.job_name(jobs)!r}")
    options = api_arguments.build_options("wait", dir=directory, timeout=timeout, until=until, start=start)
    options.names = [api_arguments.job_name(job) for job in jobs]
    context.job_names(options)
    try:
        pattern = re.compile(match) if isinstance(match, str) else match
    except re.error as error:
        raise UsageError(f"match {match!r} is not a regular expression: {error}") from None
    wanted = WaitOptions(
        until=options.choice("--until", UNTIL),
        match=pattern,
        start_s=options.seconds("--start") or 0.0,
        timeout_s=options.seconds("--timeout"),
    )
    return api_arguments.open_directory("wait", directory), options.names, wanted


def _waited(looker: JobDirectory, jobs: list[str], wanted: WaitOptions, *, first: bool) -> list[Verdict]:
    send_pending.start_sender_at_intervals(looker.directory)
    found: dict[str, Verdict] = {}
    waiting = SubjectWait(looker, list(dict.fromkeys(jobs)), wanted, guest=True)
    outcomes = waiting.outcomes()
    try:
        for outcome in outcomes:
            verdict = found[outcome.verdict.name] = waiting.verified(outcome).verdict
            if first:
                return [verdict]
    finally:
        outcomes.close()
    return [found[name] for name in jobs]


def _open_service(directory: Path | None, *, panes: bool, children: bool) -> SubjectService:
    looker, scope = api_arguments.open_directory("ls", directory), SubjectScope()
    if panes:
        from midwatch.subjects.scope import find_scope  # noqa: PLC0415  # jobs do not pay for the registry

        scope = find_scope()
    return SubjectService(looker, scope._replace(children=children), api_arguments.give_warning)
