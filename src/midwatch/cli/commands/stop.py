"""`midwatch stop`: end jobs with everything below them."""

import os
import sys
from collections.abc import Iterator

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.stop import stop_job

AT_ONCE = 32
"""Jobs that are being stopped at the same time."""


def main(options: Options) -> int:
    """0 when every job named has ended, whoever ended it; 7 when one is not there, 12 when one could not be ended."""
    looker, code = context.job_observer(options), 0
    if options.flag("--yes") and not options.flag("--all"):
        raise UsageError("--yes says yes to --all; nothing else asks")
    names = _choose_all(looker, options) if options.flag("--all") else context.job_names(options)
    for found in _stop_jobs(looker, names):
        if isinstance(found, RefusedError):  # the others are to be stopped all the same
            output.print_remark(str(found))
            code = code or EXIT_CODES["unknown"]
            continue
        output.print_verdict(found, json=options.flag("--json"))
        if found.state == "not_found":
            code = code or EXIT_CODES["not_found"]
    return code


def _choose_all(looker: JobDirectory, options: Options) -> list[str]:
    """Every job and session of ours that has not ended, once a person has agreed; each is named before that.

    What others started is stopped only where it is named, and so is the job that we run in.
    """
    from midwatch.jobs.listing import list_verdicts  # only this form of the verb lists

    if options.names:
        raise UsageError("stop takes names or --all, not both")
    try:
        live = [verdict for verdict in list_verdicts(looker) if not verdict.final]
    except FileNotFoundError:
        live = []
    except OSError as error:
        raise RefusedError(f"cannot read {looker.directory}: {error.strerror}") from error
    meant: list[str] = []
    for verdict in live:
        record = looker.facts(verdict.name).record
        if record is None or record.adopted is not None:
            output.print_remark(f"{verdict.name} stays: Midwatch did not start it; name it to stop it")
        elif record.run == os.environ.get("MIDWATCH_RUN") and _runs_here(looker.directory, verdict.name):
            output.print_remark(f"{verdict.name} stays: this call runs in it")
        else:
            meant.append(verdict.name)
            output.print_verdict_remark(verdict, before="stops " if options.flag("--yes") else "would stop ")
    if not meant:
        output.print_remark("nothing to stop here")
    elif not options.flag("--yes"):
        _require_agreement(len(meant))
    return meant


def _runs_here(directory: str, name: str) -> bool:
    box = os.environ.get("MIDWATCH_DIR", "").removesuffix(f"/drop/{name}")
    return os.path.realpath(box) == os.path.realpath(directory)


def _require_agreement(count: int) -> None:
    if not (os.isatty(0) and os.isatty(2)):
        raise UsageError(f"nobody can be asked here whether to stop {count}; add --yes if that is meant")
    print(f"Stop {'it' if count == 1 else f'these {count}'}? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise RefusedError("nothing was stopped")


def _stop_jobs(looker: JobDirectory, names: list[str]) -> Iterator[Verdict | RefusedError]:
    """Stop jobs side by side; how each ended, in the order of their names."""
    if len(names) < 2:  # noqa: PLR2004
        yield from (_stop_job(looker, name) for name in names)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(names), AT_ONCE)) as pool:
        yield from pool.map(lambda name: _stop_job(looker, name), names)


def _stop_job(looker: JobDirectory, name: str) -> Verdict | RefusedError:
    try:
        return stop_job(looker, name)
    except RefusedError as error:
        return error
