"""Stands in for beads' program: `create`, `comments add` and `close` with --json, one writer at a time."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path


def main() -> int:
    verb, *words = sys.argv[1:]
    at = words.index("--")
    flags = dict(word.partition("=")[::2] for word in words[:at])
    rest = words[at + 1 :]
    place = Path(os.environ["BEADS_DIR"]) / "issues.jsonl"
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        issues = [json.loads(line) for line in place.read_text().splitlines()]
        now = datetime.now(UTC).isoformat()
        if verb == "create":
            parent = flags.get("--parent", "")
            own = f"{parent or 'proj-new'}.{len(issues) + 1}"
            link = {"issue_id": own, "depends_on_id": parent, "type": "parent-child"}
            found = {
                "id": own, "title": rest[0], "status": "open", "priority": 2, "issue_type": "task", "created_at": now,
                "labels": flags["--labels"].split(","), "dependencies": [link] if parent else [],
            }  # fmt: skip
            issues.append(found)
        else:
            named = [issue for issue in issues if issue["id"] == rest[0]]
            if not named:
                print(json.dumps({"error": {"code": "NOT_FOUND", "message": f"Issue not found: {rest[0]}"}}))
                return 3
            found = named[0]
            if verb == "close":
                found |= {"status": "closed", "closed_at": now, "close_reason": flags["--reason"]}
            else:
                found.setdefault("comments", []).append({"id": 1, "text": rest[1], "created_at": now})
        found["updated_at"] = now
        fresh = place.with_suffix(".new")
        fresh.write_text("".join([json.dumps(issue) + "\n" for issue in issues]))
        fresh.rename(place)
    print(json.dumps(found))
    return 0


sys.exit(main())
