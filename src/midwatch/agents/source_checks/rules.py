"""Sources check each other: which claims of weak sources are not believed for an agent's release.

A *stretch* is the time in which the strongest source says one kind of turn without a break. What a weak source says
meanwhile agrees with it or contradicts it, and is counted once per stretch, when both have lasted longer than timing
explains and all strong sources said the same. A claim that was wrong three times in its last ten stretches is not
believed, until it was right ten times in a row and has kept silent at least three times where it used to be wrong: a
sign that never changes is right whenever the agent is at rest.

Only what a source can express is held against it. A dialog or a limit that only the pane shows refines a strong
source, and is no contradiction. An event says what happened at a moment: what began after it outweighs it, and an open
turn counts only once its end was told, because agents tell of no end in just the bad cases (Esc before the first word).
"""

from __future__ import annotations

from midwatch.agents.rules import EVENTS, SUPERSEDED_AFTER
from midwatch.agents.source_checks.model import (
    AGREES,
    CONTRADICTS,
    STRONG,
    WEAK,
    WITHHELD,
    Claim,
    ClaimRecord,
    Comparison,
    Disbelief,
    PastOutcome,
    Records,
    Release,
)
from midwatch.agents.turn_model import SourceReading
from midwatch.core.value import Value

TIMING = 5.0
"""Seconds that both must last. The slowest source recorded in the lab followed the others within 3.6 s."""
GAP = 5.0
"""Seconds between two looks beyond which nobody knows what was between them."""
KEPT = 10
ENOUGH = 3
"""Contradictions among the outcomes that are kept, and silences before a claim is believed again."""
MOST_CLAIMS, MOST_RELEASES = 60, 50


class ClaimSpan(Value):
    """What a weak source says, and since when (monotonic, wall). No claim: it says nothing."""

    claim: Claim | None
    since: float
    wall: float


class Overlap(Value):
    """What a watcher remembers between its looks at one agent."""

    began: float
    """The first look. Monotonic, as all moments here that are not called wall."""
    looked: float
    lead: tuple[str, str] = ("", "")
    """The strongest source, and the turn that it tells of."""
    lead_wall: float = 0.0
    """When that was first seen (wall)."""
    agreed: str = ""
    """The turn that all strong sources tell of; empty where they differ."""
    event: float | None = None
    """Where only events tell of an open turn: when the last one was (wall)."""
    since: float = 0.0
    """From when on the last two are so."""
    spans: dict[str, ClaimSpan] = {}  # noqa: RUF012  # of a named tuple, which nobody can change
    counted: frozenset[Claim] = frozenset()
    """Claims that were counted in this stretch."""
    unproven: dict[Claim, float] = {}  # noqa: RUF012
    """Contradictions of a turn that an event opened, and when each had lasted long enough (wall)."""


def observe(
    before: Overlap | None, said: tuple[SourceReading, ...], now: float, wall: float,
    *, can_wait: frozenset[str] = frozenset(WEAK), doubted: frozenset[Claim] = frozenset(),
) -> tuple[Overlap, tuple[Comparison, ...]]:  # fmt: skip
    """What to remember of one look, and what it proves.

    ``can_wait`` names the weak sources that have a sign for `waiting`; ``doubted`` are the claims not believed now.
    """
    if before is not None and now - before.looked > GAP:
        before = None
    strong = tuple(each for each in said if each.source in STRONG and each.turn != "exited")
    overlap = _advance_overlap(before, strong, {each.source: each for each in said if each.source in WEAK}, now, wall)
    if not strong:
        return overlap, ()
    found = _proven_contradictions(before, strong[0])
    unproven = dict(overlap.unproven)
    for source, span in overlap.spans.items():
        since = max(overlap.since, span.since)
        if not overlap.agreed or now - since < TIMING:
            continue
        if span.claim is not None and span.claim not in overlap.counted:
            outcome = _compare(strong, span, can_wait)
            if outcome == CONTRADICTS and overlap.event is not None:
                unproven.setdefault(span.claim, wall - (now - since) + TIMING)
            elif outcome:
                found.append(Comparison(span.claim, outcome, strong[0].source, overlap.lead_wall))
        for claim in doubted - overlap.counted if overlap.event is None else ():
            silent = claim.source == source and claim != span.claim
            if silent and _compare(strong, span._replace(claim=claim), can_wait) == CONTRADICTS:
                found.append(Comparison(claim, WITHHELD, strong[0].source, overlap.lead_wall))
    counted = overlap.counted | {each.claim for each in found}
    return overlap._replace(counted=counted, unproven=unproven), tuple(found)


def is_contradicted(overlap: Overlap) -> bool:
    """Whether a contradiction may be under way, of which the looks are worth keeping."""
    lead = overlap.agreed
    turns = {span.claim.turn for span in overlap.spans.values() if span.claim is not None}
    return lead in ("working", "idle", "waiting") and bool(turns & {"working", "idle"} - {lead})


def disagrees(
    overlap: Overlap, said: tuple[SourceReading, ...], now: float, wall: float, can_wait: frozenset[str]
) -> bool:
    """Whether the strongest source contradicts another one now, beyond what a change under way explains.

    At a first look nobody knows for how long: then only the time that the strongest source tells can excuse it.
    """
    strong = [each for each in said if each.source in STRONG and each.turn != "exited"]
    if not strong or (strong[0].turn == "working" and not _shows_now(strong[0])):
        return False
    lead = strong[0]
    began = overlap.since
    if overlap.began == now:
        began = now - SUPERSEDED_AFTER if lead.at is None else now - (wall - lead.at)
    for other in said:
        span = overlap.spans.get(other.source)
        if other.source == lead.source or (span is None and not _shows_now(other)):
            continue
        since = began if span is None or overlap.began == now else max(began, span.since)
        claimed = ClaimSpan(Claim(other.source, other.turn, other.rule), now, span.wall if span else wall)
        if now - since >= SUPERSEDED_AFTER and _compare((lead,), claimed, can_wait) == CONTRADICTS:
            return True
    return False


def _advance_overlap(
    before: Overlap | None, strong: tuple[SourceReading, ...], weak: dict[str, SourceReading], now: float, wall: float
) -> Overlap:
    """The look before, brought up to this one: what goes on keeps its beginning."""
    lead = (strong[0].source, strong[0].turn) if strong else ("", "")
    agreed = lead[1] if all(each.turn == lead[1] for each in strong) else ""
    event = None
    if agreed == "working" and not any(map(_shows_now, strong)):
        event = max((each.at for each in strong if each.at is not None), default=0.0)
    claims = {name: Claim(name, weak[name].turn, weak[name].rule) if name in weak else None for name in WEAK}
    if before is None:
        spans = {name: ClaimSpan(claim, now, wall) for name, claim in claims.items()}
        return Overlap(now, now, lead, wall, agreed, event, now, spans)
    spans = {
        name: old if (old := before.spans[name]).claim == claim else ClaimSpan(claim, now, wall)
        for name, claim in claims.items()
    }
    same = (agreed, event) == (before.agreed, before.event)
    found = before._replace(
        looked=now, agreed=agreed, event=event, since=before.since if same else now, spans=spans,
        unproven=before.unproven if same and lead == before.lead else {},
    )  # fmt: skip
    return found if lead == before.lead else found._replace(lead=lead, lead_wall=wall, since=now, counted=frozenset())


def _proven_contradictions(before: Overlap | None, lead: SourceReading) -> list[Comparison]:
    """Contradictions of an open turn that its source now tells to have gone on until an end, a question or a limit."""
    if before is None or not before.unproven or lead.source != before.lead[0] or lead.turn == "working":
        return []
    if lead.at is None or (lead.turn == "idle" and not lead.detail):
        return []
    return [
        Comparison(claim, CONTRADICTS, lead.source, before.lead_wall)
        for claim, ripe in before.unproven.items()
        if claim not in before.counted and ripe <= lead.at
    ]


def _shows_now(said: SourceReading) -> bool:
    """Whether a source shows what is, or tells of every end, so that what it said last holds."""
    return said.source not in EVENTS or said.firm


def _compare(strong: tuple[SourceReading, ...], span: ClaimSpan, can_wait: frozenset[str]) -> str:
    """What strong sources that agree say of a claim; empty where they say nothing of it."""
    assert span.claim is not None
    turn, claimed = strong[0].turn, span.claim.turn
    if turn == claimed:
        return AGREES
    shown = any(map(_shows_now, strong))
    if turn == "working":
        return CONTRADICTS if claimed == "idle" else ""
    if turn == "idle" and claimed == "working":
        told = [each.at for each in strong if each.at is not None]
        lasted = shown or bool(told and span.wall <= min(told) + SUPERSEDED_AFTER)
        return CONTRADICTS if lasted and not any(each.detail == "background-work" for each in strong) else ""
    if turn == "waiting" and shown and not any(each.detail == "menu" for each in strong):
        # A person's own menu may lie over the work. That somebody is asked not every title can say.
        wrong = claimed == "working" or (claimed == "idle" and span.claim.source in can_wait)
        return CONTRADICTS if wrong else ""
    return ""


# The record -------------------------------------------------------------------------------------------------------


def find_claims(records: Records, agent: str, version: str) -> tuple[ClaimRecord, ...]:
    return next((each.claims for each in records if (each.agent, each.version) == (agent, version)), ())


def find_disbelieved(records: Records, agent: str, version: str) -> dict[Claim, Disbelief]:
    """What is not believed of a release."""
    return {each.claim: each.disbelief for each in find_claims(records, agent, version) if each.disbelief is not None}


def count_comparison(
    records: Records, agent: str, version: str, comparison: Comparison, process: str, wall: float, evidence: str = ""
) -> tuple[Records, ClaimRecord | None]:
    """The records with one comparison more, and the claim's own if it is not believed from now on.

    The very same records where it says nothing new: another watcher has counted it, or the claim was always right.
    """
    claims = {each.claim: each for each in find_claims(records, agent, version)}
    old = claims.get(comparison.claim, ClaimRecord(comparison.claim))
    last = max((each.at for each in old.outcomes if each.process == process), default=None)
    if last is not None and comparison.began <= last:
        return records, None
    always = len(old.outcomes) == KEPT and all(each.outcome == AGREES for each in old.outcomes)
    if always and comparison.outcome == AGREES and old.disbelief is None:
        return records, None
    outcomes = (*old.outcomes, PastOutcome(wall, comparison.outcome, comparison.by, process))[-KEPT:]
    new = old._replace(outcomes=outcomes, disbelief=_judge_claim(old.disbelief, outcomes, evidence))
    claims.pop(comparison.claim, None)
    kept = (*claims.values(), new)[-MOST_CLAIMS:]
    others = [each for each in records if (each.agent, each.version) != (agent, version)]
    found = (*others, Release(agent, version, kept))[-MOST_RELEASES:]
    return found, new if new.disbelief is not None and old.disbelief is None else None


def _judge_claim(before: Disbelief | None, outcomes: tuple[PastOutcome, ...], evidence: str) -> Disbelief | None:
    wrong = [each for each in outcomes if each.outcome == CONTRADICTS]
    if before is None:
        if len(wrong) < ENOUGH:
            return None
        return Disbelief(outcomes[-1].at, wrong[-1].by, len(wrong), len(outcomes), evidence)
    if outcomes[-1].outcome == CONTRADICTS:
        return before._replace(by=wrong[-1].by, wrong=len(wrong), of=len(outcomes))
    silences = sum(each.outcome == WITHHELD for each in outcomes)
    return None if not wrong and silences >= ENOUGH else before
