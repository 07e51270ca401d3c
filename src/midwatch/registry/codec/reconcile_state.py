"""What a reconciler remembers between its passes: which drifts it has told, and how it last saw each row.

``<workspace>.state``: one JSON object. What cannot be read is as if it were not there;
then something may be told twice.
"""

from __future__ import annotations

import hashlib
import json

from midwatch.core.value import Value
from midwatch.registry.model import Drift, RegistryRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeGuard

SCHEMA = 1
TIMES = ("terminated_at", "created_at")
"""Fields of a change that differ each time it is planned."""


class ReconcileRecord(Value):
    told: dict[str, str] = {}  # noqa: RUF012  # of a named tuple, which nobody can change
    """Drifts that stand and were told, each with a digest of what it said."""
    turns: dict[str, str] = {}  # noqa: RUF012
    """What each agent was at."""
    rows: dict[str, str] | None = None
    """Each row with a digest of it; None: never seen."""
    missing: dict[str, float] = {}  # noqa: RUF012
    """Since when (monotonic) sessions are missing whose rows are not marked yet."""
    boot: str = ""
    """The boot that those moments count from."""


def decode_state(text: str) -> ReconcileRecord:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ReconcileRecord()
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        return ReconcileRecord()
    boot, missing = data.get("boot"), data.get("missing")
    moments = {key: at for key, at in missing.items() if isinstance(at, float)} if _is_table(missing) else {}
    return ReconcileRecord(
        _to_texts(data.get("told")), _to_texts(data.get("turns")), _to_texts(data.get("rows")), moments,
        boot if isinstance(boot, str) else "",
    )  # fmt: skip


def encode_state(state: ReconcileRecord) -> str:
    return json.dumps({"schema": SCHEMA, **state._asdict()}, indent=1, sort_keys=True) + "\n"


def format_mark(drift: Drift) -> str:
    return f"{drift.kind}:{drift.session}"


def digest_drift(drift: Drift) -> str:
    after = {key: value for key, value in drift.after.items() if key not in TIMES}
    return _digest_value([drift.before, after])


def digest_row(row: RegistryRow) -> str:
    return _digest_value(row.data)


def _digest_value(what: object) -> str:
    text = json.dumps(what, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _to_texts(found: object) -> dict[str, str]:
    return {key: value for key, value in found.items() if isinstance(value, str)} if _is_table(found) else {}


def _is_table(found: object) -> TypeGuard[dict[str, object]]:
    return isinstance(found, dict)
