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
from midwatch.replay.model import RunHappening

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


class EvidenceLine(Value):
    """What one line holds."""

    happened: tuple[RunHappening, ...]
    record: Record | None = None
    """Of a line of `show --json`, where the record is still there."""
    torn: int = 0
    """Bytes in it that are no event: a writer was cut off, and went on behind that."""


def decode_line(text: bytes) -> EvidenceLine:
    """One line of evidence, or FormatError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _decode_pieces(text)
    if not isinstance(found, dict) or not ("event" in found or "events" in found):
        raise FormatError("it is no event")
    check_schema(found.get("schema"))
    if "events" not in found:
        return EvidenceLine((decode_happening(found),))
    if not isinstance(found["events"], list) or not all(isinstance(each, dict) for each in found["events"]):
        raise FormatError("its events are no list of events")
    return EvidenceLine(tuple(decode_happening(each) for each in found["events"]), decode_record(found.get("record")))


def check_schema(schema: object) -> None:
    if schema != SCHEMA or isinstance(schema, bool):
        newer = isinstance(schema, int) and schema > SCHEMA
        raise FormatError(f"it is of schema {schema!r:.20}, not {SCHEMA}{f': {NEWER}' if newer else ''}")


def decode_record(found: object) -> Record | None:
    """The record that stands beside events; None where there is none that can be read."""
    try:
        return sentinel.decode_record(json.dumps(found)) if isinstance(found, dict) else None
    except FormatError:
        return None


def _decode_pieces(text: bytes) -> EvidenceLine:
    """A line in which a writer was cut off and another event follows: that event is not lost."""
    parts = journal_codec.split_line(text)
    whole = tuple(happening_from_event(part) for part in parts if isinstance(part, Event))
    if not whole:
        raise FormatError("it is not JSON")
    return EvidenceLine(whole, torn=sum(len(part) for part in parts if isinstance(part, bytes)))


def happening_from_event(event: Event) -> RunHappening:
    """An event as the journal holds it."""
    return decode_happening(
        {**journal_codec.event_body(event), **{key: getattr(event, key) for key in ("run", "n", "at", "name", "event")}}
    )


def decode_happening(found: dict[str, Any]) -> RunHappening:
    """One event, each of its fields being what it should be. Of one that is not a shim's only that it was is taken."""
    try:
        if found["event"] not in KNOWN:
            return RunHappening(
                _to_text(found["name"]),
                _to_text(found["run"]),
                _to_text(found["event"]),
                _to_number(found["at"]) or 0.0,
            )
        return RunHappening(
            name=_to_text(found["name"]),
            run=_to_text(found["run"]),
            event=_to_text(found["event"]),
            at=_to_number(found["at"]) or 0.0,
            n=_to_whole_number(found.get("n")),
            mono=_to_number(found.get("mono")),
            reason=_to_text(found.get("reason") or ""),
            attempt=_to_whole_number(found.get("attempt")),
            policy=sentinel.decode_policy(found["policy"]) if found.get("policy") is not None else None,
            began=_to_number(found.get("began")),
            retries=_to_whole_number(found.get("retries")),
            backoff_s=_to_number(found.get("backoff_s")),
            in_s=_to_number(found.get("in_s")),
            judged=_to_number(found.get("judged")),
            moved=_to_moments(found.get("moved")),
            stale_since=_to_number(found.get("stale_since")),
            since=_to_number(found.get("since")),
            until=_to_number(found.get("until")),
            seconds=_to_number(found.get("seconds")) or 0.0,
            state=_to_text(found.get("state") or ""),
            end=sentinel.decode_end({"elapsed_s": 0.0, "left": [], **found})
            if found["event"] in ("attempt", "ended")
            else None,
        )
    except KeyError as error:
        raise FormatError(f"it is no event: it has no {error.args[0]}") from error
    except (ValueError, TypeError) as error:
        raise FormatError(f"it is no event: {error}"[:120]) from error


def _to_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.20} is no text")  # noqa: TRY004  # one error for all that is wrong
    return value


def _to_number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LARGEST:
        raise ValueError(f"{value!r:.20} is no number that can be")
    return float(value)


def _to_whole_number(value: object) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or abs(value) > LARGEST):
        raise ValueError(f"{value!r:.20} is no whole number")
    return value


def _to_moments(value: object) -> dict[str, float] | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"{value!r:.20} is no table of moments")  # noqa: TRY004
    return {_to_text(source): _to_number(moment) or 0.0 for source, moment in value.items()}
