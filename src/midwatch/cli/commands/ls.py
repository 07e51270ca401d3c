"""`midwatch ls`: every job, judged on the spot from its files and processes."""

import os
import sys

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.foreign_text import escaped
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.listing import listed
from midwatch.notifications import send_pending
from midwatch.subjects import live_state


def main(options: Options) -> int:
    if options.names:
        raise UsageError("ls takes no names; `midwatch why NAME` tells about one job")
    if options.flag("--panes"):
        return _panes(options)
    shown = 0
    for directory in _directories(options):
        if options.flag("--all"):
            send_pending.send(directory)
        looker = JobDirectory(directory, context.lazily(options), brief=True)
        verdicts = live_state.with_turns(looker, look_at_all(looker), output.warn)
        if options.flag("--json"):
            for verdict in verdicts:
                print(output.as_json(verdict))
        elif verdicts:
            if options.flag("--all"):
                print(f"{'' if not shown else chr(10)}{escaped(os.path.basename(directory))}:")
            print(output.table(verdicts))
        shown += len(verdicts)
    if not shown and not options.flag("--json"):
        print(
            "no jobs here; `midwatch run -d -- CMD` starts one, `midwatch ls --panes` lists agents in panes",
            file=sys.stderr,
        )
    return 0


def _panes(options: Options) -> int:
    from midwatch.cli import pane_arguments  # a listing of jobs does not pay for tmux and detectors
    from midwatch.cli.commands import send_undelivered  # a listing of jobs does not pay for tmux and detectors

    seen, unknown = pane_arguments.look(options)
    if options.flag("--json"):
        for each in seen:
            print(output.as_json(each.verdict))
    elif seen:
        marks = [send_undelivered.mark(send_undelivered.of(each)) for each in seen]
        rows = [pane_arguments.named(each) for each in seen]
        print(output.table([row._replace(reason=row.reason + mark) for row, mark in zip(rows, marks, strict=True)]))
    elif not unknown:
        print("no agents in panes here; -L NAME or -S PATH name another tmux server, --all all", file=sys.stderr)
    return EXIT_CODES["unknown"] if unknown else 0


def _directories(options: Options) -> list[str]:
    if not options.flag("--all"):
        return [paths.directory(options.text("--dir"))]
    root = paths.state_root()
    try:
        return sorted(path for entry in os.listdir(root) if os.path.isdir(path := f"{root}/{entry}"))
    except FileNotFoundError:
        return []


def look_at_all(looker: JobDirectory) -> list[Verdict]:
    try:
        found = listed(looker)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RefusedError(f"cannot read {looker.directory}: {error.strerror}") from error
    if found and (others := paths.shared_with_others(looker.directory)):
        output.warn(f"{others}; what it says may be false")
    return found
