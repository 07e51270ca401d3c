"""A report as text, for a terminal of any width."""

from __future__ import annotations

import textwrap

from midwatch.core.foreign_text import escape_text
from midwatch.core.redaction import redact
from midwatch.report.codec import words
from midwatch.report.model import UNOBSERVED, SubjectReport, WorkReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 40
"""Lines of what happened; the HTML file has all."""
INDENT = "  "
NARROWEST = 40


def format_report(report: WorkReport, columns: int, colour: Callable[[str], str]) -> str:
    """``colour``: a state, as it is shown."""
    width = max(NARROWEST, columns)
    lines = textwrap.wrap(f"{words.format_span(report.span)}, {escape_text(report.place)}", width)
    if not report.subjects:
        return "\n".join([*lines, "", "Nothing ran in this time."])
    if needing := [each for each in report.subjects if each.needs_you]:
        lines += ["", f"Needs you ({len(needing)})"]
        for each in needing:
            lines += _wrapped(f"{_name(each, report)}: {_state(each, colour)}{_reason(each)}", width)
            lines += [f"{INDENT}{INDENT}{escape_text(words.format_advice(each))}"]
    else:
        lines += ["", "Nothing needs you."]
    lines += ["", "What ran"]
    for each in report.subjects:
        lines += _subject_lines(each, report, width, colour)
    if happened := _happened(report, colour):
        shown = happened[-MOST:]
        left = len(happened) - len(shown)
        lines += ["", "What happened" + (f" (the last {MOST}; --html has {left} more)" if left else "")]
        lines += [line for text in shown for line in _wrapped(text, width)]
    if any(each.total(UNOBSERVED) >= 1 for each in report.subjects):
        lines += ["", *textwrap.wrap(f"{words.UNWATCHED} `{words.WATCH}` watches a session.", width)]
    return "\n".join(lines)


def _subject_lines(each: SubjectReport, report: WorkReport, width: int, colour: Callable[[str], str]) -> list[str]:
    who = f" ({each.agent})" if each.agent else ""
    state = _state(each, colour) + {True: ", verified", False: ", not verified", None: ""}[each.verified]
    parts = [*words.format_times(each), *words.format_counts(each), *words.format_end(each, report.span)]
    lines = [f"{INDENT}{_name(each, report)}{who}: {state}"]
    return lines + _wrapped(INDENT + " · ".join(parts), width) if parts else lines


def _happened(report: WorkReport, colour: Callable[[str], str]) -> list[str]:
    return [
        f"{words.format_moment(remark.at, report.span)}  {_name(each, report)}  {colour(remark.what)}"
        + (f": {escape_text(redact(remark.reason.raw))}" if remark.reason else "")
        for each, remark in words.happened(report)
    ]


def _name(each: SubjectReport, report: WorkReport) -> str:
    return escape_text(words.format_name(each, report))


def _state(each: SubjectReport, colour: Callable[[str], str]) -> str:
    return colour(each.state)


def _reason(each: SubjectReport) -> str:
    return f": {escape_text(redact(each.reason.raw))}" if each.reason else ""


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=INDENT, subsequent_indent=INDENT * 3, break_long_words=False, break_on_hyphens=False
    )
