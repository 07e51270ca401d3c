"""What a reconciler remembers between its passes: which drifts it has told, and how it last saw each row.

``<workspace>.state``: one JSON object. What cannot be read is as if it were not there;
then something may be told twice.
"""

from __future__ import annotations

import hashlib
import json

from dogwatch.model.registry import Drift, Row
from dogwatch.model.value import Value

SCHEMA = 1
TIMES = ("terminated_at", "created_at")
"""Fields of a change that differ each time it is planned."""


class State(Value):
    told: dict[str, str] = {}  # noqa: RUF012  # of a named tuple, which nobody can change
    """Drifts that stand and were told, each with a digest of what it said."""
    turns: dict[str, str] = {}  # noqa: RUF012
    """What each agent was at."""
    rows: dict[str, str] | None = None
    """Each row with a digest of it; None: never seen."""


def read(text: str) -> State:
    try:
        data = json.loads(text)
    except ValueError:
        return State()
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        return State()
    return State(_words(data.get("told")), _words(data.get("turns")), _words(data.get("rows")))


def encode(state: State) -> str:
    return json.dumps({"schema": SCHEMA, **state._asdict()}, indent=1, sort_keys=True) + "\n"


def mark(drift: Drift) -> str:
    return f"{drift.kind}:{drift.session}"


def digest(drift: Drift) -> str:
    after = {key: value for key, value in drift.after.items() if key not in TIMES}
    return _digest([drift.before, after])


def row_digest(row: Row) -> str:
    return _digest(row.data)


def _digest(what: object) -> str:
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _words(found: object) -> dict[str, str]:
    table = found if isinstance(found, dict) else {}
    return {key: value for key, value in table.items() if isinstance(value, str)}
