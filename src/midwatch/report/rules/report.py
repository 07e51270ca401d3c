"""One report out of events and a look at the present: how each subject was, and which of them need a person."""

from __future__ import annotations

from midwatch.core.exit_codes import NEXT
from midwatch.core.foreign_text import NOTHING, ForeignText
from midwatch.core.verdict import FINAL
from midwatch.report.model import ABSENT, Occurrence, PresentState, Remark, Span, SubjectReport
from midwatch.report.rules import periods

TELLING = ("waiting", "limited", "stuck", "failed", "crashed", "timeout", "incomplete", "abandoned", "unknown")
"""States that are told as they come."""
CHECKED = {"verified": True, "not-verified": False}
ATTENTION = ("investigate", "escalate", "retry")
"""What comes next of which a person should know. A limit that a monitor waits for is not among them."""


def subject_report(
    name: str, directory: str, occurrences: list[Occurrence], present: PresentState | None, span: Span, now: float
) -> SubjectReport | None:
    """What became of one subject; None where it was not there in the span."""
    filled = periods.subject_periods(occurrences, present, span, now)
    inside = [each for each in occurrences if span.begin <= each.at <= span.end]
    if not inside and all(each.state == ABSENT for each in filled):
        return None
    current = present if span.end >= now else None
    state, cause, reason = _outcome([each for each in occurrences if each.at <= span.end], current)
    final = current.verdict.final if current else state in FINAL
    session = any(each.session or each.monitor for each in occurrences)
    return SubjectReport(
        name=name, directory=directory, kind=present.verdict.kind if present else "session" if session else "job",
        agent=present.agent if present else "", state=state, final=final, cause=cause, reason=reason,
        verified=_checked(inside, current), needs_you=_needs_person(state, current),
        reach=present.reach if present else "", runs=len({each.run for each in inside}) or 1, periods=filled,
        remarks=tuple(_remarks(inside)), last=max([each.at for each in inside], default=span.begin),
    )  # fmt: skip


def order(subjects: list[SubjectReport]) -> tuple[SubjectReport, ...]:
    """Those that need a person first, then what goes on, then what ended, each by their names."""
    return tuple(sorted(subjects, key=lambda each: (not each.needs_you, each.final, each.directory, each.name)))


def _outcome(occurrences: list[Occurrence], present: PresentState | None) -> tuple[str, str, ForeignText]:
    if present is not None:
        return present.verdict.state, present.verdict.cause, ForeignText(present.verdict.reason)
    for each in reversed(occurrences):
        if each.event in ("ended", "watched", "observed", "stuck"):
            return each.state or "stuck", each.cause, each.reason
        if each.event in ("started", "moved", "continued"):
            return "working", "", NOTHING
    return "unknown", "", NOTHING


def _checked(occurrences: list[Occurrence], present: PresentState | None) -> bool | None:
    causes = [each.cause for each in occurrences if each.event in ("watched", "observed", "ended")]
    causes += [present.verdict.cause] if present else []
    return next((CHECKED[cause] for cause in reversed(causes) if cause in CHECKED), None)


def _needs_person(state: str, present: PresentState | None) -> bool:
    if state == "limited" and present is not None and present.monitor:
        return False
    return NEXT.get(state) in ATTENTION and state != "not_found"


def _remarks(occurrences: list[Occurrence]) -> list[Remark]:
    found: list[Remark] = []
    state = ""
    for each in occurrences:
        if each.event == "resumed":
            found.append(Remark(each.at, "resumed", each.reason))
        elif each.event == "retrying":
            found.append(Remark(each.at, "retried", each.reason))
        elif each.event in ("observed", "stuck", "ended", "watched"):
            now = each.state or each.event
            if (now in TELLING and now != state) or (each.event == "ended" and now != state):
                found.append(Remark(each.at, now, each.reason))
            state = now
        elif each.event in ("started", "moved"):
            state = ""
    return found
