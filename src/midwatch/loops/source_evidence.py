"""That a claim of a weak source is not believed any more: recorded so that `replay` can show it, and reported once."""

from __future__ import annotations

import os

from midwatch.agents.detector import Detector
from midwatch.formats import source_records as words
from midwatch.formats import timeline
from midwatch.formats.redact import Redactor
from midwatch.loops import noted_drift
from midwatch.loops.noted_drift import NotedDrift
from midwatch.loops.replayer import Replayer
from midwatch.model.policy import Policy
from midwatch.model.session import Sighting
from midwatch.model.source_record import ClaimRecord
from midwatch.store import journal, source_records
from midwatch.store.detectors import Detectors


def report(
    detector: Detector, release: str, record: ClaimRecord, moments: tuple[Sighting, ...], policy: Policy, project: str
) -> None:
    """Keep the looks, and note the drift. If that fails it is a warning: the claim is not believed all the same."""
    doubt, claim = record.disbelief, record.claim
    assert doubt is not None
    text = words.worded(claim, doubt, detector.title, release)
    try:
        source_records.write_recording(doubt.evidence, recording(detector, release, record, moments, policy))
        text = f"{text}; `midwatch replay {doubt.evidence}` shows it"
    except OSError as error:
        journal.warn(f"{text}; the evidence could not be kept: {error.strerror}")
    about: dict[str, object] = {"agent": detector.agent, "version": release, **claim._asdict(), "by": doubt.by}
    noted_drift.note(project, [NotedDrift("source", detector.agent, text, about, {})], {"evidence": doubt.evidence})


def recording(
    detector: Detector, release: str, record: ClaimRecord, moments: tuple[Sighting, ...], policy: Policy
) -> str:
    """The looks as a timeline, without keys and names of homes."""
    assert record.disbelief is not None
    doubted = {**record.claim._asdict(), "by": record.disbelief.by}
    writer = timeline.Writer()
    known = Detectors({detector.agent: detector})
    again = Replayer(policy, known)
    redactor = Redactor((os.path.expanduser("~"),))
    header = timeline.Header(detector.agent, release, "source-contradicted", policy, doubted)
    lines = [writer.header(header)]
    lines += [writer.line(redactor.clean_sighting(seen), again.given) for seen in moments]
    return "\n".join(lines) + "\n"
