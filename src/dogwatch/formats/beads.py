"""Beads' ``issues.jsonl``: one object per line; of an id that stands there twice the last one counts."""

from __future__ import annotations

import json

PLACE = ".beads/issues.jsonl"


def statuses(text: str) -> dict[str, str]:
    """Every bead with its status. Lines that are none are passed over."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        try:
            issue = json.loads(line)
        except ValueError:
            continue
        if isinstance(issue, dict) and isinstance(issue.get("id"), str) and isinstance(issue.get("status"), str):
            found[issue["id"]] = issue["status"].lower()
    return found
