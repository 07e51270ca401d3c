"""The files of an outbox, and what a watcher tells the one who delivers: values as one JSON object each."""

from __future__ import annotations

import json

from midwatch.core.errors import FormatError
from midwatch.notifications.model import Change, ChangeSubject, Notification, NotificationState, SentAt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
LATEST = 1e18
KINDS: dict[Any, dict[str, tuple[type, ...]]] = {
    Notification: {
        "id": (str,), "name": (str,), "run": (str,), "fields": (dict,), "channel": (str,), "project": (str,),
        "filed": (int, float), "tries": (int,), "again": (int, float), "trouble": (str,), "number": (int,),
        "kind": (str,), "began": (int, float), "sent": (dict,), "server": (list,), "members": (list,),
    },
    SentAt: {"at": (int, float), "boot": (str,)},
    NotificationState: {
        "state": (str,), "final": (bool,), "open": (bool,), "at": (int, float), "boot": (str,),
        "number": (int,), "planned": (bool,), "cause": (str,), "began": (int, float),
    },
    ChangeSubject: {
        "run": (str,), "agent": (str,), "pane": (str,), "where": (str,), "session": (str,), "attach": (str,),
        "server": (list,), "ours": (bool,),
    },
    Change: {
        "name": (str,), "about": (dict,), "state": (str,), "final": (bool,), "reason": (str,), "following": (str,),
        "at": (int, float), "boot": (str,), "wall": (int, float), "project": (str,), "since": (int, float, type(None)),
        "cause": (str,), "until": (str,), "message": (str,), "goes_on": (bool,),
        "planned": (bool,), "began": (int, float),
    },
}  # fmt: skip
"""What each field may be."""
LATER: dict[Any, dict[str, Any]] = {
    Notification: {"number": 0, "kind": "change", "began": 0.0, "sent": {"at": 0.0, "boot": ""}, "server": [],
                   "members": []},
    NotificationState: {"planned": False, "cause": "", "began": 0.0},
    ChangeSubject: {"server": [], "ours": False},
    Change: {"planned": False, "began": 0.0},
}  # fmt: skip
"""Fields that files of earlier releases do not have."""
PARTS: dict[str, Any] = {"about": ChangeSubject, "sent": SentAt}
"""Fields that hold another value."""


def encode_value(value: Notification | NotificationState | Change) -> str:
    found = value._asdict()
    for part in PARTS.keys() & found.keys():
        found[part] = found[part]._asdict()
    return json.dumps({"schema": SCHEMA, **found}) + "\n"


def decode_notification(text: str) -> Notification:
    found: Notification = _decode(Notification, text)
    if not all(isinstance(value, str) for value in found.fields.values()):
        raise FormatError("a notice cannot be read: a field is no text")
    return found


def decode_state(text: str) -> NotificationState:
    found: NotificationState = _decode(NotificationState, text)
    return found


def decode_change(text: str) -> Change:
    found: Change = _decode(Change, text)
    return found


def _decode(kind: Any, text: str) -> Any:
    """A value of a kind. FormatError for any text that is none."""
    try:
        found = json.loads(text)
        if not isinstance(found, dict) or repr(found.pop("schema", None)) != repr(SCHEMA):
            raise ValueError(f"not an object of schema {SCHEMA}")  # noqa: TRY301
        return _build_value(kind, found)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"a {kind.__name__.lower()} cannot be read: {type(error).__name__} {error}"[:120]) from error


def _build_value(kind: Any, found: dict[str, Any]) -> Any:
    kinds = KINDS[kind]
    found = {**LATER.get(kind, {}), **found}
    for key, allowed in kinds.items():
        value: Any = found.get(key)
        odd = isinstance(value, bool) != (bool in allowed) or not isinstance(value, allowed)
        if key not in found or odd or (isinstance(value, int | float) and not abs(value) < LATEST):
            raise ValueError(f"{key} is {value!r:.20}")
        if allowed == (list,):
            found[key] = _read_texts(key, value)
        elif key in PARTS:
            found[key] = _build_value(PARTS[key], value)
    return kind(*(found[key] for key in kinds))


def _read_texts(key: str, value: list[Any]) -> tuple[str, ...]:
    if not all(isinstance(each, str) for each in value):
        raise ValueError(f"{key} holds more than texts")
    return tuple(value)
