"""Events as lines: what shims append to their spools, what `midwatch events` prints, and words for people.

Only six fields mean something here; all else is a body that is passed on as it came. Everything is written in ASCII,
so no reader can find an end of line, or a character that is not UTF-8, inside an event.
"""

from __future__ import annotations

import json
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quote

from midwatch.core import names
from midwatch.core.errors import FormatError
from midwatch.core.event import Event
from midwatch.core.json_text import escape
from midwatch.core.redaction import redact, redact_value
from midwatch.core.text import format_duration, signal_name, visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
BEGINNING = b'{"schema"'
"""How each line of a shim begins. It cannot stand inside a text: quotes are escaped there."""
LONGEST = 1 << 20
"""Bytes of a line that is read at all."""
KEPT = 200
"""Bytes that are kept of a line that cannot be read."""
MOST_PIECES = 64
"""Pieces of one line that are looked through for an event."""
LARGEST = 1 << 53
LATEST = 1e11
"""A time that a calendar can still name."""
OWN = ("schema", "seq", "run", "n", "at", "name", "event")
UNTOLD = (
    "mono", "judged", "moved", "stale_since", "policy", "foreground", "left", "began", "retries", "backoff_s", "before",
    "after", "applied", "registry", "evidence", "subject", "parent", "final", "monitor",
)  # fmt: skip
"""Fields of a body that serve a replay or a program, and tell a person nothing that the rest does not."""
DURATIONS = {"seconds": "for ", "in_s": "in ", "elapsed_s": "after "}
UNREADABLE = "unreadable"
CHANGED = "changed"
"""The state of a subject changed, as the feed of subjects saw it."""
KINDS = (str, int | None, float, str, str, str, int)
"""What the fields of an event are."""


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON, whatever Python says")


_scan = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode
_dump = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


@lru_cache(maxsize=4096)
def _check_word(word: object) -> str:
    if not isinstance(word, str) or names.find_problem(word):
        raise ValueError(f"{word!r:.20} is not a plain word")
    return word


def decode_event(line: bytes) -> Event:
    """One line of a spool. FormatError when it is not one."""
    try:
        text = line.decode()
        found, end = _scan(text)
        if text[end:].strip() or not isinstance(found, dict) or found.pop("schema", None) != SCHEMA:
            raise ValueError(f"it is not one object of schema {SCHEMA}")  # noqa: TRY301
        n, at = found.pop("n"), found.pop("at")
        if type(n) is not int or not 0 < n < LARGEST or type(at) not in (int, float) or not 0 <= at < LATEST:
            raise ValueError(f"number {n!r:.20} at {at!r:.20}")  # noqa: TRY301
        run, name, event = (_check_word(found.pop(key)) for key in ("run", "name", "event"))
        found.pop("seq", None)
        return Event(run, n, float(at), name, event, _dump(redact_value(found)))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"not an event: {type(error).__name__} {error}"[:80]) from error


def split_line(line: bytes) -> list[Event | bytes]:
    """What stands in a line: an event, or bytes that are none.

    A writer that was cut off in the middle (a full disk) goes on behind what it left there; that event is not lost.
    """
    found: list[Event | bytes] = []
    while (whole := _try_decode(line)) is None:
        behind, at = _find_event_behind(line)
        if behind is None:
            return [line, *found]
        found.insert(0, behind)
        line = line[:at]
    return [whole, *found]


def _find_event_behind(line: bytes) -> tuple[Event | None, int]:
    """The first whole event that something else stands before, and where it begins."""
    at = 0
    for _ in range(MOST_PIECES):
        at = line.find(BEGINNING, at + 1)
        if at < 0:
            break
        if event := _try_decode(line[at:]):
            return event, at
    return None, 0


def _try_decode(line: bytes) -> Event | None:
    try:
        return decode_event(line)
    except FormatError:
        return None


def unreadable_event(name: str, run: str, place: int, said: bytes, size: int, at: float) -> Event:
    """What is remembered of bytes that are no event. Their place in the file makes them one of a kind, below 0."""
    body = {"text": redact(said[:KEPT].decode("utf-8", "replace")), "bytes": size, "place": place}
    return Event(run, -1 - place, min(max(at, 0.0), LATEST / 2), name, UNREADABLE, _dump(body))


def uncounted_event(run: str, at: float, name: str, event: str, body: dict[str, object]) -> Event:
    """An event that no shim counted."""
    return Event(run, None, at, name, event, _dump(redact_value({key: body[key] for key in body if key not in OWN})))


def event_from_row(row: tuple[Any, ...]) -> Event:
    """A row of a journal. FormatError when it is none: a damaged file may hold anything in any place."""
    found = Event(*row)
    fits = all(isinstance(value, kinds) for value, kinds in zip(row, KINDS, strict=True))
    if not fits or not abs(found.at) < LATEST or not found.body.isascii() or not _is_object(found.body):
        raise FormatError(f"row {found.seq!r:.20} is no event")
    if redact(found.body) == found.body:
        return found
    return found._replace(body=_dump(redact_value(event_body(found))))  # an earlier release kept it as it came


def _is_object(text: str) -> bool:
    try:
        found, end = _scan(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and end == len(text)


def encode_event(event: Event) -> str:
    """The line of `midwatch events --json`."""
    number = "null" if event.n is None else event.n
    head = (
        f'{{"schema":{SCHEMA},"seq":{event.seq},"run":{quote(event.run)},"n":{number},"at":{event.at!r},'
        f'"name":{quote(event.name)},"event":{quote(event.event)}'
    )
    return escape(head + ("}" if event.body == "{}" else "," + event.body[1:]))


def event_body(event: Event) -> dict[str, object]:
    found: dict[str, object] = _scan(event.body)[0]
    return found


# Words ----------------------------------------------------------------------------------------------------------


def format_event(event: str, said: dict[str, object]) -> str:
    """An event's body as a person would say it; the event itself is told beside it."""
    said = {key: value for key, value in said.items() if key not in UNTOLD and value not in (None, "")}
    told = []
    if (attempt := said.pop("attempt", 1)) != 1 or event == "attempt":
        told.append(f"attempt {_format_value(attempt)}")
    if state := said.pop("state", ""):
        told.append(_format_value(state))
    if "exit_code" in said:
        told.append(f"exit {_format_value(said.pop('exit_code'))}")
    if isinstance(number := said.pop("signal", None), int):
        told.append(f"{'killed ' if state else ''}by {signal_name(number)}")
    since, until = _to_seconds(said.pop("since", None)), _to_seconds(said.pop("until", None))
    if since is not None and until is not None:
        said["seconds"] = round(until - since, 1)
    for key, before in DURATIONS.items():
        if key in said and (seconds := _to_seconds(said.pop(key))) is not None:
            told.append(f"{before}{format_duration(max(0.0, seconds))}")
    reason = _format_value(said.pop("reason", ""))
    told += [f"{key} {_format_value(value)}" for key, value in said.items()]
    return visible(": ".join(part for part in (", ".join(told), reason) if part))


def _format_value(value: object) -> str:
    return value if isinstance(value, str) else _dump(value)


def _to_seconds(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < LATEST else None
