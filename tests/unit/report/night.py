"""A night as the journal tells it: the events of six subjects, and how they are in the morning."""

from __future__ import annotations

from datetime import datetime
from math import ceil
from typing import Any

from midwatch.core.foreign_text import ForeignText
from midwatch.core.verdict import Verdict
from midwatch.report.model import Occurrence, PresentState, Span, WorkReport
from midwatch.report.rules import report

BEGIN = datetime(2026, 3, 5, 22, 0).timestamp()  # noqa: DTZ001  # as the clock on the wall shows it
END = datetime(2026, 3, 6, 7, 12).timestamp()  # noqa: DTZ001
SPAN = Span(BEGIN, END)
MINUTE, HOUR = 60.0, 3600.0


def at(hours: float, event: str, name: str, run: str = "", **said: Any) -> Occurrence:
    """An event so many hours after the begin."""
    reason = ForeignText(said.pop("reason", ""))
    return Occurrence(name, run or f"{name}-1", BEGIN + hours * HOUR, event, reason=reason, **said)


def watched(
    name: str, run: str, begin: float, end: float, state: str, reason: str = "", **said: Any
) -> list[Occurrence]:
    """What a monitor notes while something is so: at once, and every five minutes."""
    count = max(1, ceil((end - begin) * 12))
    return [
        at(begin + index / 12, "observed", name, run, state=state, reason=reason, monitor=f"m-{name}", **said)
        for index in range(count)
    ]


def verdict(name: str, state: Any, reason: str, **said: Any) -> Verdict:
    given: dict[str, Any] = {"kind": "job", "final": False, "process": "alive", "progress": "advancing"} | said
    return Verdict(name=name, state=state, reason=reason, **given)


def occurrences() -> list[Occurrence]:
    api = [
        at(0.1, "started", "api", "api-1", session=True),
        *watched("api", "api-1", 0.1, 2.4, "working", "a turn is under way"),
        *watched("api", "api-1", 2.4, 2.5, "crashed", "killed by SIGKILL"),
        at(2.41, "ended", "api", "api-1", state="crashed", cause="signal", reason="killed by SIGKILL"),
        at(2.42, "resumed", "api", "api-1", reason="killed by SIGKILL", monitor="m-api"),
        at(2.42, "started", "api", "api-2", session=True),
        *watched("api", "api-2", 2.43, 4.0, "working", "a turn is under way"),
        *watched("api", "api-2", 4.0, 5.5, "limited", "it hit a limit, until 3:30am"),
        *watched("api", "api-2", 5.5, 8.9, "working", "a turn is under way"),
        *watched("api", "api-2", 8.9, 9.2, "waiting", "it waits for a permission: Bash(rm -rf build)"),
    ]
    docs = [
        at(0.2, "started", "docs", session=True),
        *watched("docs", "docs-1", 0.2, 1.5, "working", "a turn is under way"),
        *watched("docs", "docs-1", 1.5, 1.8, "stuck", "no progress for 10m; the open tool call is Bash(curl example)"),
        at(1.81, "resumed", "docs", reason="no progress for 10m", monitor="m-docs"),
        *watched("docs", "docs-1", 1.9, 3.0, "working", "a turn is under way"),
        at(3.0, "watched", "docs", state="completed", cause="verified", reason="make test passes", monitor="m-docs"),
    ]
    train = [
        at(-2.0, "started", "train"), at(3.0, "lost", "train", seconds=1.5 * HOUR), at(5.0, "stuck", "train"),
        at(5.4, "moved", "train"), at(6.0, "attempt", "train", state="failed"),
        at(6.0, "retrying", "train", reason="attempt 1 failed: exit 1; attempt 2 of 3 in 30s"),
        at(6.1, "started", "train", attempt=2),
    ]
    jobs = [
        at(0.5, "started", "build"),
        at(1.2, "ended", "build", state="completed", cause="exit", reason="exit 0"),
        at(4.0, "started", "test"),
        at(4.6, "ended", "test", state="failed", cause="exit", reason="exit 2\x1b[2J<script>alert(1)</script>"),
    ]
    return [*api, *docs, *train, *jobs, at(7.0, "started", "shop", session=True)]


def present() -> dict[str, PresentState]:
    session: dict[str, Any] = {"agent": "claude", "session": True}
    return {
        "api": PresentState(
            "api-2", verdict("api", "waiting", "it waits for a permission: Bash(rm -rf build)", kind="session"),
            monitor="m-api", reach="midwatch attach api", **session,
        ),
        "docs": PresentState("docs-1", verdict("docs", "idle", "its turn has ended", kind="session"), **session),
        "train": PresentState("train-1", verdict("train", "working", "last output 3s ago"), began=BEGIN - 2 * HOUR),
        "build": PresentState("build-1", verdict("build", "completed", "exit 0 after 42m", final=True, process="gone"),
                              seen_until=BEGIN + 1.2 * HOUR),
        "test": PresentState("test-1", verdict("test", "failed", "exit 2 after 36m", final=True, process="gone"),
                             seen_until=BEGIN + 4.6 * HOUR),
        "shop": PresentState("shop-1", verdict("shop", "working", "a turn is under way", kind="session"), **session),
    }  # fmt: skip


def work_report(*, several: bool = False) -> WorkReport:
    named: dict[str, list[Occurrence]] = {}
    for each in occurrences():
        named.setdefault(each.name, []).append(each)
    there = present()
    made = [
        report.subject_report(name, "/home/me/.local/state/midwatch/shop-1a2b3c4d", found, there.get(name), SPAN, END)
        for name, found in named.items()
    ]
    return WorkReport(SPAN, report.order([each for each in made if each]), END, "shop", several=several)
