"""A drop fails: how often Dogwatch is right about real agents, over everything that was recorded of them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from dogwatch.judge import timelines
from dogwatch.loops import trials
from tests.accuracy import report

ROOT = Path(__file__).parents[2]
AGENTS = {"claude", "codex", "gemini", "opencode", "qwen"}
WITHOUT_COLOURS = {"codex-nodaemon/bare-words-closing-streaming", "codex/previous-words-status"}
"""Screens whose turn only their colours give away; docs/accuracy.md argues them."""


@pytest.fixture(scope="module")
def result() -> report.Result:
    return report.judge_all()


def test_there_is_not_one_dangerous_error(result: report.Result) -> None:
    assert [trial for trial in (*result.screens, *result.looks) if trial.danger] == []


def test_every_screen_is_read_right(result: report.Result) -> None:
    assert [trial for trial in result.screens if not trial.right] == []


def test_without_colours_only_those_argued_are_read_wrong() -> None:
    plain = trials.screens(str(report.GOLDENS / "screens"), colours=False)
    assert {trial.case for trial in plain if not trial.right} == WITHOUT_COLOURS


def test_every_look_of_every_timeline_is_right(result: report.Result) -> None:
    assert [trial for trial in result.looks if not trial.right] == []


def test_nothing_flickers(result: report.Result) -> None:
    assert result.flickers == []


def test_every_change_that_lasts_is_seen(result: report.Result) -> None:
    """What was over within 2 s may have been missed; nothing else."""
    for done in result.replays:
        truths, end = [(truth.at, truth.turn) for truth in done.truths], done.moments[-1].at
        ends = [at for at, _ in truths[1:]] + [end]
        brief = {at for (at, _), over in zip(truths, ends, strict=True) if over - at <= 2}
        missed = [each for each in timelines.changes(truths, trials.spoken(done), end) if each.late is None]
        assert {change.at for change in missed} <= brief, done.path


def test_the_goldens_are_as_many_and_as_different_as_promised(result: report.Result) -> None:
    assert len(result.screens) >= 250
    assert len(result.replays) >= 40
    assert {done.header.agent for done in result.replays} == AGENTS
    versions, sizes = defaultdict(set), set()
    for expected in (report.GOLDENS / "screens").rglob("expected.json"):
        label = json.loads(expected.read_text())
        facts = json.loads((expected.parent / "facts.json").read_text())
        versions[label["agent"]].add(label["version"])
        sizes.add((facts["pane_width"], facts["pane_height"]))
    assert set(versions) == AGENTS
    assert {agent for agent, found in versions.items() if len(found) < 2} == set()
    assert len(sizes) >= 6


def test_every_version_of_the_goldens_counts_as_tested() -> None:
    from dogwatch.store import detectors  # noqa: PLC0415

    for expected in (report.GOLDENS / "screens").rglob("expected.json"):
        label = json.loads(expected.read_text())
        assert label["version"] in detectors.load(label["agent"]).tested, expected


def test_the_readme_shows_what_the_command_prints(result: report.Result) -> None:
    text = (ROOT / "README.md").read_text()
    assert "\n".join(report.summary(result)) in text


def test_no_rule_knows_the_scripted_model() -> None:
    """Words that only the lab's model says, and names of cases, are no evidence."""
    words = ("fake", "pondering", "[[", "scripted", "golden", "hard-", "Tool finished", "Slow reply")
    for path in (ROOT / "src" / "dogwatch" / "agents").glob("*.toml"):
        text = path.read_text()
        assert [word for word in words if word in text.replace("[[rule]]", "").replace("[[region]]", "")] == [], path
