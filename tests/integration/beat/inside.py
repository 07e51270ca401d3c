"""A verb of ours that runs inside a job, and what is said of that job."""

from __future__ import annotations

import sys
from typing import Any

from tests.conftest import Box, until

STALE, GRACE = 3.0, 1.0
IMPATIENT = ("--stale", f"{STALE:g}s", "--grace", f"{GRACE:g}s", "--progress")
MIDWATCH = (sys.executable, "-m", "midwatch")
JOB = "watcher"


def inside(box: Box, *command: str, progress: str = "beat", **env: str) -> None:
    """Run a command as a job that is suspected soon. Of all signs of progress only these count."""
    given = [word for key, value in env.items() for word in ("--env", f"{key}={value}")]
    box = jobs_of(box)
    begun = box("run", "-d", "--name", JOB, *IMPATIENT, progress, *given, "--", *command)
    assert begun.code == 0, begun


def jobs_of(box: Box) -> Box:
    """The same place, with `midwatch` as its program."""
    found = Box(box.cwd)
    found.dir, found.env, found.program = box.dir, box.env, list(MIDWATCH)
    return found


def is_suspected(box: Box) -> bool:
    return bool({"stale", "stuck", "ended"} & {line["event"] for line in box.events(JOB)})


def last_beat(box: Box) -> float:
    """When it last beat, in seconds since it was started; 0 for never."""
    path = box.drop(f"{JOB}.beat")
    return max(0.0, path.stat().st_mtime - box.record(JOB)["started"]) if path.exists() else 0.0


def state(box: Box) -> dict[str, Any]:
    return jobs_of(box)("why", JOB, "--json").json


def stays_working(box: Box) -> None:
    """Watch it until it has beaten long after it would have been stuck; it is never even suspected."""
    until(lambda: last_beat(box) > 1.5 * (STALE + GRACE) or is_suspected(box))
    log = box.path(f"{JOB}.log").read_text()
    assert not is_suspected(box), (box.events(JOB), log)
    assert state(box)["state"] == "working", log


def becomes_stuck(box: Box) -> None:
    until(lambda: state(box)["state"] == "stuck" or "ended" in {line["event"] for line in box.events(JOB)})
    assert state(box)["state"] == "stuck", box.path(f"{JOB}.log").read_text()
