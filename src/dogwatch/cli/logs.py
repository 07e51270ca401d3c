"""`dogwatch logs`: what a job wrote, as it wrote it."""

import os
import sys
import time

from dogwatch.cli import settings
from dogwatch.cli.options import Options
from dogwatch.judge import job
from dogwatch.judge.consequences import EXIT_CODES
from dogwatch.lean import open_plain
from dogwatch.loops.look import Looker
from dogwatch.loops.wakeups import Wakeups
from dogwatch.model.errors import RefusedError, UsageError
from dogwatch.model.facts import Alive, JobFacts
from dogwatch.store import sentinels

CHUNK = 1 << 16


def main(options: Options) -> int:
    looker, names = settings.looker(options), settings.named(options)
    if len(names) > 1:
        raise UsageError("logs shows one job at a time")
    count = _count(options.text("-n"))
    base = f"{looker.directory}/{names[0]}"
    if not sentinels.exists(base):
        print(f"dogwatch: there is no job {names[0]!r} in {looker.directory}", file=sys.stderr)
        return EXIT_CODES["not_found"]
    path = _path(looker, names[0])
    if not path:
        print(f"dogwatch: {names[0]} was adopted, and its output does not go to a file", file=sys.stderr)
        return 0
    try:
        fd = open_plain(path)
    except FileNotFoundError:
        return 0
    except OSError as error:
        why = "a symbolic link; it is not followed" if os.path.islink(path) else error.strerror
        raise RefusedError(f"{path}: {why}") from error
    try:
        if count is not None:
            os.lseek(fd, tail_offset(fd, count), os.SEEK_SET)
        _copy(fd)
        if options.flag("-f"):
            _follow(looker, names[0], fd, path)
    finally:
        os.close(fd)
    return 0


def _count(given: str | None) -> int | None:
    if given is None:
        return None
    if not given.isdigit():
        raise UsageError(f"-n takes a number of lines, not {given!r}")
    return int(given)


def tail_offset(fd: int, count: int) -> int:
    """Where the last ``count`` lines begin, read backwards so that a log of any size costs the same."""
    size = at = os.fstat(fd).st_size
    wanted = count + (1 if size and os.pread(fd, 1, size - 1) == b"\n" else 0)
    while at > 0 and wanted > 0:
        start = max(0, at - CHUNK)
        block = os.pread(fd, at - start, start)
        while (found := block.rfind(b"\n")) >= 0:
            wanted -= 1
            if wanted == 0:
                return start + found + 1
            block = block[:found]
        at = start
    return 0 if count else size


def _copy(fd: int) -> None:
    while data := os.read(fd, CHUNK):
        sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _path(looker: Looker, name: str) -> str:
    """Where its output is: beside its other files; of adopted work, where its starter sent it, if to a file."""
    record = looker.facts(name).record
    return record.adopted.log if record and record.adopted else f"{looker.directory}/{name}.log"


def _follow(looker: Looker, name: str, fd: int, path: str) -> None:
    """Copy what is written, until the run that writes it has ended, however it did."""
    wakeups = Wakeups(looker.directory, {name})
    run = _run_of(looker.facts(name))
    try:
        wakeups.watch_writes(name, path)
        while True:
            facts = looker.facts(name)
            over = job.judge(facts).final or _run_of(facts) != run
            _copy(fd)
            if over:
                return
            alive = next((process.pid for process in (facts.shim, facts.work) if isinstance(process, Alive)), 0)
            if not alive or wakeups.watch_process(name, alive):
                wakeups.sleep(time.monotonic() + 60.0)
    finally:
        wakeups.close()


def _run_of(facts: JobFacts) -> str:
    return facts.record.run if facts.record else ""
