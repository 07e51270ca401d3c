"""`midwatch ls`: every job, judged on the spot from its files and processes."""

import os
import sys

from midwatch.cli import say, settings
from midwatch.cli.options import Options
from midwatch.judge.consequences import EXIT_CODES
from midwatch.loops import live_state, unsent
from midwatch.loops.listing import listed
from midwatch.loops.look import Looker
from midwatch.model.errors import RefusedError, UsageError
from midwatch.model.foreign_text import escaped
from midwatch.model.verdict import Verdict
from midwatch.store import places


def main(options: Options) -> int:
    if options.names:
        raise UsageError("ls takes no names; `midwatch why NAME` tells about one job")
    if options.flag("--panes"):
        return _panes(options)
    shown = 0
    for directory in _directories(options):
        if options.flag("--all"):
            unsent.send(directory)
        looker = Looker(directory, settings.lazily(options), brief=True)
        verdicts = live_state.with_turns(looker, look_at_all(looker), say.warn)
        if options.flag("--json"):
            for verdict in verdicts:
                print(say.as_json(verdict))
        elif verdicts:
            if options.flag("--all"):
                print(f"{'' if not shown else chr(10)}{escaped(os.path.basename(directory))}:")
            print(say.table(verdicts))
        shown += len(verdicts)
    if not shown and not options.flag("--json"):
        print(
            "no jobs here; `midwatch run -d -- CMD` starts one, `midwatch ls --panes` lists agents in panes",
            file=sys.stderr,
        )
    return 0


def _panes(options: Options) -> int:
    from midwatch.cli import panes, undelivered  # a listing of jobs does not pay for tmux and detectors

    seen, unknown = panes.look(options)
    if options.flag("--json"):
        for each in seen:
            print(say.as_json(each.verdict))
    elif seen:
        marks = [undelivered.mark(undelivered.of(each)) for each in seen]
        rows = [panes.named(each) for each in seen]
        print(say.table([row._replace(reason=row.reason + mark) for row, mark in zip(rows, marks, strict=True)]))
    elif not unknown:
        print("no agents in panes here; -L NAME or -S PATH name another tmux server, --all all", file=sys.stderr)
    return EXIT_CODES["unknown"] if unknown else 0


def _directories(options: Options) -> list[str]:
    if not options.flag("--all"):
        return [places.directory(options.text("--dir"))]
    root = places.state_root()
    try:
        return sorted(path for entry in os.listdir(root) if os.path.isdir(path := f"{root}/{entry}"))
    except FileNotFoundError:
        return []


def look_at_all(looker: Looker) -> list[Verdict]:
    try:
        found = listed(looker)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RefusedError(f"cannot read {looker.directory}: {error.strerror}") from error
    if found and (others := places.shared_with_others(looker.directory)):
        say.warn(f"{others}; what it says may be false")
    return found
