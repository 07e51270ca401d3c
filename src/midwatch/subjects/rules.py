"""What changed between what the feed has told and a snapshot. Pure; time is an argument.

A subject that is missing from one snapshot may be back in the next. Only absence from two snapshots, at least a second
apart, is told; and none is missing where nothing could be observed.
"""

from __future__ import annotations

from midwatch.core.value import Value
from midwatch.subjects.model import KnownState, Subject, SubjectChange, SubjectSnapshot

ABSENT_FOR = 1.0
"""Seconds between two snapshots without a subject until it is gone."""
GONE = "it is no longer there"


class FeedState(Value):
    """What the feed has told so far."""

    known: dict[str, KnownState]
    missing: dict[str, float]
    """Since when a subject is missing (monotonic)."""


def read_state(subject: Subject) -> KnownState:
    verdict = subject.verdict
    return KnownState(
        verdict.state, verdict.final, verdict.cause, subject.run, subject.kind, verdict.name, subject.parent
    )


def find_changes(state: FeedState, found: SubjectSnapshot, now: float) -> tuple[FeedState, tuple[SubjectChange, ...]]:
    """The changes that a snapshot shows, and the state once they are told."""
    known, changes = dict(state.known), []
    for subject in found.subjects:
        before, after = known.get(subject.id), read_state(subject)
        if not subject.verdict.settled and before is not None:
            continue  # a moment later a look may say more
        if before is None or not before.is_same(after):
            changes.append(_build_change(subject, before))
        known[subject.id] = after
    there = {subject.id for subject in found.subjects}
    absent = [key for key in known if key not in there and not key.startswith(found.unseen)]
    missing = {key: state.missing.get(key, now) for key in absent}
    for key in [key for key in absent if now - missing[key] >= ABSENT_FOR]:
        before = known.pop(key)
        del missing[key]
        if not before.final:
            changes.append(_build_removal(key, before))
    return FeedState(known, missing), tuple(changes)


def begin_feed(found: SubjectSnapshot) -> FeedState:
    """The state of a feed that begins: what ended before is known and not told."""
    ended = {subject.id: read_state(subject) for subject in found.subjects if subject.verdict.final}
    return FeedState(ended, {})


def _build_change(subject: Subject, before: KnownState | None) -> SubjectChange:
    verdict = subject.verdict
    return SubjectChange(
        subject.id, subject.kind, verdict.name, subject.parent, verdict.state, verdict.final, verdict.cause,
        verdict.reason, before.state if before else "", subject.run,
    )  # fmt: skip


def _build_removal(key: str, before: KnownState) -> SubjectChange:
    return SubjectChange(
        key, before.kind, before.name, before.parent, "", final=True, cause="", reason=GONE, was=before.state,
        run=before.run,
    )  # fmt: skip
