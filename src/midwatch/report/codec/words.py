"""Words and numbers that every form of a report shares."""

from __future__ import annotations

from datetime import datetime

from midwatch.core.text import format_duration
from midwatch.report.model import (
    ABSENT,
    IDLE,
    LIMITED,
    SHOWN,
    STUCK,
    UNOBSERVED,
    WAITING,
    WORKING,
    Remark,
    Span,
    SubjectReport,
    WorkReport,
)

DAY = 86400.0
DID = {
    WORKING: "worked", WAITING: "waited", LIMITED: "limited", STUCK: "stuck", IDLE: "idle", UNOBSERVED: "not observed",
}  # fmt: skip
MEANINGS = {
    WORKING: "it worked", WAITING: "it waited for a person", LIMITED: "a usage limit held it",
    STUCK: "it was alive without progress", IDLE: "there was nothing to do: between turns, or before a retry",
    UNOBSERVED: "nobody watched: no monitor of the session, no shim, or the machine slept",
}  # fmt: skip


UNWATCHED = "Not observed is time in which no monitor watched the session, or the machine slept."
WATCH = "midwatch monitor NAME"


def local_time(at: float) -> datetime:
    return datetime.fromtimestamp(at)  # noqa: DTZ006  # as the clock on the wall shows it


def format_moment(at: float, span: Span) -> str:
    """A moment as short as the span allows."""
    form = "%H:%M" if span.seconds <= DAY else "%a %H:%M" if span.seconds <= 6 * DAY else "%d %b %H:%M"
    return local_time(at).strftime(form)


def format_span(span: Span) -> str:
    begin, end = local_time(span.begin), local_time(span.end)
    later = end.strftime("%H:%M") if begin.date() == end.date() else end.strftime("%a %d %b %H:%M")
    return f"{begin.strftime('%a %d %b %H:%M')} to {later} ({format_length(span.seconds)})"


def format_length(seconds: float) -> str:
    return format_duration(float(int(seconds)))


def format_outcome(subject: SubjectReport) -> str:
    """Its state, and what its check said."""
    return subject.state + {True: ", verified", False: ", not verified", None: ""}[subject.verified]


def format_times(subject: SubjectReport) -> list[str]:
    """How long it was in each state, leaving out those that it was not in."""
    return [f"{DID[state]} {format_length(subject.total(state))}" for state in SHOWN if subject.total(state) >= 1]


def format_end(subject: SubjectReport, span: Span) -> list[str]:
    """When it ended; nothing where it is there."""
    if not subject.periods or subject.periods[-1].state != ABSENT or len(subject.periods) == 1:
        return []
    return [f"ended {format_moment(subject.periods[-1].begin, span)}"]


def format_counts(subject: SubjectReport) -> list[str]:
    """How often it was resumed and tried again."""
    counts = (("resumed", subject.count("resumed")), ("retried", subject.count("retried")))
    return [f"{what} {'once' if count == 1 else f'{count} times'}" for what, count in counts if count]


def format_name(subject: SubjectReport, report: WorkReport) -> str:
    return f"{subject.directory.rpartition('/')[2]}/{subject.name}" if report.several else subject.name


def format_advice(subject: SubjectReport) -> str:
    """The command that shows a person more."""
    return subject.reach or f"midwatch why {subject.name}"


def happened(report: WorkReport) -> list[tuple[SubjectReport, Remark]]:
    """Everything worth telling, in the order of time."""
    found = [(each, remark) for each in report.subjects for remark in each.remarks]
    return sorted(found, key=lambda pair: pair[1].at)
