"""What is reported to the caller's terminal: while something is waited for, and when that is over."""

from __future__ import annotations

from midwatch.core import verdict_json
from midwatch.core.causes import Cause
from midwatch.core.text import visible
from midwatch.core.verdict import Verdict
from midwatch.terminal.report_model import ProgramReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAR = ProgramReport("clear")
KINDS: dict[Cause, str] = {
    "permission": "permission", "trust": "permission", "question": "question", "menu": "question",
    "startup-dialog": "question", "dialog": "question", "login": "auth",
}  # fmt: skip
"""What a person is asked for, where the cause says so; of the rest only that it is a person's turn."""
BROKEN_OFF: tuple[Cause, ...] = ("interrupt", "quit", "hangup")
"""Causes of an end that the person at this terminal brought about: they need no report of it."""


def start_report(name: str) -> ProgramReport:
    return ProgramReport("working", visible(name))


def progress_report(live: Sequence[Verdict], pending: int, ended: Sequence[ProgramReport] = ()) -> ProgramReport:
    """While ``pending`` subjects are waited for, of which some are known as they are now, and others have ended."""
    for report in ended:
        if report.state == "blocked":
            return report
    if pending == 1 and len(live) == 1 and not ended:
        return _live_report(live[0])
    title = ", ".join(visible(verdict.name) for verdict in live)
    return ProgramReport("working", title, f"{pending} of {pending + len(ended)} go on")


def _live_report(verdict: Verdict) -> ProgramReport:
    title = visible(verdict.name)
    if verdict.state == "waiting":
        return ProgramReport("blocked", title, _report_message(verdict), KINDS.get(verdict.cause, ""))
    beat = verdict.beat
    note = beat.note.line() if beat else ""
    if not note and verdict.kind == "session":  # of a job it would tell how long ago it moved, another each second
        note = f"{verdict.state}: {verdict.reason}"
    progress = None if beat is None or beat.progress is None else min(100, max(0, int(beat.progress * 100)))
    return ProgramReport("working", title, visible(note or verdict.state), progress=progress)


def outcome_report(verdict: Verdict, code: int) -> ProgramReport:
    """How it ended for a caller who gets this exit code: 0 is what was waited for, whatever the state is."""
    if verdict.cause == "monitor-ended":
        return CLEAR
    title, msg = visible(verdict.name), _report_message(verdict)
    if not code:
        return ProgramReport("done", title, msg)
    if verdict.state == "waiting":
        return ProgramReport("blocked", title, msg, KINDS.get(verdict.cause, ""))
    return ProgramReport("error", title, msg)


def run_outcome_report(verdict: Verdict) -> ProgramReport:
    """How work in the foreground ended."""
    if verdict.state == "stopped" and verdict.cause in BROKEN_OFF:
        return CLEAR
    return outcome_report(verdict, verdict.state != "completed")


def overall_report(ended: Sequence[ProgramReport]) -> ProgramReport:
    """Of several, what a person has most to do with: one that waits for them, else one that went wrong."""
    if len(ended) == 1:
        return ended[0]
    for state in ("blocked", "error"):
        for report in ended:
            if report.state == state:
                return report
    return ProgramReport("done", ", ".join(report.title for report in ended), f"all {len(ended)} are done")


def _report_message(verdict: Verdict) -> str:
    return visible(f"{verdict.state}: {verdict_json.format_reason(verdict)}")
