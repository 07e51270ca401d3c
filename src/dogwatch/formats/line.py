"""A verdict as one line: JSON for machines, words for people."""

import json

from dogwatch.model.verdict import Verdict
from dogwatch.model.words import in_words

SCHEMA = 1
LONGEST = 500
"""Bytes of a JSON line without its result: it goes into someone's context window."""
SHORTEST_REASON = 40
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def fields(verdict: Verdict, following: str) -> dict[str, object]:
    elapsed = verdict.elapsed_s
    return {
        "schema": SCHEMA,
        "name": verdict.name,
        "kind": verdict.kind,
        "state": verdict.state,
        "final": verdict.final,
        "cause": verdict.cause or None,
        "reason": verdict.reason,
        "exit_code": verdict.exit_code,
        "signal": verdict.signal,
        "elapsed_s": None if elapsed is None else round(elapsed, 3),
        **({"message": verdict.message or None, "doubts": verdict.doubts} if verdict.kind == "session" else {}),
        "result": verdict.result,
        "log": verdict.log,
        "next": following,
    }


def encode(verdict: Verdict, following: str) -> str:
    """One JSON line, kept short by cutting the reason, and if that is not enough the path of the log."""
    found = fields(verdict, following)
    result, found["result"] = found["result"], None
    text = dump(found)
    over = len(text.encode()) - LONGEST
    if over > 0:
        found["reason"] = _cut(verdict.reason, max(SHORTEST_REASON, len(verdict.reason) - over - 2))
        if len(dump(found).encode()) > LONGEST:
            found["log"] = None
    elif result is None:
        return text
    found["result"] = result
    return dump(found)


def worded(verdict: Verdict) -> str:
    """The reason for people: with how long a session's turn has been so."""
    lasted = verdict.turn_s if not verdict.final and verdict.turn_s is not None else 0.0
    return f"{verdict.reason}, for {in_words(float(int(lasted)))}" if lasted >= 1 else verdict.reason


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"


def dump(found: object) -> str:
    """One line of JSON that is UTF-8 whatever is in it."""
    text = ENCODER.encode(found)
    try:
        text.encode()
    except UnicodeEncodeError:  # a path that is not UTF-8
        return json.dumps(found, separators=(",", ":"))
    return text
