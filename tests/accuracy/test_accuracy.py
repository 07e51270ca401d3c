"""A drop fails: how often Midwatch is right about real agents, over everything that was recorded of them."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.replay import golden_runner
from tests.accuracy import report
from tests.architecture.test_agent_names import AGENTS as FOLDERS

ROOT = Path(__file__).parents[2]
AGENTS = {agent for agent in FOLDERS if catalog.load(agent).tested}
"""Agents whose definitions name a release that was tried: without goldens, that cannot be true."""
HIDDEN = {
    "0.169.0-commands-scrolled",
    "0.169.0-pager",
    "0.169.0-pager-diff",
    "0.169.0-side-main-busy",
    "0.169.0-side-main-idle",
    "commands-scrolled",
    "pager",
    "pager-diff",
    "previous-pager",
    "previous-pager-diff",
}
"""Screens of Codex that show nothing of the turn; docs/how-it-works/accuracy.md argues them."""
WITHOUT_COLOURS = {"codex-nodaemon/bare-words-closing-streaming", "codex/previous-words-status"}
"""Screens whose turn only their colours give away; docs/how-it-works/accuracy.md argues them."""


@pytest.fixture(scope="module")
def result() -> report.Result:
    return report.judge_all()


def test_there_is_not_one_dangerous_error(result: report.Result) -> None:
    assert [trial for trial in (*result.screens, *result.looks) if trial.danger] == []


def test_every_screen_is_read_right(result: report.Result) -> None:
    assert [trial for trial in result.screens if not trial.right] == []


def test_without_colours_only_those_argued_are_read_wrong() -> None:
    plain = golden_runner.judge_screens(str(report.GOLDENS / "screens"), colours=False)
    assert {trial.case for trial in plain if not trial.right} == WITHOUT_COLOURS


def test_what_the_pane_does_not_decide_of_claude_is_not_guessed() -> None:
    found = list(golden_runner.judge_screens(str(report.GOLDENS / "undecidable" / "claude")))
    assert len(found) > 20
    assert [trial for trial in found if trial.read not in ("unknown", trial.truth)] == []


def test_a_turn_of_claude_that_was_interrupted_never_looks_finished(result: report.Result) -> None:
    cut = [trial for trial in result.screens if (trial.agent, trial.truth_detail) == ("claude", "interrupted")]
    assert len(cut) > 20
    assert [trial for trial in cut if trial.read_detail not in ("", "interrupted")] == []


def test_nor_does_it_when_every_source_is_heard(result: report.Result) -> None:
    cut = [done for done in result.replays if done.header.agent == "claude" and done.truths[-1].detail == "interrupted"]
    assert {done.header.scenario for done in cut} >= {"interrupted", "interrupted-before-a-word", "unsent", "asked"}
    for done in cut:
        settled = [moment for moment in done.moments if moment.at > done.truths[-1].at + golden_runner.SETTLED]
        assert {moment.verdict.detail for moment in settled} <= {"", "interrupted"}, done.path


def test_what_is_not_on_the_screen_of_codex_is_unknown() -> None:
    hidden = golden_runner.judge_screens(str(report.GOLDENS / "undecidable" / "codex"))
    assert {trial.case for trial in hidden if trial.read == "unknown"} == HIDDEN


@pytest.mark.parametrize("agent", ["codex", "gemini", "opencode", "qwen"])
def test_what_was_interrupted_or_failed_never_counts_as_ended_well(agent: str, result: report.Result) -> None:
    badly = [
        trial
        for trial in (*result.screens, *result.looks)
        if trial.agent == agent and trial.truth_detail in ("interrupted", "turn-failed")
    ]
    assert badly
    assert [trial for trial in badly if trial.read_detail in ("turn-ended", "background-work")] == []


@pytest.mark.parametrize(
    ("agent", "shown"), [("codex", "Approaching rate limits"), ("gemini", "Usage limit reached for")]
)
def test_the_rules_of_limit_menus_are_called_so(agent: str, shown: str, result: report.Result) -> None:
    """Whoever may answer such a menu knows it by the name of its rule."""
    root = report.GOLDENS / "screens"
    menus = {
        trial.case: trial.rule
        for trial in result.screens
        if trial.agent == agent
        and trial.truth in ("limited", "waiting")
        and shown in (root / trial.case / "screen.txt").read_text()
    }
    assert menus
    assert {case for case, rule in menus.items() if not rule.startswith("limit-menu")} == set()


def test_every_look_of_every_timeline_is_right(result: report.Result) -> None:
    assert [trial for trial in result.looks if not trial.right] == []


def test_nothing_flickers(result: report.Result) -> None:
    assert result.flickers == []


def test_every_change_that_lasts_is_seen(result: report.Result) -> None:
    assert report.missed(result) == []


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
    for expected in (report.GOLDENS / "screens").rglob("expected.json"):
        label = json.loads(expected.read_text())
        assert label["version"] in catalog.load(label["agent"]).tested, expected


def test_the_readme_shows_what_the_command_prints(result: report.Result) -> None:
    text = (ROOT / "README.md").read_text()
    assert "\n".join(report.summary(result)) in text


def test_the_documents_show_the_other_tables(result: report.Result) -> None:
    assert "\n".join(report.sources(result)) in (ROOT / "docs/how-it-works/accuracy.md").read_text()
    assert "\n".join(report.night(result)) in (ROOT / "docs/how-it-works/program-status.md").read_text()


def test_no_rule_knows_the_scripted_model() -> None:
    """Words that only the lab's model says, and names of cases, are no evidence."""
    words = ("fake", "pondering", "[[", "scripted", "golden", "hard-", "Tool finished", "Slow reply")
    paths = sorted((ROOT / "src" / "midwatch" / "agents").glob("*/*.toml"))
    assert paths
    for path in paths:
        text = path.read_text()
        assert [word for word in words if word in _without_tables(text)] == [], path


def _without_tables(text: str) -> str:
    for table in ("rule", "region", "dialog"):
        text = text.replace(f"[[{table}]]", "")
    return text


# Without one of the sources -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["osc7501", "state", "api", "hook", "transcript"])
def test_no_source_is_needed_to_avoid_a_dangerous_error(missing: str) -> None:
    """Each leans on something: a release, a setting, a moment. Without it a verdict may be `unknown`, but not wrong."""
    known = catalog.Detectors()
    paths = golden_runner.find_timelines(str(report.GOLDENS / "timelines"))
    heard = 0
    for path in paths:
        done = golden_runner.replay_timeline(path, known, without=missing)
        heard += any(
            said.source == missing for each in golden_runner.replay_timeline(path, known).moments for said in each.said
        )
        dangers = [trial for trial in golden_runner.judge_moments(done) if trial.danger]
        assert dangers == [], path
        badly = {truth.detail for truth in done.truths[-1:]} & {"interrupted", "turn-failed"}
        last = done.moments[-1].verdict
        assert not badly or last.detail not in ("turn-ended", "background-work"), path
    assert heard > 5, f"too few timelines hear {missing} at all"
