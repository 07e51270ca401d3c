"""What the shim is told when it asks: one look, one judgement, one line."""

from dogwatch.judge import job
from dogwatch.loops.look import Looker


def decide(looker: Looker, name: str) -> str:
    facts = looker.facts(name)
    policy = facts.record.policy if facts.record else looker.policy
    what, seconds, word, reason = job.answer(facts, policy)
    return f"{what}\t{seconds}\t{word}\t{reason}"
