"""The tables: screens and timelines of the goldens, judged now."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from midwatch.agents import catalog
from midwatch.core.pane_model import SOURCES
from midwatch.core.verdict import Verdict
from midwatch.replay import golden_runner
from midwatch.replay.rules import timeline_accuracy
from midwatch.replay.rules.accuracy import AccuracyTrial, format_matrix, format_share
from midwatch.sessions.codec import recording

GOLDENS = Path(__file__).parents[1] / "goldens" / "agents"
FLICKER = 2.0
GRACE = 1.0
"""Seconds for which a state that was true may still be said without counting as a flicker."""

LATE = "change to verdict (median / 90 %)"


class Result(NamedTuple):
    screens: list[AccuracyTrial]
    looks: list[AccuracyTrial]
    replays: list[golden_runner.TimelineReplay]
    changes: list[tuple[str, timeline_accuracy.TrueChange]]
    flickers: list[str]


def judge_all(recorded: Path = GOLDENS) -> Result:
    """Everything below `screens` and `timelines` of a directory, judged now."""
    known = catalog.Detectors()
    replays = [
        golden_runner.replay_timeline(path, known) for path in golden_runner.find_timelines(str(recorded / "timelines"))
    ]
    changes: list[tuple[str, timeline_accuracy.TrueChange]] = []
    flickers: list[str] = []
    for done in replays:
        truths, said = [(truth.at, truth.turn) for truth in done.truths], golden_runner.turns_over_time(done)
        end = done.moments[-1].at
        changes += [(done.header.agent, change) for change in timeline_accuracy.find_changes(truths, said, end)[1:]]
        flickers += [
            f"{Path(done.path).name}: {read} from {at:.1f} to {until:.1f} s"
            for at, until, read in timeline_accuracy.find_flickers(truths, said, FLICKER, GRACE)
        ]
    looks = [look for done in replays for look in golden_runner.judge_moments(done)]
    return Result(list(golden_runner.judge_screens(str(recorded / "screens"))), looks, replays, changes, flickers)


def summary(result: Result) -> list[str]:
    """One row per agent."""
    rows = [
        f"| agent | releases | screens | right | timelines | looks | right | dangerous errors | flickers | {LATE} |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    agents = sorted({trial.agent for trial in (*result.screens, *result.looks)})
    for agent in [*agents, "all"]:
        some = result if agent == "all" else of(result, agent)
        dangerous = sum(bool(trial.danger) for trial in (*some.screens, *some.looks))
        releases = sorted({done.header.version for done in some.replays if agent != "all"}, key=_parts)
        late = sorted(change.late for _, change in some.changes if change.late is not None)
        rows.append(
            f"| {agent} | {', '.join(releases)} | {len(some.screens)} | "
            f"{format_share(some.screens)} | {len(some.replays)} | "
            f"{len(some.looks)} | {format_share(some.looks)} | {dangerous} | {len(some.flickers)} | {_late(late)} |"
        )
    return rows


def sources(result: Result) -> list[str]:
    """How often each source was right by itself: of the looks at which it said something, how many had the true turn.

    What a source cannot express counts against it here, such as a dialog for a title. The verdict is made of all.
    """
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    looks: Counter[tuple[str, str]] = Counter()
    for done in result.replays:
        release = (done.header.agent, done.header.version)
        for moment, truth, _ in golden_runner.settled_moments(done):
            looks[release] += 1
            for said in moment.said:
                row = counts.setdefault((*release, said.source), Counter())
                row["said"] += 1
                row["right"] += said.turn == truth
    rows = ["| agent | release | source | spoke in | of looks | right |", "|---|---|---|---:|---:|---:|"]
    order = sorted(counts, key=lambda key: (key[0], _parts(key[1]), SOURCES.index(key[2])))
    for agent, version, source in order:
        row = counts[agent, version, source]
        rows.append(
            f"| {agent} | {version} | {source} | {row['said']} | {looks[agent, version]} | "
            f"{100 * row['right'] / row['said']:.0f} % |"
        )
    return rows


NIGHT = ("permission", "asked", "unsent", "delegated", "failed", "limited", "answer")
"""Stories of Claude Code that were recorded with its reports, as they may follow each other in a night."""
TELLERS = ("osc7501", "state", "transcript", "screen")


def night(result: Result) -> list[str]:
    """When each source told of each true change, in seconds after it, and with which detail."""
    rows = [f"| what happened | {' | '.join(TELLERS)} | verdict |", f"|---|{'---|' * (len(TELLERS) + 1)}"]
    found = {Path(done.path).stem.removesuffix("-reports"): done for done in result.replays if "-reports" in done.path}
    for story in NIGHT:
        done = next(replay for name, replay in found.items() if name.startswith(f"claude-{story}-"))
        ends = [*(truth.at for truth in done.truths[1:]), done.moments[-1].at + 1]
        for truth, end in zip(done.truths, ends, strict=True):
            within = [moment for moment in done.moments if truth.at <= moment.at < end]
            if not truth.turn or not truth.at or not within:
                continue
            cells = [_told(source, within, truth) for source in (*TELLERS, "verdict")]
            detail = f" ({truth.detail})" if truth.detail else ""
            rows.append(f"| {story}: {truth.turn}{detail} | {' | '.join(cells)} |")
    return rows


def _told(source: str, within: list[golden_runner.ReplayMoment], truth: recording.RecordedTruth) -> str:
    """When a source first told the true turn, and the last detail that it gave; what it said if never."""
    told = [
        (moment.at, each.turn, each.detail)
        for moment in within
        for each in ([moment.verdict] if source == "verdict" else moment.said)
        if isinstance(each, Verdict) or each.source == source
    ]
    right = [each for each in told if each[1] == truth.turn]
    if not right:
        return f"said {told[-1][1]}" if told else "nothing"
    return f"{right[0][0] - truth.at:.1f} s" + (f" ({right[-1][2]})" if right[-1][2] else "")


def _parts(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def _late(seconds: list[float]) -> str:
    if not seconds:
        return "-"
    return f"{statistics.median(seconds):.1f} s / {seconds[int(0.9 * (len(seconds) - 1))]:.1f} s"


def of(result: Result, agent: str) -> Result:
    """What concerns one agent."""
    replays = [done for done in result.replays if done.header.agent == agent]
    own = {Path(done.path).name for done in replays}
    return Result(
        [trial for trial in result.screens if trial.agent == agent],
        [trial for trial in result.looks if trial.agent == agent],
        replays,
        [each for each in result.changes if each[0] == agent],
        [each for each in result.flickers if each.split(":")[0] in own],
    )


def wrong(result: Result) -> list[str]:
    """Every difference between what was judged and what was true, in words."""
    rows = [f"{t.case}: {t.truth} read as {t.read} by {t.rule}" for t in result.screens if not t.right]
    spans: Counter[tuple[str, str, str]] = Counter()
    for look in result.looks:
        if not look.right:
            spans[look.case.split(" at ")[0], look.truth, look.read] += 1
    rows += [f"{case}: {truth} read as {read} in {count} looks" for (case, truth, read), count in spans.items()]
    rows += [f"flicker in {each}" for each in result.flickers]
    rows += [f"{name}: never said to be {turn}, which it was from {at:.1f} s on" for name, at, turn in missed(result)]
    return rows


def details(result: Result) -> list[str]:
    """Turns that were read right with another detail than the true one, in words; they are not counted as wrong."""
    spans = Counter(
        (trial.case.split(" at ")[0], trial.truth, trial.truth_detail, trial.read_detail)
        for trial in (*result.screens, *result.looks)
        if trial.right and trial.truth_detail and trial.read_detail and trial.truth_detail != trial.read_detail
    )
    return [
        f"{case}: {turn} ({true}) read as {turn} ({read})" + (f" in {count} looks" if count > 1 else "")
        for (case, turn, true, read), count in spans.items()
    ]


def missed(result: Result) -> list[tuple[str, float, str]]:
    """Changes that lasted and were not seen; what was over within 2 s may have been missed."""
    found = []
    for done in result.replays:
        truths, end = [(truth.at, truth.turn) for truth in done.truths], done.moments[-1].at
        ends = [at for at, _ in truths[1:]] + [end]
        brief = {at for (at, _), over in zip(truths, ends, strict=True) if over - at <= golden_runner.SETTLED}
        found += [
            (Path(done.path).name, change.at, change.truth)
            for change in timeline_accuracy.find_changes(truths, golden_runner.turns_over_time(done), end)
            if change.late is None and change.at not in brief
        ]
    return found


def tables(result: Result) -> list[str]:
    parts = [
        "How often the turn was read right",
        "",
        *summary(result),
        "",
        "Screens",
        "",
        *format_matrix(result.screens, ""),
    ]
    parts += ["", "Timelines, looks at least 2 s after a true change", "", *format_matrix(result.looks, "")]
    parts += ["", "Each source by itself, in those looks", "", *sources(result)]
    dangers = Counter((t.agent, t.danger) for t in (*result.screens, *result.looks) if t.danger)
    parts += ["", "Dangerous errors", ""]
    parts += [f"{agent}: {danger}: {count}" for (agent, danger), count in sorted(dangers.items())] or ["none"]
    return parts


def full(result: Result) -> str:
    parts = tables(result)
    parts += ["", "A night of Claude Code: seconds from a true change to what each source said", "", *night(result)]
    parts += ["", "Wrong or flickering", "", *(wrong(result) or ["nothing"])]
    parts += ["", "Not to be told from the pane alone (docs/how-it-works/accuracy.md), and so not counted", ""]
    parts += [
        f"{t.case}: {t.truth}, read as {t.read}" for t in golden_runner.judge_screens(str(GOLDENS / "undecidable"))
    ]
    return "\n".join(parts)
