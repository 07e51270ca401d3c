"""What happened, from Python: the events of the journal, in an order that never changes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from midwatch.api.arguments import job_name, job_names, open_directory, warn
from midwatch.config import paths
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.event import Event
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from midwatch.api.arguments import Job, Path
    from midwatch.journal.journal import Journal
    from midwatch.subjects.event_feed import EventFeed


class EventRequest(Value):
    """Which events somebody wants."""

    directory: str
    names: tuple[str, ...]
    since: int | None
    last: int | None


def events(
    jobs: Job | Iterable[Job] = (),
    *,
    dir: Path | None = None,  # noqa: A002  # called as the flag is
    since: int | None = None,
    last: int | None = None,
    follow: bool = False,
) -> Iterator[Event]:
    """Return an iterator over the events of all jobs, or of those named, oldest first.

    ``since``: only those after this number (`seq`). ``last``: only so many at the end. With ``follow``, it waits for
    new ones for ever: from now on, unless ``since`` or ``last`` say otherwise.

    >>> import midwatch
    >>> done = midwatch.wait(midwatch.run(["true"], name="build"))
    >>> for event in midwatch.events("build"):
    ...     print(event.event, event.fields.get("exit_code"))
    started None
    ended 0
    """
    request = event_request(jobs, dir, since, last, follow=follow)
    return _follow(request) if follow else past_events(request)


def event_request(
    jobs: Job | Iterable[Job], directory: Path | None, since: int | None, last: int | None, *, follow: bool
) -> EventRequest:
    """What was asked for, checked as the command line is."""
    one = isinstance(jobs, str | Verdict) or hasattr(jobs, "name")
    wanted = [job_name(jobs)] if one else job_names(jobs)  # type: ignore[arg-type]
    for name in wanted:
        names.check_name(name)
    for word, number in (("since", since), ("last", last)):
        if number is not None and (not isinstance(number, int) or number < 0):
            raise UsageError(f"{word} takes a number from 0 on, not {number!r}")
    if follow and since is not None and last is not None:
        raise UsageError("with follow, say since or last, not both")
    return EventRequest(open_directory("events", directory).directory, tuple(wanted), since, last)


def past_events(request: EventRequest) -> Iterator[Event]:
    from midwatch.jobs import history  # noqa: PLC0415  # it loads sqlite3
    from midwatch.journal import journal  # noqa: PLC0415

    book, trouble = history.open_journal(request.directory, warn)
    with contextlib.closing(book):
        if trouble and (request.since is not None or not journal.find_problem(request.directory)):
            raise RefusedError(trouble)
        _check_since(request, book.newest())
        if request.last is not None:
            yield from (
                book.last(request.last, request.names)
                if request.since is None
                else book.after(request.since, request.names, request.last)
            )
            return
        since = request.since or 0
        while page := book.after(since, request.names):
            yield from page
            since = page[-1].seq


def _follow(request: EventRequest) -> Iterator[Event]:
    book, feed, before = open_feed(request)
    try:
        yield from before
        yield from feed.events()
    finally:
        feed.close()
        book.close()


def open_feed(request: EventRequest) -> tuple[Journal, EventFeed, list[Event]]:
    """The journal, what follows it, and the events that were asked for from before."""
    from midwatch.journal import journal  # noqa: PLC0415  # it loads sqlite3
    from midwatch.subjects.event_feed import EventFeed  # noqa: PLC0415

    if why := journal.find_problem(request.directory):
        raise RefusedError(f"{why}: no journal is kept there that could be followed")
    paths.prepare_directory(request.directory)
    book = journal.Journal(request.directory, say=warn)
    try:
        book.take_in()
        newest = book.newest()
        _check_since(request, newest)
        before = book.last(request.last or 0, request.names)
        begin = request.since if request.since is not None else before[-1].seq if before else newest
        return book, EventFeed(book, begin, request.names), before
    except BaseException:
        book.close()
        raise


def _check_since(request: EventRequest, newest: int) -> None:
    from midwatch.jobs import history  # noqa: PLC0415  # it loads sqlite3

    history.check_since(request.since or 0, newest)
