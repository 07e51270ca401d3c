"""``sources.json`` as text: how often the weak sources of each agent's release were right."""

from __future__ import annotations

import json

from midwatch.agents.source_checks.model import (
    AGREES,
    CONTRADICTS,
    WITHHELD,
    Claim,
    ClaimRecord,
    Disbelief,
    PastOutcome,
    Records,
    Release,
)
from midwatch.core.errors import FormatError

SCHEMA = 1
LATEST = 1e11
"""A time that a calendar can still name."""
NAMES = {
    "osc7501": "own reports", "state": "state file", "api": "server", "hook": "hooks", "transcript": "transcript",
}  # fmt: skip
OUTCOMES = (AGREES, CONTRADICTS, WITHHELD)
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class NewerSchemaError(FormatError):
    """A later version of this program wrote it: it must not be replaced."""


def format_disbelief(claim: Claim, doubt: Disbelief, agent: str, version: str) -> str:
    """That a claim is not believed, and why, for people."""
    whose = f"{agent} {version}" if version else f"{agent} of an unknown release"
    by = NAMES.get(doubt.by, doubt.by)
    return (
        f"{claim.source}: {claim.turn}, by rule {claim.rule}, is not believed for {whose} "
        f"(contradicted by its {by} in {doubt.wrong} of {doubt.of} turns)"
    )


def encode(records: Records) -> str:
    releases = [
        {
            "agent": release.agent,
            "version": release.version,
            "claims": [_encode_record(each) for each in release.claims],
        }
        for release in records
    ]
    return json.dumps({"schema": SCHEMA, "releases": releases}, separators=(",", ":")) + "\n"


def decode(text: str) -> Records:
    """FormatError where it is not what `encode` writes."""
    try:
        found: dict[str, Any] = json.loads(text)
        schema = found["schema"]
        if type(schema) is int and schema > SCHEMA:
            raise NewerSchemaError(f"it is of version {schema}, and only {SCHEMA} is understood")
        if schema != SCHEMA:
            raise ValueError(f"schema {schema!r:.20}")  # noqa: TRY301  # one error for all that is wrong
        return tuple(
            Release(_to_text(each["agent"]), _to_text(each["version"]), tuple(map(_decode_record, each["claims"])))
            for each in found["releases"]
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError(f"it is no record of sources: {type(error).__name__} {error}"[:120]) from error


def _encode_record(record: ClaimRecord) -> dict[str, object]:
    found: dict[str, object] = {**record.claim._asdict(), "outcomes": [list(each) for each in record.outcomes]}
    if record.disbelief is not None:
        found["disbelief"] = record.disbelief._asdict()
    return found


def _decode_record(found: dict[str, Any]) -> ClaimRecord:
    claim = Claim(_to_text(found["source"]), _to_text(found["turn"]), _to_text(found["rule"]))
    outcomes = tuple(
        PastOutcome(_to_moment(at), OUTCOMES[OUTCOMES.index(outcome)], _to_text(by), _to_text(process))
        for at, outcome, by, process in found["outcomes"]
    )
    doubt = found.get("disbelief")
    if doubt is None:
        return ClaimRecord(claim, outcomes)
    since, by, wrong, of, evidence = (doubt[key] for key in Disbelief._fields)
    return ClaimRecord(
        claim, outcomes, Disbelief(_to_moment(since), _to_text(by), int(wrong), int(of), _to_text(evidence))
    )


def _to_text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r:.20} is no text")  # noqa: TRY004  # one error for all that is wrong
    return value


def _to_moment(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < LATEST:
        raise ValueError(f"{value!r:.20} is no time")
    return float(value)
