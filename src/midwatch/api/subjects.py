"""Every subject from Python: jobs, sessions, agents in panes and registry rows, now and as they change."""

from __future__ import annotations

from collections.abc import Generator

from midwatch.api.arguments import open_directory, warn
from midwatch.core.errors import RefusedError
from midwatch.subjects.model import SubjectChange, SubjectScope, SubjectSnapshot
from midwatch.subjects.snapshot import SubjectService

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.api.arguments import Path
    from midwatch.subjects.change_feed import ChangeFeed


def snapshot(*, dir: Path | None = None, panes: bool = True, children: bool = True) -> SubjectSnapshot:  # noqa: A002
    """Every subject now: jobs and sessions, and with ``panes`` agents in tmux panes and registry rows.

    >>> import midwatch
    >>> done = midwatch.wait(midwatch.run(["true"], name="build"))
    >>> [(each.kind, each.verdict.state) for each in midwatch.snapshot(panes=False).subjects]
    [('job', 'completed')]
    """
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

    >>> import contextlib, midwatch
    >>> job = midwatch.run(["sleep", "600"], name="server")
    >>> with contextlib.closing(midwatch.changes(0, panes=False)) as feed:
    ...     print(next(feed).state)
    working
    >>> midwatch.stop(job).state
    'stopped'
    """
    feed = open_feed(since, dir, panes=panes, children=children)
    try:
        yield from feed.changes()
    finally:
        feed.close()


def open_feed(since: int | None, directory: Path | None, *, panes: bool, children: bool) -> ChangeFeed:
    """The feed of changes, to be closed after use, by the thread that has opened it."""
    from midwatch.subjects.change_feed import ChangeFeed  # noqa: PLC0415  # it needs sqlite3

    return ChangeFeed(_open_service(directory, panes=panes, children=children), since)


def _open_service(directory: Path | None, *, panes: bool, children: bool) -> SubjectService:
    looker, scope = open_directory("ls", directory), SubjectScope()
    if panes:
        from midwatch.subjects.scope import find_scope  # noqa: PLC0415  # jobs do not pay for the registry

        scope = find_scope()
    return SubjectService(looker, scope._replace(children=children), warn)
