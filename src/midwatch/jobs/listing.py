"""Every job of a directory, judged on the spot. What ended long ago is judged once and remembered.

Only an end that our own record tells is remembered: it depends on files alone, and on no process and no clock.
"""

from __future__ import annotations

import os
import time

from midwatch.config import sentinel_files
from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.job_model import JobFacts
from midwatch.core.process_state import format_process, parse_process
from midwatch.core.verdict import Verdict
from midwatch.jobs import listing_cache
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules.verdict import judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORTH = 50
"""Jobs that must have been read in vain before it pays to remember them; fewer cost less than writing does."""


def list_verdicts(looker: JobDirectory) -> list[Verdict]:
    """All jobs in order of names. Raises OSError when the directory cannot be read."""
    names = sentinel_files.list_jobs(looker.directory)
    if len(names) < WORTH or not listing_cache.is_cache_allowed(looker.directory):
        return [looker.verdict(name) for name in names]
    fd = os.open(looker.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _list_with_cache(looker, names, fd)
    finally:
        os.close(fd)


def _list_with_cache(looker: JobDirectory, names: list[str], fd: int) -> list[Verdict]:
    known, rows, fresh = listing_cache.load_rows(looker.directory), {}, 0
    found: list[Verdict] = []
    now = time.time()
    for name in names:
        marks = listing_cache.file_marks(fd, name)
        row = known.get(name)
        if row is not None and row[0] == marks:
            rows[name] = row
            found.append(_cached_verdict(looker, name, row[1]))
            continue
        facts = looker.facts(name)
        verdict = judge(facts)
        found.append(verdict)
        if _is_cacheable(facts, marks) and listing_cache.is_stable(marks, now):
            kept = verdict._replace(log=None, beat=None, evidence=(), against=())
            kept = kept._replace(process=format_process(kept.process))  # type: ignore[arg-type]  # as text, for a file
            rows[name] = marks, [None if isinstance(each, ForeignText) else each for each in kept]
            fresh += 1
    if fresh >= WORTH:
        listing_cache.save_rows(looker.directory, rows)
    return found


def _is_cacheable(facts: JobFacts, marks: listing_cache.Marks) -> bool:
    """Whether a job has ended by our own record, and the look saw a result exactly if one was marked before it."""
    record = facts.record
    if record is None or record.end is None or record.adopted is not None:  # what was adopted has files elsewhere
        return False
    return (facts.result is not None) == (marks[listing_cache.RESULT] is not None)


def _cached_verdict(looker: JobDirectory, name: str, kept: list[Any]) -> Verdict:
    """A verdict as it was given, but for evidence and beat, which no listing shows. No agent says more of a job."""
    log = f"{looker.directory}/{name}.log"
    log_there = log if os.path.exists(log) else None
    found = Verdict(*kept)
    return found._replace(
        process=parse_process(str(found.process)),
        log=log_there,
        until=NOTHING,
        message=NOTHING,
        evidence=(),
        against=(),
    )
