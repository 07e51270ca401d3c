"""A report as one HTML file: a timeline for every job and session, without a script and without the network.

All text of others is escaped, and the page itself forbids everything but its own style.
"""

from __future__ import annotations

from html import escape
from math import ceil

from midwatch.core.foreign_text import escape_text
from midwatch.core.redaction import redact
from midwatch.report.codec import words
from midwatch.report.codec.html_style import STYLE
from midwatch.report.model import ABSENT, SHOWN, UNOBSERVED, Period, Span, SubjectReport, WorkReport

MOST_TICKS = 8
STEPS = (60, 300, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 7 * 86400)
"""Seconds between two marks of the time scale."""
EDGE = 6.0
"""Percent of the width at either side in which a label would be cut off if it stood in the middle of its mark."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def format_page(report: WorkReport) -> str:
    parts = [_head(report), _summary(report)]
    if report.subjects:
        parts += [_needs(report), _timeline(report), _events(report)]
    else:
        parts.append('<p class="none">Nothing ran in this time.</p>')
    made = words.local_time(report.made).strftime("%a %d %b %Y %H:%M")
    parts.append(f"<footer>Made by <code>midwatch report</code>, {made}</footer></main></body></html>\n")
    return "\n".join(parts)


def _text(text: str) -> str:
    """Any text, safe and visible in a page."""
    return escape(escape_text(redact(text)))


def _head(report: WorkReport) -> str:
    span = _text(words.format_span(report.span))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>Report: {_text(report.place)}, {span}</title><style>{STYLE}</style></head><body><main>"
        f'<header><p class="place">{_text(report.place)}</p><h1>{span}</h1></header>'
    )


def _summary(report: WorkReport) -> str:
    needs = sum([each.needs_you for each in report.subjects])
    resumed = sum([each.count("resumed") + each.count("retried") for each in report.subjects])
    figures = [
        (str(len(report.subjects)), "ran", ""),
        (str(sum([each.state == "completed" for each in report.subjects])), "completed", ""),
        (str(needs), "needs you" if needs == 1 else "need you", " alert" if needs else ""),
        (str(resumed), "brought back or retried", ""),
    ]
    cells = [f'<li class="figure{mark}"><b>{value}</b> {what}</li>' for value, what, mark in figures]
    return f'<ul class="summary">{"".join(cells)}</ul>'


def _needs(report: WorkReport) -> str:
    needing = [each for each in report.subjects if each.needs_you]
    if not needing:
        return '<p class="calm">Nothing needs you.</p>'
    cards = [
        f'<li class="card c-{_kind(each.state)}"><p><b>{_name(each, report)}</b> {_state(each.state, each.state)}</p>'
        f"{_reason(each.reason.raw)}<code>{_text(words.format_advice(each))}</code></li>"
        for each in needing
    ]
    return f'<section><h2>Needs you</h2><ul class="cards">{"".join(cards)}</ul></section>'


def _reason(raw: str) -> str:
    return f'<p class="reason">{_text(raw)}</p>' if raw else ""


def _state(state: str, shown: str) -> str:
    return f'<span class="state s-{_kind(state)}">{_text(shown)}</span>'


def _name(each: SubjectReport, report: WorkReport) -> str:
    return _text(words.format_name(each, report))


# The timeline -------------------------------------------------------------------------------------------------------


def _timeline(report: WorkReport) -> str:
    used = [state for state in SHOWN if any(each.total(state) >= 1 for each in report.subjects)]
    legend = [f'<li title="{words.MEANINGS[state]}"><i class="p p-{_css(state)}"></i>{state}</li>' for state in used]
    rows = [_row(each, report) for each in report.subjects]
    command = f"<code>{words.WATCH}</code>"
    note = f'<p class="note">{words.UNWATCHED} {command} watches a session.</p>' if UNOBSERVED in used else ""
    return (
        f'<section><h2>Timeline</h2><ul class="legend">{"".join(legend)}</ul>'
        '<div class="chart"><div class="row scale"><div></div>'
        f'<div class="track ticks">{_ticks(report.span)}</div></div>{"".join(rows)}</div>{note}</section>'
    )


def _row(each: SubjectReport, report: WorkReport) -> str:
    spent = " · ".join([*words.format_times(each), *words.format_counts(each), *words.format_end(each, report.span)])
    agent = f' <span class="agent">{_text(each.agent)}</span>' if each.agent else ""
    outcome = _state(each.state, words.format_outcome(each))
    marked = [remark for remark in each.remarks if remark.what in ("resumed", "retried")]
    bars = "".join(
        [_bar(period, report.span) for period in each.periods if period.state != ABSENT]
        + [_mark(remark.at, remark.what, report.span) for remark in marked]
    )
    return (
        f'<div class="row"><div class="who"><p><b>{_name(each, report)}</b>{agent} {outcome}</p>'
        f'<p class="spent">{_text(spent)}</p></div>'
        f'<div class="track" role="img" aria-label="{_text(spent)}">{bars}</div></div>'
    )


def _bar(period: Period, span: Span) -> str:
    left, width = _percent(period.begin, span), _percent(period.end, span) - _percent(period.begin, span)
    begin, end = words.format_moment(period.begin, span), words.format_moment(period.end, span)
    told = f"{period.state} {begin} to {end}, {words.format_length(period.end - period.begin)}"
    return f'<i class="p p-{_css(period.state)}" style="left:{left:.3f}%;width:{width:.3f}%" title="{told}"></i>'


def _mark(at: float, what: str, span: Span) -> str:
    return f'<i class="mark" style="left:{_percent(at, span):.3f}%" title="{what} {words.format_moment(at, span)}"></i>'


def _ticks(span: Span) -> str:
    step = next((step for step in STEPS if span.seconds / step <= MOST_TICKS), STEPS[-1])
    shift = words.local_time(span.begin).astimezone().utcoffset()
    ahead = shift.total_seconds() if shift else 0.0
    at = ceil((span.begin + ahead) / step) * step - ahead
    found = []
    while at <= span.end:
        label = words.format_moment(at, span)
        place = _percent(at, span)
        side = ' class="first"' if place < EDGE else ' class="last"' if place > 100 - EDGE else ""
        found.append(f'<span{side} style="left:{place:.3f}%">{label}</span>')
        at += step
    return "".join(found)


def _percent(at: float, span: Span) -> float:
    return min(100.0, max(0.0, (at - span.begin) / max(span.seconds, 1e-9) * 100))


def _css(state: str) -> str:
    return state.replace(" ", "-")


def _kind(state: str) -> str:
    """The colour of a word: good, bad, a person's, a limit, or neither."""
    kinds = {"completed": "good", "working": "work", "starting": "work", "waiting": "wait", "limited": "limit"}
    bad = ("failed", "crashed", "timeout", "stuck", "incomplete", "abandoned")
    return kinds.get(state, "bad" if state in bad else "plain")


# What happened ------------------------------------------------------------------------------------------------------


def _events(report: WorkReport) -> str:
    found = words.happened(report)
    if not found:
        return ""
    rows = [
        f'<li><time>{_text(words.format_moment(remark.at, report.span))}</time><div><b>{_name(each, report)}</b> '
        f"{_state(remark.what, remark.what)} "
        f'<span class="reason">{_text(remark.reason.raw)}</span></div></li>'
        for each, remark in found
    ]
    return f'<section><h2>What happened</h2><ol class="events">{"".join(rows)}</ol></section>'
