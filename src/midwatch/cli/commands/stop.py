"""`midwatch stop`: end jobs with everything below them."""

from collections.abc import Iterator

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.core.errors import RefusedError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.stop import stop_job

AT_ONCE = 32
"""Jobs that are being stopped at the same time."""


def main(options: Options) -> int:
    """0 when every job named has ended, whoever ended it; 7 when one is not there, 12 when one could not be ended."""
    looker, code = context.job_observer(options), 0
    for found in _stop_all(looker, context.job_names(options)):
        if isinstance(found, RefusedError):  # the others are to be stopped all the same
            output.print_remark(str(found))
            code = code or EXIT_CODES["unknown"]
            continue
        output.print_verdict(found, json=options.flag("--json"))
        if found.state == "not_found":
            code = code or EXIT_CODES["not_found"]
    return code


def _stop_all(looker: JobDirectory, names: list[str]) -> Iterator[Verdict | RefusedError]:
    """Stop jobs side by side; how each ended, in the order of their names."""
    if len(names) == 1:
        yield _stop_job(looker, names[0])
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(len(names), AT_ONCE)) as pool:
        yield from pool.map(lambda name: _stop_job(looker, name), names)


def _stop_job(looker: JobDirectory, name: str) -> Verdict | RefusedError:
    try:
        return stop_job(looker, name)
    except RefusedError as error:
        return error
