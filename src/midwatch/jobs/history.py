"""What is remembered of a job: its runs, from the files that are left and from the journal, each with its events."""

from __future__ import annotations

import json
import os

from midwatch.config import sentinel_files
from midwatch.core.errors import FormatError, RefusedError
from midwatch.core.event import Event
from midwatch.core.job_model import JobFacts
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.rules.verdict import judge
from midwatch.journal import codec as journal_codec
from midwatch.journal import journal, spool_reader
from midwatch.journal.journal import Journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class JobRun(Value):
    """One run of a job, as far as it is known."""

    run: str
    """Empty for work of others, which has no run that could be named."""
    record: dict[str, object] | None
    """The record as it stands in its file."""
    facts: JobFacts | None
    """A look at its files; None when they are gone."""
    events: list[Event]
    verdict: Verdict | None = None
    """By its files and processes alone; None when they are gone."""


def open_journal(directory: str, say: Callable[[str], None] = journal.warn) -> tuple[Journal, str]:
    """The journal with everything taken in. Where that cannot be: what can be read, and why that may not be all."""
    if why := journal.find_problem(directory):
        found = Journal(directory, memory=True, say=say)
        found.take_in()
        return found, f"{why}: no journal is kept there"
    if not os.path.isdir(spool_reader.spool_directory(directory)):
        return Journal(directory, memory=True, say=say), ""  # nothing was started here, and nothing is made for asking
    found = Journal(directory, say=say)
    try:
        found.take_in()
    except RefusedError as error:
        copy = found.copied()
        found.close()
        return copy, str(error)
    return found, ""


def check_since(since: int, newest: int) -> None:
    if since > newest:
        raise RefusedError(
            f"since {since} is beyond the newest event, which is {newest}: was the journal made anew? "
            "since 0 begins at the beginning"
        )


class JobHistory:
    """The runs of one name, oldest first; the one whose files are in place is the last."""

    def __init__(self, looker: JobDirectory, book: Journal, name: str) -> None:
        self.looker = looker
        self.book = book
        self.name = name
        self.records: dict[str, dict[str, object]] = {}
        times = book.runs(name)
        for base in sentinel_files.list_archives(looker.directory, name):
            self._read(base, times)
        self.facts, self.verdict = looker.observe(name)
        self.current = self._read(f"{looker.directory}/{name}", times)
        if self.facts.exists:
            times[self.current] = float("inf")
        self.runs = sorted(times, key=lambda run: times[run])

    def _read(self, base: str, times: dict[str, float]) -> str:
        """The run of a record, which is kept; empty where there is none that can be read."""
        try:
            found = json.loads(sentinel_files.read(f"{base}.json") or "null", parse_constant=_no_value)
        except (FormatError, ValueError, RecursionError):
            return ""
        if not isinstance(found, dict) or not isinstance(run := found.get("run"), str):
            return ""
        self.records[run] = found
        started = found.get("started")
        times.setdefault(run, started if isinstance(started, float) else 0.0)
        return run

    def run(self, run: str) -> JobRun:
        here = self.facts.exists and run == self.current
        facts = self.facts if here else self.looker.archived(self.name, run)
        verdict = self.verdict if here else judge(facts) if facts else None
        events = [event for event in self.book.of_run(self.name, run) if not _repeats_shim(event)]
        return JobRun(run, self.records.get(run), facts, events, verdict)


def _repeats_shim(event: Event) -> bool:
    """Whether the feed of subjects noted what the shim of a job has noted itself, in more words."""
    return event.event == journal_codec.CHANGED and journal_codec.event_body(event).get("kind") in ("job", "attempt")


def _no_value(_word: str) -> None:
    """NaN and the like, which no JSON reader but Python's would take."""
