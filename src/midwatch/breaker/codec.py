"""The files of a breaker: a line per happening, and the bookmark that spares reading all of them again."""

from __future__ import annotations

import json

from midwatch.breaker.model import (
    AttemptOutcome,
    Closed,
    Failure,
    Happening,
    Ledger,
    Open,
    Reset,
    RunningAttempt,
    SetBack,
    Started,
    State,
    TrialRun,
    Trip,
    Tripped,
    Void,
)
from midwatch.core import names
from midwatch.core.errors import FormatError
from midwatch.core.value import Value
from midwatch.core.verdict import FINAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SCHEMA = 1
WHAT: dict[str, Any] = {
    "started": Started, "outcome": AttemptOutcome, "void": Void, "reset": Reset, "trip": Trip, "clock": SetBack,
}  # fmt: skip
WORDS = {kind: word for word, kind in WHAT.items()}
STATES: dict[str, Any] = {"closed": Closed, "open": Open, "trial": TrialRun, "tripped": Tripped}
STATE_WORDS = {kind: word for word, kind in STATES.items()}
ENDS = (*FINAL, "stuck", "unknown")
LATEST = 1e18
LONGEST_TEXT = 200
"""Characters of a reason: with it a line stays below 4 kB, which is written in one piece."""
MANY = 1 << 31


class Bookmark(Value):
    """What followed from the beginning of a file, up to a byte."""

    upto: int
    check: int
    """Of the bytes before it: whether it is still the same file."""
    threshold: int
    ledger: Ledger


# Lines


def encode_happening(happening: Happening) -> str:
    what = WORDS[type(happening)]
    found = {"schema": SCHEMA, "at": happening.at, "what": what, **happening._asdict()}
    if "reason" in found:
        found["reason"] = str(found["reason"])[:LONGEST_TEXT]
    if not found.get("over", True):
        del found["over"]
    return json.dumps(found) + "\n"


def decode_happening(text: str) -> Happening:
    try:
        found = _load(text)
        made: Happening = _build(_find_kind(WHAT, found.get("what")), found)
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"{type(error).__name__} {error}"[:80]) from error
    return made


def decode_lines(data: bytes) -> tuple[list[Happening], list[str]]:
    """All that the whole lines say, and what is wrong with those that say nothing to us."""
    made, wrong = [], []
    for each in data[: data.rfind(b"\n") + 1].split(b"\n"):
        if each.strip():
            try:
                made.append(decode_happening(each.decode("utf-8", "replace")))
            except FormatError as error:
                wrong.append(str(error))
    return made, wrong


# The bookmark


def encode_bookmark(bookmark: Bookmark) -> str:
    state, running = bookmark.ledger
    return json.dumps({
        "schema": SCHEMA, "upto": bookmark.upto, "check": bookmark.check, "threshold": bookmark.threshold,
        "state": {"is": STATE_WORDS[type(state)], **_to_plain_object(state)},
        "running": {run: _to_plain_object(each) for run, each in running.items()},
    })  # fmt: skip


def decode_bookmark(text: str) -> Bookmark:
    try:
        found = _load(text)
        state, running = _to_object(found.get("state")), _to_object(found.get("running"))
        made: State = _build(_find_kind(STATES, state.get("is")), state)
        known = {_to_text(run): _build(RunningAttempt, _to_object(each)) for run, each in running.items()}
        upto, check, threshold = (_to_whole_number(found.get(key)) for key in ("upto", "check", "threshold"))
        return Bookmark(upto, check, threshold, Ledger(made, known))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"the bookmark cannot be read: {error}"[:80]) from error


def _to_plain_object(value: Any) -> dict[str, object]:
    return {
        key: _to_plain_object(each) if isinstance(each, Failure | Open) else each
        for key, each in value._asdict().items()
    }


# Fields


def _load(text: str) -> dict[str, object]:
    found = _to_object(json.loads(text))
    if found.get("schema") != SCHEMA:
        raise ValueError(f"schema {found.get('schema')!r:.20} is not {SCHEMA}; was it written by a newer Midwatch?")
    return found


def _find_kind(known: dict[str, Any], word: object) -> Any:
    if not isinstance(word, str) or word not in known:
        raise ValueError(f"{word!r:.20} is none of {', '.join(known)}")
    return known[word]


def _build(kind: Any, found: dict[str, object]) -> Any:
    if kind is Closed and found.get("last") is None:
        return Closed(_to_whole_number(found.get("failures")))
    return kind(*(FIELDS[field](found.get(field)) for field in kind._fields))


def _to_object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise ValueError(f"{value!r:.20} is not an object")  # noqa: TRY004  # one error for all that is wrong
    return value


def _to_moment(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LATEST:
        raise ValueError(f"{value!r:.20} is not a time")
    return float(value)


def _to_whole_number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 1 << 62:
        raise ValueError(f"{value!r:.20} is not a number")
    return value


def _to_attempt(value: object) -> int:
    if _to_whole_number(value) > MANY:
        raise ValueError(f"there is no attempt {value!r:.20}")
    return _to_whole_number(value)


def _to_flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{value!r:.20} is neither true nor false")  # noqa: TRY004
    return value


def _to_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.20} is not a text")  # noqa: TRY004
    return value


def _to_name(value: object) -> str:
    if wrong := names.find_problem(_to_text(value)):
        raise ValueError(f"a name {wrong}")
    return _to_text(value)


def _to_attempts(value: object) -> tuple[tuple[str, int], ...]:
    """Runs with the number of an attempt each. Lines of earlier releases have none."""
    if not isinstance(value, list | None):
        raise ValueError(f"{value!r:.20} is not a list")  # noqa: TRY004
    return tuple([(_to_name(run), _to_attempt(attempt)) for run, attempt in value or ()])


def _to_end_state(value: object) -> str:
    if value not in ENDS:
        raise ValueError(f"it ended as {value!r:.20}")
    return _to_text(value)


FIELDS: dict[str, Callable[[object], Any]] = {
    "at": _to_moment, "since": _to_moment, "run": _to_name, "name": _to_name, "trial": _to_flag, "attempt": _to_attempt,
    "state": _to_end_state, "reason": _to_text, "failures": _to_whole_number, "over": _to_attempts,
    "last": lambda value: _build(Failure, _to_object(value)), "before": lambda value: _build(Open, _to_object(value)),
}  # fmt: skip
