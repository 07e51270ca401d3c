"""`midwatch events`: what happened, one line each, in an order that never changes, so that listeners can go on."""

import contextlib
import sys
import time
from collections.abc import Iterable, Iterator

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths, sentinel_files
from midwatch.core import names
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.event import Event
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.numbers import parse_whole_number
from midwatch.core.text import visible
from midwatch.jobs import history
from midwatch.jobs.job_directory import JobDirectory
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal
from midwatch.journal.journal import Journal
from midwatch.subjects.snapshot import SubjectService


def main(options: Options) -> int:
    directory = paths.sentinel_directory(options.text("--dir"))
    wanted = [name if names.is_pane(name) else names.check_name(name) for name in dict.fromkeys(options.names)]
    since, count = parse_number(options, "--since"), parse_number(options, "-n")
    if options.flag("--changes") and options.flag("--follow"):
        return _follow_changes(options, directory, wanted, since, count)
    if options.flag("--follow"):
        return _follow(options, directory, wanted, since, count)
    book, trouble = history.open_journal(directory)
    if trouble and (since is not None or not journal.find_problem(directory)):
        raise RefusedError(trouble)
    if trouble:
        journal.warn(f"{trouble}; numbers hold for this call only")
    with contextlib.closing(book):
        history.check_since(since or 0, book.newest())
        if print_events(options, _past_events(book, wanted, since, count, kind=_event_kind(options))):
            return 0
        missing = [name for name in wanted if not book.runs(name) and not sentinel_files.is_job(f"{directory}/{name}")]
    for name in missing:
        output.print_remark(f"there is no job {name!r} in {directory}")
    if not wanted and since is None and not options.flag("--json"):
        print("no events here; `midwatch run -d -- CMD` starts a job", file=sys.stderr)
    return EXIT_CODES["not_found"] if missing else 0


def _event_kind(options: Options) -> str:
    """The only kind of event that is wanted; empty for all."""
    return journal_codec.CHANGED if options.flag("--changes") else ""


def _past_events(
    book: Journal, wanted: list[str], since: int | None, count: int | None, *, kind: str = ""
) -> Iterator[Event]:
    if count is not None:
        yield from book.last(count, wanted, kind) if since is None else book.after(since, wanted, count, kind)
        return
    since = since or 0
    while page := book.after(since, wanted, kind=kind):
        yield from page
        since = page[-1].seq


def _follow(options: Options, directory: str, wanted: list[str], since: int | None, count: int | None) -> int:
    from midwatch.subjects.event_feed import EventFeed  # who does not follow need not load inotify

    if since is not None and count is not None:
        raise UsageError("with --follow, say --since or -n, not both")
    if why := journal.find_problem(directory):
        raise RefusedError(f"{why}: no journal is kept there that could be followed")
    paths.prepare_directory(directory)
    with contextlib.closing(Journal(directory)) as book:
        book.take_in()
        newest = book.newest()
        history.check_since(since or 0, newest)
        before = book.last(count or 0, wanted)
        begin = since if since is not None else before[-1].seq if before else newest
        print_events(options, before)
        with contextlib.closing(EventFeed(book, begin, wanted, sys.stdout.fileno())) as following:
            print_events(options, following.events())
    return 0


def _follow_changes(options: Options, directory: str, wanted: list[str], since: int | None, count: int | None) -> int:
    """Observe every subject, and print each change of state with its number in the journal."""
    from midwatch.jobs.loop_beat import LoopBeat  # who does not follow need not load any of these
    from midwatch.subjects import scope
    from midwatch.subjects.change_feed import ChangeFeed
    from midwatch.subjects.codec import encode_change

    if count is not None:
        raise UsageError("with --follow --changes, say --since, not -n")
    looker = JobDirectory(directory, context.lazy_policy(options))
    service = SubjectService(looker, scope.find_scope(), output.print_warning)
    with contextlib.closing(ChangeFeed(service, since)) as feed:
        beat = LoopBeat()
        for change in feed.changes(sys.stdout.fileno(), beat.after_pass):
            event = encode_change(change, change.at)._replace(seq=change.seq)
            if not wanted or event.name in wanted:
                print_events(options, [event])
    return 0


def parse_number(options: Options, flag: str) -> int | None:
    given = options.text(flag)
    if given is None:
        return None
    found = parse_whole_number(given)
    if found is None or not 0 <= found < journal_codec.LARGEST:
        raise UsageError(f"{flag} takes a number from 0 on, not {given!r}")
    return found


def print_events(options: Options, found: Iterable[Event]) -> int:
    """Print events, each at once where somebody follows. Returns how many there were."""
    shown = journal_codec.encode_event if options.flag("--json") else _format_event
    count = 0
    for count, event in enumerate(found, 1):  # noqa: B007  # the last count is the answer
        sys.stdout.write(f"{shown(event)}\n")
        if options.flag("--follow"):
            sys.stdout.flush()
    return count


def _format_event(event: Event) -> str:
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(event.at))
    said = colour_words(event.event, journal_codec.event_body(event))
    return f"{at}  {event.seq:>5}  {visible(event.name):<12} {event.event:<10} {said}".rstrip()


def colour_words(event: str, said: dict[str, object]) -> str:
    """An event's words; how a run ended in the colour of that state."""
    words = journal_codec.format_event(event, said)
    if event != "ended":
        return words
    state = next((state for state in output.COLOURS if words.startswith(state)), "")
    return (output.colour_state(state) if state else "") + words[len(state) :]
