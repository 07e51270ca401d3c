"""`midwatch ls`: every job, judged on the spot from its files and processes; what needs a person comes first."""

import os
import sys

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core import names, verdict_json
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import escape_text
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import send_pending
from midwatch.subjects.model import Subject, SubjectScope
from midwatch.subjects.snapshot import SubjectService

NEEDS_A_PERSON = frozenset(("waiting", "stuck", "limited", "unknown"))
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Say = Callable[[str], None]
    Sections = list[tuple[str, list[Subject]]]
    """The subjects of each directory, with a title where there may be several."""


def main(options: Options) -> int:
    if options.names and (options.flag("--panes") or options.flag("--all")):
        raise UsageError("names are those of this directory; leave out --panes and --all")
    if options.flag("--panes") and options.flag("--children"):
        raise UsageError("--panes and --children are given one at a time; `midwatch.snapshot()` of Python has both")
    if options.flag("--watch"):
        from midwatch.cli.commands import ls_watch  # one listing needs no events

        return ls_watch.watch_listing(options)
    if options.flag("--panes"):
        return _print_panes(options)
    listing = JobListing(options, output.print_warning)
    try:
        sections = listing.read()
    finally:
        listing.close()
    for title, subjects in sections:
        if options.flag("--json"):
            for each in subjects:
                print(format_json(each, options))
        elif title:
            print(f"{'' if title == sections[0][0] else chr(10)}{title}\n{output.format_table(table_rows(subjects))}")
        else:
            print(output.format_table(table_rows(subjects)))
    if not sections and not options.flag("--json"):
        print(
            "no jobs here; `midwatch run -d -- CMD` starts one, `midwatch ls --panes` lists agents in panes",
            file=sys.stderr,
        )
    missing = options.names and any(each.verdict.state == "not_found" for _, found in sections for each in found)
    return EXIT_CODES["not_found"] if missing else 0


class JobListing:
    """The jobs and sessions that are meant. Read again and again, it remembers what it has seen of agents."""

    def __init__(self, options: Options, say: "Say") -> None:
        self._options = options
        self._say = say
        self._names = [names.check_name(name, blanks=options.flag("--dir")) for name in dict.fromkeys(options.names)]
        self._services: dict[str, SubjectService] = {}

    def read(self) -> "Sections":
        found: Sections = []
        for directory in list_directories(self._options):
            if directory not in self._services:
                self._services[directory] = self._open(directory)
            subjects = self._read_directory(self._services[directory])
            if subjects:
                title = f"{escape_text(os.path.basename(directory))}:" if self._options.flag("--all") else ""
                found.append((title, subjects))
        return found

    def close(self) -> None:
        for service in self._services.values():
            service.close()

    def _open(self, directory: str) -> SubjectService:
        if self._options.flag("--all"):
            send_pending.start_sender_if_due(directory)
        looker = JobDirectory(directory, context.lazy_policy(self._options), brief=True)
        return SubjectService(looker, SubjectScope(children=self._options.flag("--children")), self._say)

    def _read_directory(self, service: SubjectService) -> list[Subject]:
        looker = service.looker
        try:
            found = list(service.snapshot().subjects)
        except OSError as error:
            raise RefusedError(f"cannot read {looker.directory}: {error.strerror}") from error
        if found and (others := paths.find_sharing(looker.directory)):
            self._say(f"{others}; what it says may be false")
        return self._choose_named(looker, found) if self._names else found

    def _choose_named(self, looker: JobDirectory, found: list[Subject]) -> list[Subject]:
        """Those that were named, in that order, with their children; a name that is not there is one, too."""
        chosen = []
        for name in self._names:
            own = [each for each in found if not each.parent and each.verdict.name == name]
            ids = {each.id for each in own}
            own += [each for each in found if each.parent in ids]
            chosen += own or [Subject(f"job/{name}", "job", looker.verdict(name))]
        return chosen


def list_directories(options: Options) -> list[str]:
    if not options.flag("--all"):
        return [paths.sentinel_directory(options.text("--dir"))]
    return paths.list_projects()


def table_rows(subjects: "Iterable[Subject]") -> list[Verdict]:
    """First what needs a person, then what is at work, then what has ended, the newest end first; children indented."""
    parents, children = [], dict[str, list[Verdict]]()
    for each in subjects:
        if each.parent:
            row = each.verdict._replace(name=f"  {each.kind} {each.verdict.name}")
            children.setdefault(each.parent, []).append(row)
        else:
            parents.append(each)
    parents.sort(key=lambda each: rank(each.verdict))
    return [row for each in parents for row in (each.verdict, *children.get(each.id, ()))]


def rank(verdict: Verdict) -> tuple[int, float]:
    if verdict.final:
        return 2, -(verdict.ended or 0.0)
    return int(verdict.state not in NEEDS_A_PERSON), 0.0


def format_json(subject: Subject, options: Options) -> str:
    if not options.flag("--children"):
        return output.as_json(subject.verdict, verdict_json.listed_fields(subject.verdict))
    from midwatch.subjects import codec  # it reads events, too

    return codec.encode_subject(subject)


def _print_panes(options: Options) -> int:
    rows, unknown = read_panes(options, output.print_remark)
    if options.flag("--json"):
        for verdict in rows:
            print(output.as_json(verdict))
    elif rows:
        print(output.format_table(rows))
    elif not unknown:
        print("no agents in panes here; -L NAME or -S PATH name another tmux server, --all all", file=sys.stderr)
    return EXIT_CODES["unknown"] if unknown else 0


def read_panes(options: Options, say: "Say") -> tuple[list[Verdict], str]:
    """Agents in panes, said and sorted for people unless JSON is wanted; and why some may be missing."""
    from midwatch.cli import pane_arguments  # a listing of jobs does not pay for tmux and detectors
    from midwatch.cli.commands import send_undelivered  # a listing of jobs does not pay for tmux and detectors

    seen, unknown = pane_arguments.observe_panes(options, say=say)
    if options.flag("--json"):
        return [each.verdict for each in seen], unknown
    marks = [send_undelivered.format_mark(send_undelivered.find_undelivered(each)) for each in seen]
    rows = [pane_arguments.name_agent(each) for each in seen]
    said = [row._replace(reason=row.reason + mark) for row, mark in zip(rows, marks, strict=True)]
    return sorted(said, key=rank), unknown
