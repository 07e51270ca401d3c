"""Jobs from Python: start them, ask about them, stop them, and report from inside one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import overload

from midwatch.api.arguments import (
    KeywordOptions,
    job_name,
    job_names,
    open_directory,
    plain_word,
    warn,
    work_directory,
    work_variables,
)
from midwatch.cli import context, output
from midwatch.cli.commands import run as runs
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.verdict import Verdict
from midwatch.jobs import launch, launch_from_api, listing
from midwatch.jobs import start as starts
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.stop import stop_job
from midwatch.notifications import send_pending
from midwatch.shim import beat_file
from midwatch.subjects.snapshot import add_session_turns, live_verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from midwatch.api.arguments import Duration, Job, Path, PolicyName, ProgressName, StuckAction

AT_ONCE = 32
"""Jobs that are being stopped at the same time."""


def run(  # noqa: PLR0913  # one for each flag of `midwatch run`
    command: Sequence[str],
    *,
    name: str | None = None,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    policy: PolicyName | None = None,
    timeout: Duration | None = None,
    stale: Duration | None = None,
    grace: Duration | None = None,
    on_stuck: StuckAction | None = None,
    heartbeat: Duration | None = None,
    progress: Iterable[ProgressName] | None = None,
    retries: int | None = None,
    backoff: Duration | None = None,
    breaker: str | None = None,
    preflight: bool = False,
) -> Verdict:
    """Start a job that outlives us, as `midwatch run -d` does; its name is in the verdict.

    A command that cannot be started is no exception: its verdict is `failed`, and final.

    >>> from datetime import timedelta
    >>> import midwatch
    >>> midwatch.run(["make", "--version"], name="build", timeout=timedelta(minutes=20), on_stuck="stop").name
    'build'
    >>> midwatch.run(["no-such-command"], name="typo").exit_code
    127
    """
    options = KeywordOptions(
        "run", dir=dir, policy=policy, timeout=timeout, stale=stale, grace=grace, on_stuck=on_stuck,
        heartbeat=heartbeat, progress=progress if progress is None else ",".join(progress), retries=retries,
        backoff=backoff, breaker=breaker, preflight=preflight,
    )  # fmt: skip
    if isinstance(command, str) or not command:
        raise UsageError(f"a command is a list of words such as ['make', 'all'], not {command!r}")
    words = [plain_word(word) for word in command]
    looker = JobDirectory(paths.sentinel_directory(options.text("--dir")), context.read_policy(options))
    run_id = launch.new_run_id()
    job = launch.JobSpec(
        directory=looker.directory,
        name=names.check_name(name or names.derive_name(words[0], run_id)),
        run=run_id,
        command=words,
        cwd=work_directory(cwd),
        env=work_variables(env or {}),
        policy=looker.policy,
        foreground=False,
        **runs.safeguard_options(options),
    )
    start_detached(looker, job)
    return looker.verdict(job.name)


def start_detached(looker: JobDirectory, job: launch.JobSpec, feed: bytes = b"") -> None:
    """Start a job from inside somebody else's program, with something to read."""
    send_pending.start_sender_at_intervals(looker.directory)
    low = launch_from_api.reserve_standard_streams()
    try:
        starts.start_detached(job, looker, launch_from_api.launch_shim, feed=feed)
    finally:
        for fd in low:
            os.close(fd)


def status(name: Job, *, dir: Path | None = None) -> Verdict:  # noqa: A002
    """Return the live state of a job or a session. What is not there has the verdict `not_found`.

    A session is judged by a look at its pane; nothing is verified.

    >>> import midwatch
    >>> midwatch.status("nobody").state
    'not_found'
    """
    job, looker = names.check_name(job_name(name), blanks=dir is not None), open_directory("why", dir)
    send_pending.start_sender_at_intervals(looker.directory)
    return live_verdict(looker, job, warn)


@overload
def ls(*, dir: Path | None = ..., all: Literal[False] = ...) -> list[Verdict]: ...
@overload
def ls(*, all: Literal[True]) -> dict[str, list[Verdict]]: ...
def ls(*, dir: Path | None = None, all: bool = False) -> list[Verdict] | dict[str, list[Verdict]]:  # noqa: A002
    """Return the live state of every job and session, in the order of their names.

    With ``all``: those of all projects, each list under the directory that the other functions take as ``dir``.

    >>> import midwatch
    >>> for name in ("lint", "docs"):
    ...     done = midwatch.wait(midwatch.run(["true"], name=name))
    >>> [(each.name, each.state) for each in midwatch.ls()]
    [('docs', 'completed'), ('lint', 'completed')]
    """
    if not all:
        return _list_directory(open_directory("ls", dir))
    if dir is not None:
        raise UsageError("dir names one directory, and all means those of all projects; give one of them")
    found = {directory: _list_directory(open_directory("ls", directory)) for directory in paths.list_projects()}
    return {directory: verdicts for directory, verdicts in found.items() if verdicts}


def _list_directory(looker: JobDirectory) -> list[Verdict]:
    send_pending.start_sender_at_intervals(looker.directory)
    try:
        found = listing.list_verdicts(looker)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RefusedError(f"cannot read {looker.directory}: {error.strerror}") from error
    return add_session_turns(looker, found, warn)


@overload
def stop(jobs: Job, *, dir: Path | None = ...) -> Verdict: ...  # type: ignore[overload-overlap]  # a text is one name
@overload
def stop(jobs: Iterable[Job], *, dir: Path | None = ...) -> list[Verdict]: ...
def stop(jobs: Job | Iterable[Job], *, dir: Path | None = None) -> Verdict | list[Verdict]:  # noqa: A002
    """Stop a job, or each of several, with everything below it. Returns how each ended.

    A job that has ended already keeps its end. RefusedError where one cannot be ended; the others are stopped first.

    >>> import midwatch
    >>> server = midwatch.run(["sleep", "600"], name="server")
    >>> midwatch.stop(server).state
    'stopped'
    >>> [each.state for each in midwatch.stop(["server", "nobody"])]
    ['stopped', 'not_found']
    """
    one = isinstance(jobs, str | Verdict) or hasattr(jobs, "name")
    wanted = [job_name(jobs)] if one else job_names(jobs)  # type: ignore[arg-type]
    for name in wanted:
        names.check_name(name, blanks=dir is not None)
    looker = open_directory("stop", dir)
    send_pending.start_sender_at_intervals(looker.directory)
    ended = _stop_all(looker, wanted)
    return ended[0] if one else ended


def _stop_all(looker: JobDirectory, wanted: list[str]) -> list[Verdict]:
    if len(wanted) < 2:  # noqa: PLR2004
        return [stop_job(looker, name) for name in wanted]
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # only who stops several needs it

    with ThreadPoolExecutor(min(len(wanted), AT_ONCE)) as pool:
        stopping = [pool.submit(stop_job, looker, name) for name in wanted]
    return [each.result() for each in stopping]


def beat(
    note: str = "",
    *,
    progress: float | None = None,
    result: object = None,
    name: str | None = None,
    dir: Path | None = None,  # noqa: A002
) -> None:
    """Report progress from inside a job, and leave a result (anything that JSON can hold) for who waits.

    >>> import sys, midwatch
    >>> work = "import midwatch; midwatch.beat('epoch 3', progress=0.4, result={'loss': 0.03})"
    >>> done = midwatch.wait(midwatch.run([sys.executable, "-c", work], name="train"))
    >>> done.result, done.beat.progress
    ({'loss': 0.03}, 0.4)
    """
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
    """Return the very line that `midwatch wait --json` prints.

    >>> import midwatch
    >>> midwatch.as_json(midwatch.status("nobody"))[:40]
    '{"schema":1,"name":"nobody","kind":"job"'
    """
    return output.as_json(verdict)
