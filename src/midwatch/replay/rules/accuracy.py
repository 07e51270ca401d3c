"""How often verdicts were right: each compared with what was true, the dangerous mistakes counted apart."""

from __future__ import annotations

from midwatch.core.value import Value

TURNS = ("working", "waiting", "limited", "idle", "exited", "unknown")
DANGEROUS = {
    ("working", "idle"): "working read as idle",
    ("working", "stuck"): "working read as stuck",
    ("waiting", "working"): "waiting read as working",
    ("waiting", "idle"): "waiting read as idle",
    ("exited", "working"): "dead read as alive",
    ("exited", "idle"): "dead read as alive",
    ("exited", "waiting"): "dead read as alive",
    ("exited", "limited"): "dead read as alive",
}
"""Mistakes by which people lose work: true turn and the one that was read."""


class AccuracyTrial(Value):
    """One verdict beside the truth."""

    agent: str
    case: str
    truth: str
    truth_detail: str
    read: str
    read_detail: str
    rule: str
    weight: float = 1.0
    """How much it counts: 1 for a screen, seconds for a stretch of a timeline."""

    @property
    def right(self) -> bool:
        return self.truth == self.read

    @property
    def danger(self) -> str:
        return DANGEROUS.get((self.truth, self.read), "")


def format_matrix(trials: list[AccuracyTrial], unit: str) -> list[str]:
    """Rows of a table, one per agent and true turn: how each was read."""
    rows = [f"| agent | truth | {' | '.join(TURNS)} | right |", "|---|---|" + "---:|" * (len(TURNS) + 1)]
    for agent in dict.fromkeys(trial.agent for trial in trials):
        for truth in TURNS:
            some = [trial for trial in trials if trial.agent == agent and trial.truth == truth]
            if not some:
                continue
            counts = [sum(trial.weight for trial in some if trial.read == read) for read in TURNS]
            cells = " | ".join(_format_number(count, unit) if count else "" for count in counts)
            rows.append(f"| {agent} | {truth} | {cells} | {format_share(some)} |")
    return rows


def format_share(trials: list[AccuracyTrial]) -> str:
    """How much of it was right, rounded down: 100 % is said only of what was never wrong."""
    whole = sum(trial.weight for trial in trials)
    right = sum(trial.weight for trial in trials if trial.right)
    return f"{int(1000 * right / whole) / 10:g} %" if whole else "-"


def _format_number(count: float, unit: str) -> str:
    return f"{count:.0f}" if not unit else f"{count:.1f} {unit}"
