"""`midwatch report`: what ran, how it spent its time, and what needs a person now."""

from __future__ import annotations

import os
import sys
import time

from midwatch.cli import context, output
from midwatch.cli.parser import Options
from midwatch.config import paths
from midwatch.core.errors import RefusedError, UsageError
from midwatch.core.foreign_text import escape_text
from midwatch.report import work_report
from midwatch.report.codec import html, lines, moments, text
from midwatch.report.model import Span, WorkReport

USUAL = "12h"
WIDE = 100
"""Columns at most, and of text that does not go to a terminal."""


def main(options: Options) -> int:
    if options.names:
        raise UsageError("report takes no names; `midwatch show NAME` tells about one job")
    now = time.time()
    report = _read_report(options, _parse_span(options, now), now)
    if (path := options.text("--html")) is not None:
        _write_page(path, html.format_page(report))
    elif options.flag("--json"):
        for subject in report.subjects:
            print(lines.encode_subject(report, subject))
    else:
        print(text.format_report(report, _columns(), _colour))
    return 0


def _colour(state: str) -> str:
    """A state, or another word that an event has, as it is shown."""
    return output.colour_state(state) if state in output.COLOURS else escape_text(state)


def _parse_span(options: Options, now: float) -> Span:
    begin = moments.parse_since(options.text("--since") or USUAL, now, "--since")
    until = options.text("--until")
    end = now if until is None else min(now, moments.parse_until(until, begin, now, "--until"))
    if begin >= end:
        raise UsageError("--since must be before --until, and before now")
    return Span(begin, end)


def _read_report(options: Options, span: Span, now: float) -> WorkReport:
    if options.flag("--all"):
        if options.flag("--dir"):
            raise UsageError("--dir names one directory, and --all means those of all projects; give one of them")
        directories, place = paths.list_projects(), "all projects"
    else:
        directories = [paths.sentinel_directory(options.text("--dir"))]
        place = options.text("--dir") or os.path.basename(paths.project_root(paths.current_directory()))
    return work_report.read_report(directories, span, context.lazy_policy(options), place, now, output.print_warning)


def _columns() -> int:
    return min(WIDE, os.get_terminal_size(1).columns) if os.isatty(1) else WIDE


def _write_page(path: str, page: str) -> None:
    if path == "-":
        sys.stdout.write(page)
        return
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)
    except OSError as error:
        raise RefusedError(f"--html: cannot write {path}: {error.strerror}") from error
    output.print_remark(f"wrote {path}; open it in a browser")
