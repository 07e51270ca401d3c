"""The tables: screens and timelines of the goldens, judged now."""

from __future__ import annotations

import statistics
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from dogwatch.judge import timelines
from dogwatch.judge.accuracy import Trial, matrix, share
from dogwatch.loops import trials

GOLDENS = Path(__file__).parents[1] / "goldens" / "agents"
FLICKER = 2.0
GRACE = 1.0
"""Seconds for which a state that was true may still be said without counting as a flicker."""

LATE = "change to verdict (median / 90 %)"


class Result(NamedTuple):
    screens: list[Trial]
    looks: list[Trial]
    replays: list[trials.Replay]
    changes: list[tuple[str, timelines.Change]]
    flickers: list[str]


def judge_all() -> Result:
    known = trials.Detectors()
    replays = [trials.replay(path, known) for path in trials.timelines(str(GOLDENS / "timelines"))]
    changes: list[tuple[str, timelines.Change]] = []
    flickers: list[str] = []
    for done in replays:
        truths, said = [(truth.at, truth.turn) for truth in done.truths], trials.spoken(done)
        end = done.moments[-1].at
        changes += [(done.header.agent, change) for change in timelines.changes(truths, said, end)[1:]]
        flickers += [
            f"{Path(done.path).name}: {read} from {at:.1f} to {until:.1f} s"
            for at, until, read in timelines.flickers(truths, said, FLICKER, GRACE)
        ]
    looks = [look for done in replays for look in trials.looks(done)]
    return Result(list(trials.screens(str(GOLDENS / "screens"))), looks, replays, changes, flickers)


def summary(result: Result) -> list[str]:
    """One row per agent."""
    rows = [
        f"| agent | screens | right | timelines | looks | right | dangerous errors | flickers | {LATE} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    agents = sorted({trial.agent for trial in result.screens})
    for agent in [*agents, "all"]:
        these = {*agents} if agent == "all" else {agent}
        screens = [trial for trial in result.screens if trial.agent in these]
        looks = [trial for trial in result.looks if trial.agent in these]
        replays = [done for done in result.replays if done.header.agent in these]
        dangerous = sum(bool(trial.danger) for trial in (*screens, *looks))
        flickers = sum(any(Path(done.path).name == each.split(":")[0] for done in replays) for each in result.flickers)
        late = sorted(change.late for name, change in result.changes if name in these and change.late is not None)
        rows.append(
            f"| {agent} | {len(screens)} | {share(screens)} | {len(replays)} | {len(looks)} | {share(looks)} | "
            f"{dangerous} | {flickers} | {_late(late)} |"
        )
    return rows


def _late(seconds: list[float]) -> str:
    if not seconds:
        return "-"
    return f"{statistics.median(seconds):.1f} s / {seconds[int(0.9 * (len(seconds) - 1))]:.1f} s"


def wrong(result: Result) -> list[str]:
    rows = [f"{t.case}: {t.truth} read as {t.read} by {t.rule}" for t in result.screens if not t.right]
    spans: Counter[tuple[str, str, str]] = Counter()
    for look in result.looks:
        if not look.right:
            spans[look.case.split(" at ")[0], look.truth, look.read] += 1
    rows += [f"{case}: {truth} read as {read} in {count} looks" for (case, truth, read), count in spans.items()]
    rows += [f"flicker in {each}" for each in result.flickers]
    return rows


def full(result: Result) -> str:
    parts = ["How often the turn was read right", "", *summary(result), "", "Screens", "", *matrix(result.screens, "")]
    parts += ["", "Timelines, looks at least 2 s after a true change", "", *matrix(result.looks, "")]
    dangers = Counter((t.agent, t.danger) for t in (*result.screens, *result.looks) if t.danger)
    parts += ["", "Dangerous errors", ""]
    parts += [f"{agent}: {danger}: {count}" for (agent, danger), count in sorted(dangers.items())] or ["none"]
    parts += ["", "Wrong or flickering", "", *(wrong(result) or ["nothing"])]
    parts += ["", "Not to be told from the pane alone (docs/accuracy.md), and so not counted", ""]
    parts += [f"{t.case}: {t.truth}, read as {t.read}" for t in trials.screens(str(GOLDENS / "undecidable"))]
    return "\n".join(parts)
