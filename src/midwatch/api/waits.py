"""Waiting from Python, for one job or session or for several."""

from __future__ import annotations

import re
from collections.abc import Iterable

from midwatch.api.arguments import wait_request
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.wait_model import WaitOptions
from midwatch.notifications import send_pending
from midwatch.subjects.wait import SubjectWait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.api.arguments import Duration, Job, Path, Until


def wait(
    name: Job,
    *,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    timeout: Duration | None = None,
    until: Until | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> Verdict:
    """Block until a job has ended, or a person must be told of it; when ``timeout`` runs out, say how it is then.

    >>> import midwatch
    >>> midwatch.run(["sh", "-c", "echo ready; exec sleep 600"], name="server").name
    'server'
    >>> print(midwatch.wait("server", match="ready").matched)
    ready
    >>> midwatch.wait("server", timeout="100ms").final
    False
    >>> midwatch.stop("server").state
    'stopped'
    """
    return _waited(*wait_request([name], dir, timeout, until, start, match), first=True)[0]


def wait_all(
    jobs: Iterable[Job],
    *,
    dir: Path | None = None,  # noqa: A002
    timeout: Duration | None = None,
    until: Until | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> list[Verdict]:
    """Wait for all of several jobs. The verdicts come in the order of the names.

    >>> import midwatch
    >>> jobs = [midwatch.run(["sh", "-c", f"exit {code}"]) for code in (0, 3)]
    >>> [each.state for each in midwatch.wait_all(jobs)]
    ['completed', 'failed']
    """
    return _waited(*wait_request(jobs, dir, timeout, until, start, match), first=False)


def wait_any(
    jobs: Iterable[Job],
    *,
    dir: Path | None = None,  # noqa: A002
    timeout: Duration | None = None,
    until: Until | None = None,
    start: Duration | None = None,
    match: str | re.Pattern[str] | None = None,
) -> Verdict:
    """Wait for the first of several jobs. When ``timeout`` runs out, the verdict is that of the first named.

    >>> import midwatch
    >>> with midwatch.job(["sleep", "600"]) as slow, midwatch.job(["true"], name="fast"):
    ...     midwatch.wait_any([slow, "fast"]).name
    'fast'
    """
    return _waited(*wait_request(jobs, dir, timeout, until, start, match), first=True)[0]


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
