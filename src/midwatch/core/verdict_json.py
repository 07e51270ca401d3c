"""A verdict as one line: JSON for machines, words for people."""

from midwatch.core.foreign_text import ForeignText, escape_text
from midwatch.core.json_text import dump
from midwatch.core.redaction import redact
from midwatch.core.text import format_duration
from midwatch.core.verdict import LimitPlan, Verdict

SCHEMA = 1
LONGEST = 500
"""Bytes of a JSON line without its result: it goes into someone's context window."""
SHORTEST_REASON = 40


def verdict_fields(verdict: Verdict, following: str) -> dict[str, object]:
    elapsed = verdict.elapsed_s
    return {
        "schema": SCHEMA,
        "name": verdict.name,
        "kind": verdict.kind,
        "state": verdict.state,
        "final": verdict.final,
        "cause": verdict.cause or None,
        "reason": escape_text(redact(verdict.reason)),
        "exit_code": verdict.exit_code,
        "signal": verdict.signal,
        "elapsed_s": None if elapsed is None else round(elapsed, 3),
        **(_session_fields(verdict) if verdict.kind == "session" else {}),
        "result": verdict.result,
        "log": verdict.log,
        "next": following,
    }


def _session_fields(verdict: Verdict) -> dict[str, object]:
    found: dict[str, object] = {"message": ForeignText(redact(verdict.message.raw)) or None, "doubts": verdict.doubts}
    return found if verdict.limit is None else {**found, "limit": _limit_fields(verdict.limit)}


def _limit_fields(plan: LimitPlan) -> dict[str, object]:
    return {
        "ends": None if plan.ends is None else round(plan.ends, 3), "continued_by": plan.by or None,
        "not_continued": plan.why or None, "continues_left": plan.left,
    }  # fmt: skip


def listed_fields(verdict: Verdict) -> dict[str, object]:
    """What a listing adds: when it ended (wall), and what the work last said of itself."""
    beat = verdict.beat
    return {
        "ended_at": verdict.ended,
        "note": None if beat is None or verdict.final else ForeignText(redact(beat.note.raw)),
        "done": None if beat is None or verdict.final else beat.progress,
    }


def encode_verdict(verdict: Verdict, following: str, more: dict[str, object] | None = None) -> str:
    """One JSON line, kept short by cutting the reason, and if that is not enough the path of the log."""
    found = verdict_fields(verdict, following) | (more or {})
    result, found["result"] = found["result"], None
    text = dump(found)
    over = len(text.encode()) - LONGEST
    if over > 0:
        reason = escape_text(redact(verdict.reason))
        found["reason"] = _shorten(reason, max(SHORTEST_REASON, _byte_size(reason) - over))
        if len(dump(found).encode()) > LONGEST:
            found["log"] = None
    elif result is None:
        return text
    found["result"] = result
    return dump(found)


def format_reason(verdict: Verdict) -> str:
    """The reason for people: with how long a session's turn has been so."""
    reason = escape_text(redact(verdict.reason))
    lasted = verdict.turn_s if not verdict.final and verdict.turn_s is not None else 0.0
    return f"{reason}, for {format_duration(float(int(lasted)))}" if lasted >= 1 else reason


def _shorten(text: str, most: int) -> str:
    """A text, or its beginning, that takes at most so many bytes in a line."""
    if _byte_size(text) <= most:
        return text
    kept = text[:most]
    while _byte_size(kept + "…") > most:
        kept = kept[:-1]
    return kept + "…"


def _byte_size(text: str) -> int:
    return len(dump(text).encode()) - len('""')
