"""The notes of a session's monitor, ``<name>.watch``, as text. What cannot be read is as good as not there."""

from __future__ import annotations

import json

from midwatch.agents.turn_model import Departure, SessionMemory, TrackedValue
from midwatch.core.foreign_text import ForeignText, escape_text
from midwatch.core.json_text import dump
from midwatch.core.process_state import format_process, parse_process
from midwatch.core.verdict import Verdict
from midwatch.jobs.monitor_state import MonitorState

SCHEMA = 1
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def encode_state(watch: MonitorState) -> str:
    found: dict[str, Any] = {"schema": SCHEMA, **watch._asdict()}
    if watch.memory is not None:
        moved = {name: list(each) for name, each in watch.memory.moved.items()}
        found["memory"] = {**watch.memory._asdict(), "moved": moved}
    if watch.verdict is not None:
        found["verdict"] = _encode_verdict(watch.verdict)
    return dump(found) + "\n"


def decode_state(text: str) -> MonitorState | None:
    """None for what was not written by this version, or by us at all."""
    try:
        found: dict[str, Any] = json.loads(text)
        if found.pop("schema") != SCHEMA:
            return None
        memory, verdict = found["memory"], found["verdict"]
        return MonitorState(**{
            **found,
            "began": float(found["began"]),
            "at": float(found["at"]),
            "resumes": int(found["resumes"]),
            "monitor": _decode_pair(found["monitor"]),
            "agent": _decode_pair(found["agent"]),
            "patience": (float(found["patience"][0]), float(found["patience"][1])),
            "memory": None if memory is None else _decode_memory(memory),
            "verdict": None if verdict is None else _decode_verdict(verdict),
        })  # fmt: skip
    except (ValueError, OverflowError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def _decode_pair(found: list[int]) -> tuple[int, int]:
    pid, start = found
    return int(pid), int(start)


def _decode_memory(found: dict[str, Any]) -> SessionMemory:
    pending, clock, limit = found["pending"], found.get("clock"), found.get("limit")
    return SessionMemory(**{
        **found,
        "limit": None if limit is None else (str(limit[0]), float(limit[1])),
        "clock": None if clock is None else (clock[0], float(clock[1])),
        "pending": None if pending is None else (pending[0], float(pending[1])),
        "sayings": {source: (said[0], float(said[1])) for source, said in found["sayings"].items()},
        "moved": {name: TrackedValue(*each) for name, each in found["moved"].items()},
        "tools": tuple(map(float, found["tools"])),
        "left": Departure(*found.get("left", ())),
    })  # fmt: skip


def _decode_verdict(found: dict[str, Any]) -> Verdict:
    matched = found["matched"]
    return Verdict(**{
        **found,
        "reason": escape_text(found["reason"]),
        "process": parse_process(str(found["process"])),
        "until": ForeignText(found["until"]),
        "message": ForeignText(found["message"]),
        "matched": None if matched is None else ForeignText(matched),
        "evidence": (),
        "against": (),
    })  # fmt: skip


def _encode_verdict(verdict: Verdict) -> dict[str, Any]:
    """Without what explains it: whoever reads this looks afresh."""
    found = verdict._replace(evidence=(), against=(), beat=None, result=None, deadline=None)._asdict()
    found["process"] = format_process(verdict.process)
    del found["doubts"], found["limit"]  # earlier releases take no field that they do not know
    return found
