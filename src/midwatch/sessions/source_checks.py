"""The sources of an agent hold each other to account, look by look (`agents.source_checks.rules`).

Whoever looks leaves out what is not believed of an agent's release. Who looks again and again also counts; a single
look sees no stretch. A claim that stops being believed is told once, with a recording of the looks that settled it.
"""

from __future__ import annotations

import os

from midwatch.agents.definition import Detector
from midwatch.agents.source_checks import codec as words
from midwatch.agents.source_checks import rules as judge
from midwatch.agents.source_checks import store as source_checks_store
from midwatch.agents.source_checks.model import Claim, ClaimRecord, Comparison, Disbelief, Records
from midwatch.agents.source_checks.rules import Overlap
from midwatch.agents.turn_model import SessionFacts
from midwatch.config import paths
from midwatch.core.pane_model import Observation
from midwatch.core.policy import Policy
from midwatch.core.text import visible
from midwatch.core.value import Value

MOST_MOMENTS = 8
"""Looks that are kept of a contradiction: the first, and the last ones."""
LONGEST_VERSION = 40


class SourceMemory(Value):
    """What is remembered of the sources of one agent's process."""

    release: str = ""
    """Once it was seen: a screen shows it only at the start."""
    overlap: Overlap | None = None
    moments: tuple[Observation, ...] = ()
    """Of a contradiction that is under way."""


class SourceChecks:
    """For all panes of a watcher."""

    def __init__(self) -> None:
        self._file = source_checks_store.SourceRecordsCache()

    def check(
        self, detector: Detector, process: tuple[int, int], seen: Observation, facts: SessionFacts, policy: Policy,
        before: SourceMemory,
    ) -> tuple[SessionFacts, SourceMemory]:  # fmt: skip
        """The facts without what is not believed, with a note on it, and what to remember."""
        release = visible(facts.release)[:LONGEST_VERSION] or before.release
        known = judge.find_disbelieved(self._file.records(facts.now), detector.agent, release)
        if facts.there.state != "alive":
            return _drop_disbelieved(facts, known, detector, release), SourceMemory(release)
        can_wait = frozenset(rule.source for rule in detector.rules if rule.turn == "waiting")
        overlap, found = judge.observe(
            before.overlap, facts.said, facts.now, facts.wall, can_wait=can_wait, doubted=frozenset(known)
        )
        moments = (*before.moments, seen) if judge.is_contradicted(overlap) else ()
        moments = (*moments[:1], *moments[1:][1 - MOST_MOMENTS :])
        if found:
            who = f"{process[0]}-{process[1]}"
            # A contradiction may be proven by the look that ends it: then the looks before are its evidence.
            shown = moments or (*before.moments, seen)
            known = self._count(detector, release, found, who, facts.wall, shown, policy) or known
        if judge.disagrees(overlap, facts.said, facts.now, facts.wall, can_wait):
            facts = facts._replace(doubts=(*facts.doubts, "sources-disagree"))
        return _drop_disbelieved(facts, known, detector, release), SourceMemory(release, overlap, moments)

    def _count(
        self, detector: Detector, release: str, found: tuple[Comparison, ...], who: str, wall: float,
        moments: tuple[Observation, ...], policy: Policy,
    ) -> dict[Claim, Disbelief]:  # fmt: skip
        """Count what was found; what is not believed then."""
        fallen: list[ClaimRecord] = []
        after: list[Records] = []

        def change(records: Records) -> Records:
            for each in found:
                path = source_checks_store.recording_path(detector.agent, release, each.claim)
                records, fell = judge.count_comparison(records, detector.agent, release, each, who, wall, path)
                fallen.extend([fell] if fell else [])
            after.append(records)
            return records

        if not source_checks_store.update_records(change):
            return {}
        if fallen:
            from midwatch.sessions import source_evidence  # noqa: PLC0415  # it is seldom that a watcher needs it

            for each in fallen:
                source_evidence.report_disbelief(detector, release, each, moments, policy, _own_project())
        return judge.find_disbelieved(after[0], detector.agent, release)


def _drop_disbelieved(
    facts: SessionFacts, known: dict[Claim, Disbelief], detector: Detector, release: str
) -> SessionFacts:
    if not known:
        return facts
    claims = {each: Claim(each.source, each.turn, each.rule) for each in facts.said}
    notes = [
        words.format_disbelief(claim, known[claim], detector.title, release)
        for claim in claims.values()
        if claim in known
    ]
    said = tuple(each for each in facts.said if claims[each] not in known)
    return facts._replace(said=said, notes=(*facts.notes, *notes))


def _own_project() -> str:
    """Whose journal and channels are used: those of the project that the watcher was started in."""
    try:
        return paths.project_root(os.getcwd())
    except FileNotFoundError:  # its directory was removed
        return paths.project_root(os.path.expanduser("~"))
