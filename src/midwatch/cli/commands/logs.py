"""`midwatch logs`: what a job wrote: text and colours, or with --raw every byte."""

import os
import sys
import time

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import sentinel_files
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.exit_codes import EXIT_CODES
from midwatch.core.job_model import Alive, JobFacts
from midwatch.core.numbers import parse_whole_number
from midwatch.jobs.codec.log_text import LogText
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.log_scan import LogReader
from midwatch.jobs.loop_beat import LoopBeat
from midwatch.jobs.wakeups import JobWakeups

CHUNK = 1 << 16


def main(options: Options) -> int:
    looker, names = context.job_observer(options), context.job_names(options)
    if len(names) > 1:
        raise UsageError("logs shows one job at a time")
    count = _parse_count(options.text("-n"))
    base = f"{looker.directory}/{names[0]}"
    if not sentinel_files.is_job(base):
        output.print_remark(f"there is no job {names[0]!r} in {looker.directory}")
        return EXIT_CODES["not_found"]
    record = looker.facts(names[0]).record
    adopted = record.adopted if record else None
    path = adopted.log if adopted else f"{base}.log"
    if not path:
        output.print_remark(f"{names[0]} was adopted, and its output does not go to a file")
        return 0
    reader = LogReader(path, whole=record is not None and record.pane is not None and adopted is None)
    try:
        reader.open() if count is None else reader.skip(count)
    except FileNotFoundError:
        return 0
    except OSError as error:
        why = "a symbolic link; it is not followed" if os.path.islink(path) else error.strerror
        raise RefusedError(f"{path}: {why}") from error
    show = RawOutput() if options.flag("--raw") else LogText()
    _copy(reader, show)
    if options.flag("-f"):
        _follow(looker, names[0], reader, show)
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


def _copy(reader: LogReader, show: RawOutput | LogText) -> None:
    while data := reader.read(CHUNK):
        _write(show.feed(data))
    sys.stdout.buffer.flush()


def _write(shown: bytes | str) -> None:
    sys.stdout.buffer.write(shown if isinstance(shown, bytes) else shown.encode())


def _follow(looker: JobDirectory, name: str, reader: LogReader, show: RawOutput | LogText) -> None:
    """Copy what is written, until the run that writes it has ended, however it did."""
    wakeups, beat = JobWakeups(looker.directory, {name}), LoopBeat()
    run = _run_id(looker.facts(name))
    try:
        while True:
            wakeups.watch_writes(name, reader.path)  # another file, after it was put aside
            facts, verdict = looker.observe(name)
            over = verdict.final or _run_id(facts) != run
            _copy(reader, show)
            if over:
                return
            alive = next((process.pid for process in (facts.shim, facts.work) if isinstance(process, Alive)), 0)
            if not alive or wakeups.watch_process(name, alive):
                wakeups.sleep(beat.after_pass(time.monotonic() + 60.0))
    finally:
        wakeups.close()


def _run_id(facts: JobFacts) -> str:
    return facts.record.run if facts.record else ""
