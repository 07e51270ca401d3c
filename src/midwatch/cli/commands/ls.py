"""`midwatch ls`: every job, judged on the spot from its files and processes."""

import os
import sys

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import escape_text
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.notifications import send_pending
from midwatch.subjects.model import Subject, SubjectScope
from midwatch.subjects.snapshot import SubjectService


def main(options: Options) -> int:
    if options.names:
        raise UsageError("ls takes no names; `midwatch why NAME` tells about one job")
    if options.flag("--panes") and options.flag("--children"):
        raise UsageError("--panes and --children are given one at a time; `midwatch.snapshot()` of Python has both")
    if options.flag("--panes"):
        return _print_panes(options)
    shown = 0
    for directory in _directories(options):
        if options.flag("--all"):
            send_pending.start_sender_if_due(directory)
        looker = JobDirectory(directory, context.lazy_policy(options), brief=True)
        subjects = _list_subjects(looker, children=options.flag("--children"))
        if options.flag("--json"):
            for each in subjects:
                print(_as_json(each) if options.flag("--children") else output.as_json(each.verdict))
        elif subjects:
            if options.flag("--all"):
                print(f"{'' if not shown else chr(10)}{escape_text(os.path.basename(directory))}:")
            print(output.format_table([_indent(each) for each in subjects]))
        shown += len(subjects)
    if not shown and not options.flag("--json"):
        print(
            "no jobs here; `midwatch run -d -- CMD` starts one, `midwatch ls --panes` lists agents in panes",
            file=sys.stderr,
        )
    return 0


def _print_panes(options: Options) -> int:
    from midwatch.cli import pane_arguments  # a listing of jobs does not pay for tmux and detectors
    from midwatch.cli.commands import send_undelivered  # a listing of jobs does not pay for tmux and detectors

    seen, unknown = pane_arguments.observe_panes(options)
    if options.flag("--json"):
        for each in seen:
            print(output.as_json(each.verdict))
    elif seen:
        marks = [send_undelivered.format_mark(send_undelivered.find_undelivered(each)) for each in seen]
        rows = [pane_arguments.name_agent(each) for each in seen]
        print(
            output.format_table([row._replace(reason=row.reason + mark) for row, mark in zip(rows, marks, strict=True)])
        )
    elif not unknown:
        print("no agents in panes here; -L NAME or -S PATH name another tmux server, --all all", file=sys.stderr)
    return EXIT_CODES["unknown"] if unknown else 0


def _directories(options: Options) -> list[str]:
    if not options.flag("--all"):
        return [paths.sentinel_directory(options.text("--dir"))]
    return paths.list_projects()


def _list_subjects(looker: JobDirectory, *, children: bool) -> tuple[Subject, ...]:
    service = SubjectService(looker, SubjectScope(children=children), output.print_warning)
    try:
        found = service.snapshot().subjects
    except OSError as error:
        raise RefusedError(f"cannot read {looker.directory}: {error.strerror}") from error
    finally:
        service.close()
    if found and (others := paths.find_sharing(looker.directory)):
        output.print_warning(f"{others}; what it says may be false")
    return found


def _indent(subject: Subject) -> Verdict:
    """A child stands below its parent, with its kind."""
    verdict = subject.verdict
    return verdict._replace(name=f"  {subject.kind} {verdict.name}") if subject.parent else verdict


def _as_json(subject: Subject) -> str:
    from midwatch.subjects import codec  # it reads events, too

    return codec.encode_subject(subject)
