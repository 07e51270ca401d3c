"""`midwatch logs`: what a job wrote: text and colours, or with --raw every byte."""

import sys

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import sentinel_files
from midwatch.core.errors import UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.numbers import parse_whole_number
from midwatch.jobs import log_stream
from midwatch.jobs.codec.log_text import LogText
from midwatch.jobs.log_stream import LogFollower


def main(options: Options) -> int:
    looker, names = context.job_observer(options), context.job_names(options)
    if len(names) > 1:
        raise UsageError("logs shows one job at a time")
    count = _parse_count(options.text("-n"))
    base = f"{looker.directory}/{names[0]}"
    if not sentinel_files.is_job(base):
        output.print_remark(f"there is no job {names[0]!r} in {looker.directory}")
        return EXIT_CODES["not_found"]
    try:
        reader = log_stream.open_log(looker, names[0], count)
    except log_stream.NoLogError as error:
        output.print_remark(str(error))
        return 0
    if reader is None:
        return 0
    show = RawOutput() if options.flag("--raw") else LogText()
    for data in log_stream.read_chunks(reader):
        _write(show.feed(data))
    sys.stdout.buffer.flush()
    if options.flag("-f"):
        _follow(log_stream.LogFollower(looker, names[0], reader), show)
    _write(show.end())
    return 0


def _parse_count(given: str | None) -> int | None:
    if given is None:
        return None
    count = parse_whole_number(given)
    if count is None or count < 0:
        raise UsageError(f"-n takes a number of lines, not {given!r}")
    return count


class RawOutput:
    """The bytes as the job wrote them."""

    def feed(self, data: bytes) -> bytes:
        return data

    def end(self) -> bytes:
        return b""


def _write(shown: bytes | str) -> None:
    sys.stdout.buffer.write(shown if isinstance(shown, bytes) else shown.encode())


def _follow(follower: LogFollower, show: RawOutput | LogText) -> None:
    """Copy what is written, until the run that writes it has ended, however it did."""
    try:
        for data in follower.chunks():
            if data:
                _write(show.feed(data))
            else:
                sys.stdout.buffer.flush()
    finally:
        follower.close()
