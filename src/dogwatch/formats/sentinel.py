"""The files of a sentinel directory: record, seen, beat, pid, result (``docs/files.md``)."""

from __future__ import annotations

import json

from dogwatch.model.errors import FormatError
from dogwatch.model.facts import Beat, End, Identity, Record, Result, Seen, Source
from dogwatch.model.policy import Policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
SUFFIXES = ("json", "pid", "heartbeat", "log", "result", "status", "seen", "beat")


def record(text: str) -> Record:
    """Read ``<name>.json``. Fields that a later version added are passed over."""
    try:
        found: dict[str, Any] = json.loads(text)
        _check_schema(found)
        place = (found["host"], found["boot"], found["pidns"])
        end = found["end"]
        return Record(
            name=found["name"],
            run=found["run"],
            command=tuple(found["command"]),
            cwd=found["cwd"],
            policy=policy(found["policy"]),
            started=found["started"],
            started_mono=found["started_mono"],
            shim=Identity(*place, found["shim"]["pid"], found["shim"]["start"]),
            work=Identity(*place, found["work"]["pid"], found["work"]["start"]),
            notes=tuple(found["notes"]),
            end=None if end is None else _end(end),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"its record cannot be read: {_short(error)}") from error


def _end(found: dict[str, Any]) -> End:
    left = tuple((process["command"], process["pid"]) for process in found["left"])
    return End(
        found["state"], found["exit_code"], found["signal"], found["reason"], found["at"], found["elapsed_s"], left
    )


def policy(found: dict[str, Any]) -> Policy:
    return Policy(
        found["name"], found["stale_s"], found["grace_s"], found["timeout_s"], found["heartbeat_s"],
        found["on_stuck"], tuple(found["progress"]),
    )  # fmt: skip


def seen(text: str) -> Seen:
    """Read ``<name>.seen``."""
    try:
        found: dict[str, Any] = json.loads(text)
        _check_schema(found)
        sources = {k: Source(float(v["value"]), v["at"], v["moved"]) for k, v in found["sources"].items()}
        return Seen(
            found["run"], found["boot"], found["at"], found["stale_since"], found["stuck"], sources,
            found["helper"], found["own_cpu_s"], found["own_io"],
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"its notes (.seen) cannot be read: {_short(error)}") from error


def beat(text: str) -> Beat:
    """Read ``<name>.beat``."""
    try:
        found: dict[str, Any] = json.loads(text)
        _check_schema(found)
        progress = found["progress"]
        return Beat(str(found["note"]), None if progress is None else float(progress))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FormatError(f"its last beat cannot be read: {_short(error)}") from error


def pid(text: str) -> int:
    try:
        number = int(text.strip())
    except ValueError:
        raise FormatError(f"its pid file holds {text.strip()[:20]!r}, not a number") from None
    if not 1 < number < 1 << 22:
        raise FormatError(f"its pid file holds {number}, which no job can have")
    return number


def result(text: str) -> Result:
    try:
        return Result(valid=True, value=json.loads(text, parse_constant=_no_number))
    except (ValueError, RecursionError):
        return Result(valid=False, value=None)


def _no_number(word: str) -> None:
    raise ValueError(f"{word} is not JSON, whatever Python says")


def _check_schema(found: dict[str, Any]) -> None:
    if found["schema"] != SCHEMA:
        raise ValueError(f"schema {found['schema']} is not {SCHEMA}; was it written by a newer Dogwatch?")


def _short(error: Exception) -> str:
    return f"{type(error).__name__} {error}"[:80]
