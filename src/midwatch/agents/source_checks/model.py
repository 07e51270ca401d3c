"""How often a weak source of a session's turn was right, by the word of the strong ones: per agent and release."""

from __future__ import annotations

from midwatch.core.value import Value

STRONG = ("osc7501", "state", "api", "hook", "transcript")
"""What the agent itself says or writes of its turn, strongest first."""
WEAK = ("title", "screen")
"""What is drawn for people, and read by rules that a new release may break."""

AGREES, CONTRADICTS, WITHHELD = "agrees", "contradicts", "withheld"
"""Of a claim in one stretch: said and right, said and wrong, not said where it would have been wrong."""


class Claim(Value):
    """One thing that a weak source can say, with the rule that hears it: one wrong rule says nothing of the others."""

    source: str
    turn: str
    rule: str


class Comparison(Value):
    """How a claim compares with the strong sources in one stretch."""

    claim: Claim
    outcome: str
    by: str
    """The strong source."""
    began: float
    """When its turn was first seen to be so (wall): two watchers of one stretch count it once."""


class PastOutcome(Value):
    """A comparison that was counted."""

    at: float
    """Wall clock."""
    outcome: str
    by: str
    process: str
    """Of which agent: pid and start."""


class Disbelief(Value):
    since: float
    """Wall clock."""
    by: str
    """The strong source that contradicted last."""
    wrong: int
    of: int
    """In how many of the last stretches that were counted."""
    evidence: str = ""
    """Path of the recording that shows it."""


class ClaimRecord(Value):
    claim: Claim
    outcomes: tuple[PastOutcome, ...] = ()
    """The last ones, oldest first."""
    disbelief: Disbelief | None = None


class Release(Value):
    agent: str
    version: str
    """Empty where nothing tells it."""
    claims: tuple[ClaimRecord, ...]

    @property
    def used(self) -> float:
        """When something was last counted for it (wall)."""
        return max((each.outcomes[-1].at for each in self.claims if each.outcomes), default=0.0)


Records = tuple[Release, ...]
