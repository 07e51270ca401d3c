"""Recorded events of jobs as the judge takes them again: lines of a spool, of `events --json`, of `show --json`.

What an event says that the judge has no use for is passed over; what it says wrongly is a FormatError.
"""

from __future__ import annotations

import json

from midwatch.core.errors import FormatError
from midwatch.core.event import Event
from midwatch.core.job_model import Record
from midwatch.core.value import Value
from midwatch.jobs.codec import sentinel
from midwatch.journal import codec as journal_codec
from midwatch.replay.model import Happened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
NEWER = "it was written by a newer Midwatch; replay it with that one"
LARGEST = 1e18
KNOWN = {
    "started", "quiet", "stale", "stuck", "moved", "suspended", "continued", "lost", "undecided", "stopping", "attempt",
    "retrying", "ended",
}  # fmt: skip
"""What a shim notes."""


class Line(Value):
    """What one line holds."""

    happened: tuple[Happened, ...]
    record: Record | None = None
    """Of a line of `show --json`, where the record is still there."""
    torn: int = 0
    """Bytes in it that are no event: a writer was cut off, and went on behind that."""


def line(text: bytes) -> Line:
    """One line of evidence, or FormatError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _pieces(text)
    if not isinstance(found, dict) or not ("event" in found or "events" in found):
        raise FormatError("it is no event")
    check_schema(found.get("schema"))
    if "events" not in found:
        return Line((happened(found),))
    if not isinstance(found["events"], list) or not all(isinstance(each, dict) for each in found["events"]):
        raise FormatError("its events are no list of events")
    return Line(tuple(happened(each) for each in found["events"]), record(found.get("record")))


def check_schema(schema: object) -> None:
    if schema != SCHEMA or isinstance(schema, bool):
        newer = isinstance(schema, int) and schema > SCHEMA
        raise FormatError(f"it is of schema {schema!r:.20}, not {SCHEMA}{f': {NEWER}' if newer else ''}")


def record(found: object) -> Record | None:
    """The record that stands beside events; None where there is none that can be read."""
    try:
        return sentinel.record(json.dumps(found)) if isinstance(found, dict) else None
    except FormatError:
        return None


def _pieces(text: bytes) -> Line:
    """A line in which a writer was cut off and another event follows: that event is not lost."""
    parts = journal_codec.parts(text)
    whole = tuple(remembered(part) for part in parts if isinstance(part, Event))
    if not whole:
        raise FormatError("it is not JSON")
    return Line(whole, torn=sum(len(part) for part in parts if isinstance(part, bytes)))


def remembered(event: Event) -> Happened:
    """An event as the journal holds it."""
    return happened(
        {**journal_codec.body(event), **{key: getattr(event, key) for key in ("run", "n", "at", "name", "event")}}
    )


def happened(found: dict[str, Any]) -> Happened:
    """One event, each of its fields being what it should be. Of one that is not a shim's only that it was is taken."""
    try:
        if found["event"] not in KNOWN:
            return Happened(
                _text(found["name"]), _text(found["run"]), _text(found["event"]), _number(found["at"]) or 0.0
            )
        return Happened(
            name=_text(found["name"]),
            run=_text(found["run"]),
            event=_text(found["event"]),
            at=_number(found["at"]) or 0.0,
            n=_whole(found.get("n")),
            mono=_number(found.get("mono")),
            reason=_text(found.get("reason") or ""),
            attempt=_whole(found.get("attempt")),
            policy=sentinel.policy(found["policy"]) if found.get("policy") is not None else None,
            began=_number(found.get("began")),
            retries=_whole(found.get("retries")),
            backoff_s=_number(found.get("backoff_s")),
            in_s=_number(found.get("in_s")),
            judged=_number(found.get("judged")),
            moved=_moments(found.get("moved")),
            stale_since=_number(found.get("stale_since")),
            since=_number(found.get("since")),
            until=_number(found.get("until")),
            seconds=_number(found.get("seconds")) or 0.0,
            state=_text(found.get("state") or ""),
            end=sentinel.end({"elapsed_s": 0.0, "left": [], **found})
            if found["event"] in ("attempt", "ended")
            else None,
        )
    except KeyError as error:
        raise FormatError(f"it is no event: it has no {error.args[0]}") from error
    except (ValueError, TypeError) as error:
        raise FormatError(f"it is no event: {error}"[:120]) from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.20} is no text")  # noqa: TRY004  # one error for all that is wrong
    return value


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST:
        raise ValueError(f"{value!r:.20} is no number that can be")
    return float(value)


def _whole(value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST):
        raise ValueError(f"{value!r:.20} is no whole number")
    return value


def _moments(value: object) -> dict[str, float] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{value!r:.20} is no table of moments")  # noqa: TRY004
    return {_text(source): _number(moment) or 0.0 for source, moment in value.items()}
