"""The plan of a session's monitor, ``<name>.plan``, as text. What cannot be read is as good as not there."""

from __future__ import annotations

import json

from midwatch.core import names
from midwatch.core.json_text import dump
from midwatch.jobs.monitor_plan import MonitorPlan

SCHEMA = 1
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def encode_plan(plan: MonitorPlan) -> str:
    return dump({"schema": SCHEMA, **plan._asdict()}) + "\n"


def decode_plan(text: str) -> MonitorPlan | None:
    """None for what was not written by Midwatch, or in a later form. Fields that are not known are left out."""
    try:
        found: dict[str, Any] = json.loads(text)
        if found["schema"] != SCHEMA:
            return None
        pid, start = found["monitor"]
        texts = {name: found[name] for name in ("run", "boot", "until", "on_limit", "job", "cwd", "ended")}
        if not all(isinstance(each, str) for each in (*texts.values(), *found["arguments"])):
            return None
        if found["job"] and names.find_problem(found["job"]):
            return None
        return MonitorPlan(
            **texts, monitor=(int(pid), int(start)), continues=int(found["continues"]),
            arguments=tuple(found["arguments"]),
        )  # fmt: skip
    except (ValueError, OverflowError, TypeError, LookupError, AttributeError, RecursionError):
        return None
