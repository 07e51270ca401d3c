"""Sources check each other, over everything that was recorded of real agents.

Each timeline is watched as one agent after the other of its release, by watchers that share one record.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from midwatch.agents import catalog, evidence
from midwatch.agents.definition import Detector
from midwatch.agents.source_checks import rules as source_checks_rules
from midwatch.agents.source_checks.model import AGREES, CONTRADICTS, Claim, Comparison, Records
from midwatch.agents.source_checks.rules import Overlap
from midwatch.core.pane_model import Observation
from midwatch.replay import golden_runner
from midwatch.sessions.codec import recording
from tests.accuracy import report

TIMELINES = golden_runner.find_timelines(str(report.GOLDENS / "timelines"))
TITLE = Claim("title", "idle", "title-rest")
NEW, OLD = "2.1.325", "2.1.197"
LASTS = 60
"""Seconds for which the last look of each timeline is held: people leave agents alone for longer than a recorder."""


class Watched:
    """A record, and what was counted into it."""

    def __init__(self, known: catalog.Detectors) -> None:
        self.known = known
        self.records: Records = ()
        self.found: list[tuple[str, Comparison]] = []

    def watch(self, path: str, *, lasting: bool = False) -> None:
        overlap: Overlap | None = None
        version = ""
        for each in looks(path, lasting=lasting):
            if isinstance(each, recording.RecordingHeader):
                version = each.version
                continue
            detector = self.known[each.agent]
            facts = evidence.build_facts(detector, each, each.pane.id)
            if facts.there.state != "alive":
                overlap = None
                continue
            overlap, found = source_checks_rules.observe(
                overlap, facts.said, each.now, each.wall,
                can_wait=frozenset(rule.source for rule in detector.rules if rule.turn == "waiting"),
                doubted=frozenset(source_checks_rules.find_disbelieved(self.records, each.agent, version)),
            )  # fmt: skip
            for one in found:
                self.records, _ = source_checks_rules.count_comparison(
                    self.records, each.agent, version, one, path, each.wall
                )
            self.found += [(path, one) for one in found]

    @property
    def disbelieved(self) -> set[tuple[str, str, Claim]]:
        return {
            (release.agent, release.version, claim)
            for release in self.records
            for claim in source_checks_rules.find_disbelieved(self.records, release.agent, release.version)
        }


def looks(path: str, *, lasting: bool) -> Iterator[recording.RecordingHeader | Observation]:
    last: Observation | None = None
    with open(path, encoding="utf-8") as lines:
        for each in recording.read_recording(lines, path):
            if isinstance(each, recording.RecordingHeader | Observation):
                last = each if isinstance(each, Observation) else last
                yield each
    for second in range(1, LASTS if lasting and last else 0):
        assert last is not None
        yield last._replace(now=last.now + second, wall=last.wall + second)


def without_limit(detector: Detector) -> Detector:
    """Claude Code's rules as they were before anybody knew that its title does not tell any more."""
    rules = [rule._replace(versions=None) if rule.name == TITLE.rule else rule for rule in detector.rules]
    assert rules != list(detector.rules)
    return detector._replace(rules=tuple(rules))


@pytest.fixture(scope="module")
def naive() -> Watched:
    known = catalog.Detectors()
    known["claude"] = without_limit(known["claude"])
    found = Watched(known)
    for path in TIMELINES:
        if "/claude-" in path:
            found.watch(path, lasting=True)
    return found


def test_the_title_of_claude_2_1_325_is_found_out(naive: Watched) -> None:
    assert naive.disbelieved == {("claude", NEW, TITLE)}


def test_by_its_state_file_and_often_enough(naive: Watched) -> None:
    wrong = [(path, one) for path, one in naive.found if one.outcome == CONTRADICTS]
    assert {one.by for _, one in wrong} == {"state"}
    assert len({path for path, _ in wrong}) >= 2 * source_checks_rules.ENOUGH
    assert all(NEW in path for path, _ in wrong)


def test_the_same_title_of_2_1_197_is_right(naive: Watched) -> None:
    record = next(each for each in source_checks_rules.find_claims(naive.records, "claude", OLD) if each.claim == TITLE)
    assert len(record.outcomes) == source_checks_rules.KEPT
    assert {each.outcome for each in record.outcomes} == {AGREES}


@pytest.mark.parametrize("lasting", [False, True], ids=["as recorded", "and left alone for a minute"])
def test_with_our_rules_no_source_of_any_agent_is_ever_wrong(lasting: bool) -> None:
    """Not even once: what agents do in the bad cases (Esc before a word, a refused permission) is no drift."""
    found = Watched(catalog.Detectors())
    for path in TIMELINES:
        found.watch(path, lasting=lasting)
    assert [one for one in found.found if one[1].outcome != AGREES] == []
    assert {each.agent for each in found.records} == {
        "claude", "codex", "gemini", "opencode", "qwen",
    }  # fmt: skip
