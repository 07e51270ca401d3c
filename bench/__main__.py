"""Run every story, print one table, leave it as JSON in build/bench.json.

Ends with 0 although a goal is missed, and with 1 if one was not measured.
"""

import json
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator

from bench import (
    capture,
    classify,
    deaths,
    hook,
    journal,
    listing,
    many,
    nights,
    notice,
    panes,
    reconcile,
    registry,
    sessions,
    startup,
    story,
    wrapper,
)
from bench.idle import Idle
from bench.stage import Stage
from bench.table import NOT_MEASURED, Row, render
from bench.waiting import now

LIMIT = 540
"""Seconds after which what has been measured so far must do."""
KEPT = "build/bench.json"


class TimeUpError(BaseException):
    """Not an Exception: no story may take it for a failure of its own."""


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGALRM, _time_up)
    signal.alarm(LIMIT)
    rows: list[Row] = []
    began = now()
    with Stage() as stage:
        if not os.path.exists(stage.program):
            print(f"there is no {stage.program}; `make bench` prepares it", file=sys.stderr)
            return 1
        try:
            tell(rows, "from status to line", lambda: notice.rows(stage))
            tell(rows, "from death to verdict", lambda: deaths.rows(stage))
            tell(rows, "start-up", lambda: startup.rows(stage))
            tell(rows, "a thousand jobs listed", lambda: listing.rows(stage))
            tell(rows, "wrapping a command", lambda: wrapper.rows(stage))
            tell(rows, "reading a screen", lambda: classify.rows(stage))
            tell(rows, "a hook", lambda: hook.rows(stage))
            tell(rows, "the journal", lambda: journal.rows(stage))
            tell(rows, "the registry", lambda: registry.rows(stage))
            tell(rows, "looks at panes", lambda: panes.rows(stage))
            tell(rows, "passes over a list of sessions", lambda: reconcile.rows(stage))
            tell(rows, "nights of a watchdog", lambda: nights.rows(stage))
            tell(rows, "sessions under a monitor", lambda: sessions.rows(stage))
            tell(rows, "what panes show, written down", lambda: capture.rows(stage))
            tell(rows, "story-automator", lambda: story.rows(stage))
            tell(rows, "idle shims and wrappers", lambda: crowd(rows, stage))
        except TimeUpError:
            rows.append(Row(f"the rest: not done within {LIMIT} s", None, goal="measured"))
    took = now() - began
    print(render(rows))
    short = [row for row in rows if row.word not in ("", "met")]
    promised = sum(bool(row.goal) for row in rows)
    print(f"\n{promised - len(short)} of {promised} goals met", *(f"{row.word}: {row.what}" for row in short), sep="\n")
    keep(rows, took)
    return int(any(row.word == NOT_MEASURED for row in rows))


def _time_up(*_: object) -> None:
    raise TimeUpError


def tell(rows: list[Row], title: str, story: Callable[[], Iterable[Row]]) -> None:
    """Run one story and add its rows. What went wrong in it becomes a row; the others go on."""
    began = now()
    print(f"{title} …", file=sys.stderr, flush=True)
    try:
        for row in story():
            rows.append(row)  # noqa: PERF402  # one by one: what was told before a failure counts
    except Exception as error:  # noqa: BLE001  # said in the table
        rows.append(Row(title, None, goal="measured", note=f"failed: {type(error).__name__}: {error}"))
    print(f"{title}: {now() - began:.0f} s", file=sys.stderr, flush=True)


def crowd(rows: list[Row], stage: Stage) -> Iterator[Row]:
    """Idle processes need a minute to be measured; meanwhile one watcher has ten thousand jobs."""
    idle, watch = Idle(stage), reconcile.Watch(stage)
    tell(rows, "ten thousand jobs", lambda: many.rows(stage))
    yield from idle.rows()
    yield from watch.rows()


def keep(rows: list[Row], took: float) -> None:
    os.makedirs(os.path.dirname(KEPT), exist_ok=True)
    found = {
        "schema": 1,
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "took_s": round(took, 1),
        "python": platform.python_version(),
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
        "rows": [row.as_json() for row in rows],
    }
    with open(KEPT, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1)
    print(f"{took:.0f} s; kept in {KEPT}", file=sys.stderr)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("interrupted; everything that was started has been ended", file=sys.stderr)
        sys.exit(130)
