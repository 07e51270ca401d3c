"""Detectors put to the test: folders of labelled screens and timelines, judged as if they were seen now."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

from midwatch.agents import evidence
from midwatch.agents.catalog import Detectors
from midwatch.agents.definition import Detector
from midwatch.agents.rules import Turn, fuse_sources
from midwatch.agents.turn_model import SourceReading
from midwatch.core.errors import FormatError
from midwatch.core.pane_model import Observation
from midwatch.core.policy import PATIENT
from midwatch.core.value import Value
from midwatch.core.verdict import Verdict
from midwatch.replay.codec import screen_case
from midwatch.replay.rules import timeline_accuracy as timelines_judge
from midwatch.replay.rules.accuracy import AccuracyTrial
from midwatch.sessions import limit_tracker
from midwatch.sessions.codec import recording
from midwatch.sessions.rules import verdict as session_verdict
from midwatch.system.atomic_files import open_plain, read_plain

SETTLED = 2.0
"""Seconds after a true change in which a verdict is late rather than wrong."""
LARGEST = 16 << 20
"""Bytes of a screen, and of what is told of it."""


def classify(detector: Detector, screen: str, facts: str, path: str) -> Turn:
    """The turn that one screen with its facts shows."""
    said, there = evidence.read_sources(detector, screen_case.read_observation(detector.agent, screen, facts, path))
    return fuse_sources(said, there)


def find_case_folders(root: str) -> list[str]:
    """Folders with a labelled screen, below a directory or it itself."""
    return sorted(where for where, _, files in os.walk(root) if "expected.json" in files)


def find_timelines(root: str) -> list[str]:
    return sorted(f"{where}/{name}" for where, _, files in os.walk(root) for name in files if name.endswith(".jsonl"))


def judge_screens(root: str, *, colours: bool = True) -> Iterator[AccuracyTrial]:
    """Every labelled screen below a directory, with its colours where they were kept, and its facts."""
    known = Detectors()
    for folder in find_case_folders(root):
        try:
            expected = json.loads(_text(f"{folder}/expected.json"))
            agent, turn, detail = str(expected["agent"]), str(expected["turn"]), str(expected.get("detail", ""))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise FormatError(f"{folder}/expected.json: needs agent and turn") from None
        facts = f"{folder}/facts.json"
        coloured = colours and os.path.exists(f"{folder}/screen.ansi.txt")
        screen = _text(f"{folder}/screen{'.ansi' if coloured else ''}.txt")
        read = classify(known[agent], screen, _text(facts), facts)
        yield AccuracyTrial(agent, os.path.relpath(folder, root), turn, detail, read.turn, read.detail, read.rule)


class ReplayMoment(Value):
    """One verdict of a replayed timeline."""

    at: float
    verdict: Verdict
    said: tuple[SourceReading, ...] = ()
    """What each source said."""


class TimelineReplay(Value):
    """A timeline judged again, beside its truth."""

    header: recording.RecordingHeader
    path: str
    moments: tuple[ReplayMoment, ...]
    truths: tuple[recording.RecordedTruth, ...]


def replay_timeline(path: str, known: Detectors, without: str = "") -> TimelineReplay:
    """Judge a timeline again, look by look, as its watcher would have; as if there had not been a source."""
    header: recording.RecordingHeader | None = None
    moments: list[ReplayMoment] = []
    truths: list[recording.RecordedTruth] = []
    memory = None
    with open(open_plain(path, follow=True), encoding="utf-8") as lines:
        for each in recording.read_recording(lines, path):
            if isinstance(each, recording.RecordingHeader):
                header = each
            elif isinstance(each, recording.RecordedTruth):
                truths.append(each)
            elif isinstance(each, Observation):
                seen = each._replace(reports=tuple(report for report in each.reports if report.source != without))
                facts = limit_tracker.date_limits(evidence.build_facts(known[each.agent], seen, each.pane.id), memory)
                verdict, memory = session_verdict.judge(facts, memory, PATIENT)
                moments.append(ReplayMoment(each.now, verdict, facts.said))
    if header is None:
        raise FormatError(f"{path}: an empty timeline")
    return TimelineReplay(header, path, tuple(moments), tuple(truths))


def turns_over_time(done: TimelineReplay) -> timelines_judge.Said:
    """What was said, from when on; `stuck` counts as said, whatever the turn."""
    said: timelines_judge.Said = []
    for moment in done.moments:
        word = "stuck" if moment.verdict.state == "stuck" else moment.verdict.turn
        if not said or said[-1][1] != word:
            said.append((moment.at, word))
    return said


def judge_moments(done: TimelineReplay) -> Iterator[AccuracyTrial]:
    """Every look that was not just after a true change, beside the truth of its moment."""
    for moment, truth, detail in settled_moments(done):
        read = "stuck" if moment.verdict.state == "stuck" else moment.verdict.turn
        case = f"{os.path.basename(done.path)} at {moment.at:.1f}"
        yield AccuracyTrial(done.header.agent, case, truth, detail, read, moment.verdict.detail, "")


def settled_moments(done: TimelineReplay) -> Iterator[tuple[ReplayMoment, str, str]]:
    """Every look that was not just after a true change, with the turn and detail that were true."""
    for moment in done.moments:
        before = [truth for truth in done.truths if truth.at <= moment.at]
        turns = [truth.turn for truth in before]
        changed = max((truth.at for n, truth in enumerate(before) if not n or turns[n - 1] != truth.turn), default=0.0)
        if not before or not turns[-1] or moment.at - changed < SETTLED:
            continue
        yield moment, turns[-1], before[-1].detail


def _text(path: str) -> str:
    try:
        return read_plain(path, LARGEST, follow=True).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: cannot be read: {error}") from error
