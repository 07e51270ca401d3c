"""The status file of a pane: what the program in it reported of itself (OSC 7501), a line of JSON each.

The first line names the process that writes the file. Nobody else hears the reports, so once that process has ended the
file tells what was, not what is.
"""

from __future__ import annotations

import json
from typing import Any

from midwatch.core.errors import FormatError
from midwatch.core.numbers import parse_moment
from midwatch.core.text import visible
from midwatch.core.value import Value
from midwatch.terminal.program_status import StatusRecords

SLACK = 0.05
"""Seconds by which a report may seem older than the process that sent it: both are told in hundredths."""
BUSY = ("working", "blocked")
LONGEST_TEXT = 200
"""Characters that are kept of what a program says of itself."""


class StatusLines(Value):
    """A status file, read."""

    reader: tuple[int, int]
    """Pid and start of the process that writes it."""
    boot: str
    logs: bool
    """It writes the log of a session as well."""
    lines: tuple[dict[str, Any], ...]


class ProgramState(Value):
    """What the reports of one process say together."""

    at: float
    """When that became true, in wall-clock seconds."""
    words: dict[str, str]


def read(text: str) -> StatusLines:
    """The whole lines of a file. FormatError where it is none."""
    whole = text[: text.rfind("\n") + 1].splitlines()
    try:
        head, *lines = [json.loads(line) for line in whole]
        pid, start = head["reader"]
        told = tuple(each for each in lines if _is_dated(each))
        return StatusLines((int(pid), int(start)), str(head["boot"]), head.get("logs") is True, told)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(f"this is no status file: {type(error).__name__}") from None


def _is_dated(line: object) -> bool:
    return isinstance(line, dict) and all(parse_moment(line.get(key)) is not None for key in ("at", "up"))


def combine_reports(found: StatusLines, since: float) -> ProgramState | None:
    """What a process that began ``since`` (seconds after boot) reports; None where it reports nothing (any more)."""
    records, count, at, when = StatusRecords(), 0, 0.0, {"": 0.0}
    for line in found.lines:
        if line.get("up", 0.0) < since - SLACK:
            continue
        event = line.get("event")
        fields = event if isinstance(event, str) else {k: v for k, v in line.items() if k not in ("at", "up")}
        if (isinstance(fields, dict) and "state" not in fields) or not records.take(fields):
            continue
        count, at = count + 1, float(line["at"])
        if isinstance(fields, dict):
            when[str(fields.get("id", ""))] = at
    if not records.of:
        return None
    root = records.of.get("", {})
    parts = {name: each for name, each in records.of.items() if name}
    blocked = next((name for name, each in parts.items() if each["state"] == "blocked"), "")
    busy = [name for name, each in parts.items() if each["state"] in BUSY]
    told = root
    if blocked and root.get("state") not in ("blocked", "error"):
        told, at = parts[blocked], when[blocked]
    elif root:
        at = when[""]
    state = str(told.get("state", "working" if busy else "idle"))
    words = {
        "state": state, "before": records.before, "kind": told.get("kind", ""), "message": told.get("msg", ""),
        "progress": told.get("progress", ""), "title": root.get("title", ""), "app": root.get("app", ""),
        "children": len(busy) or "", "count": count,
    }  # fmt: skip
    return ProgramState(at, {word: visible(str(value))[:LONGEST_TEXT] for word, value in words.items() if value != ""})
