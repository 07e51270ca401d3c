"""Observations of one pane judged one after the other, as by a watcher that has seen nothing else."""

from __future__ import annotations

from midwatch.agents import definition, evidence
from midwatch.agents.catalog import Detectors
from midwatch.agents.turn_model import SessionMemory, SourceReading
from midwatch.core.pane_model import Observation
from midwatch.core.policy import Policy
from midwatch.sessions import limit_tracker
from midwatch.sessions.codec.recording import GivenVerdict
from midwatch.sessions.rules import verdict as session_verdict


class SessionReplayer:
    def __init__(self, policy: Policy, known: Detectors) -> None:
        self.policy = policy
        self.known = known
        self.memory: SessionMemory | None = None
        self.process = (0, 0)
        self.before: GivenVerdict | None = None
        self.said: tuple[SourceReading, ...] = ()
        """What each source said at the last look."""

    def judge(self, seen: Observation) -> GivenVerdict:
        which = self.known[seen.agent]
        found = definition.find_agent((which,), seen.tasks)
        if found is not None and self.process != (found[1].pid, found[1].start):
            self.process, self.memory = (found[1].pid, found[1].start), None  # what is remembered is of its predecessor
        facts = limit_tracker.date_limits(evidence.build_facts(which, seen, seen.pane.id), self.memory)
        self.said = facts.said
        verdict, self.memory = session_verdict.judge(facts, self.memory, self.policy)
        return GivenVerdict(seen.now, verdict.state, verdict.turn, verdict.detail, verdict.reason)

    def given(self, seen: Observation) -> GivenVerdict | None:
        """The verdict, if it is another than at the look before; that time goes by is no other."""
        before, self.before = self.before, self.judge(seen)
        return self.before if before is None or verdict_words(before) != verdict_words(self.before) else None


def verdict_words(given: GivenVerdict) -> tuple[str, ...]:
    return given.state, given.turn, given.detail
