"""A report as JSON, one line per subject."""

from __future__ import annotations

from midwatch.core.foreign_text import ForeignText
from midwatch.core.json_text import dump
from midwatch.core.redaction import redact
from midwatch.report.model import SHOWN, SubjectReport, WorkReport

SCHEMA = 1


def encode_subject(report: WorkReport, subject: SubjectReport) -> str:
    return dump({
        "schema": SCHEMA, "begin": report.span.begin, "end": report.span.end, "name": subject.name,
        "kind": subject.kind, "dir": subject.directory, "agent": subject.agent or None, "state": subject.state,
        "final": subject.final, "cause": subject.cause or None, "reason": _text(subject.reason),
        "verified": subject.verified, "needs_you": subject.needs_you, "runs": subject.runs,
        "resumes": subject.count("resumed"), "retries": subject.count("retried"),
        "seconds": {state.replace(" ", "_"): round(subject.total(state), 3) for state in SHOWN},
        "periods": [
            {"state": each.state.replace(" ", "_"), "begin": each.begin, "end": each.end} for each in subject.periods
        ],
        "remarks": [{"at": each.at, "what": each.what, "reason": _text(each.reason)} for each in subject.remarks],
    })  # fmt: skip


def _text(text: ForeignText) -> ForeignText:
    return ForeignText(redact(text.raw))
