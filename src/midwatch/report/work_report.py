"""Makes a report of one directory, or of several: what their journals hold, and how everything is now."""

from __future__ import annotations

import contextlib
import os

from midwatch.core.policy import Policy
from midwatch.jobs import history
from midwatch.jobs.job_directory import JobDirectory
from midwatch.report import observe
from midwatch.report.codec import journal_events
from midwatch.report.model import Occurrence, Span, SubjectReport, WorkReport
from midwatch.report.rules import report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Say = Callable[[str], None]

MOST_RUNS = 500
"""Runs that are there now and are asked for by their ids; SQLite takes no more than a thousand values."""


def read_report(
    directories: list[str], span: Span, policy: Policy | Callable[[], Policy], place: str, now: float, say: Say
) -> WorkReport:
    """What happened in a span, by the journals of these directories. One that ends now tells how everything is."""
    found: list[SubjectReport] = []
    for directory in directories:
        if os.path.isdir(directory):
            found += _directory_reports(JobDirectory(directory, policy), span, now, say)
    return WorkReport(span, report.order(found), now, place, several=len(directories) > 1)


def _directory_reports(looker: JobDirectory, span: Span, now: float, say: Say) -> list[SubjectReport]:
    present = observe.present_states(looker, say)
    live = [each.run for each in present.values() if each.run and not each.verdict.final]
    book, trouble = history.open_journal(looker.directory, say)
    with contextlib.closing(book):
        if trouble:
            say(f"{trouble}; the report has what could be read")
        events = book.of_kinds(journal_events.READ, span.begin, live[:MOST_RUNS])
    named: dict[str, list[Occurrence]] = {name: [] for name in present}
    for event in events:
        named.setdefault(event.name, []).append(journal_events.decode_event(event))
    made = [
        report.subject_report(name, looker.directory, found, present.get(name), span, now)
        for name, found in named.items()
    ]
    return [each for each in made if each is not None]
