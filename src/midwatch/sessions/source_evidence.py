"""That a claim of a weak source is not believed any more: recorded so that `replay` can show it, and reported once."""

from __future__ import annotations

import os

from midwatch.agents.catalog import Detectors
from midwatch.agents.definition import Detector
from midwatch.agents.source_checks import codec as words
from midwatch.agents.source_checks import store as source_checks_store
from midwatch.agents.source_checks.model import ClaimRecord
from midwatch.core.pane_model import Observation
from midwatch.core.policy import Policy
from midwatch.core.redaction import Redactor
from midwatch.journal import journal
from midwatch.notifications import drift
from midwatch.notifications.drift import NotedDrift
from midwatch.sessions.codec import recording as sessions_recording
from midwatch.sessions.replayer import SessionReplayer


def report_disbelief(
    detector: Detector,
    release: str,
    record: ClaimRecord,
    moments: tuple[Observation, ...],
    policy: Policy,
    project: str,
) -> None:
    """Keep the looks, and note the drift. If that fails it is a warning: the claim is not believed all the same."""
    doubt, claim = record.disbelief, record.claim
    assert doubt is not None
    text = words.format_disbelief(claim, doubt, detector.title, release)
    try:
        source_checks_store.write_recording(doubt.evidence, build_recording(detector, release, record, moments, policy))
        text = f"{text}; `midwatch replay {doubt.evidence}` shows it"
    except OSError as error:
        journal.warn(f"{text}; the evidence could not be kept: {error.strerror}")
    about: dict[str, object] = {"agent": detector.agent, "version": release, **claim._asdict(), "by": doubt.by}
    noted = [NotedDrift("source", detector.agent, text, about, {})]
    if trouble := drift.record_drifts(project, noted, {"evidence": doubt.evidence}):
        journal.warn(trouble)


def build_recording(
    detector: Detector, release: str, record: ClaimRecord, moments: tuple[Observation, ...], policy: Policy
) -> str:
    """The looks as a timeline, without keys and names of homes."""
    assert record.disbelief is not None
    doubted = {**record.claim._asdict(), "by": record.disbelief.by}
    writer = sessions_recording.RecordingWriter()
    known = Detectors({detector.agent: detector})
    again = SessionReplayer(policy, known)
    redactor = Redactor((os.path.expanduser("~"),))
    header = sessions_recording.RecordingHeader(detector.agent, release, "source-contradicted", policy, doubted)
    lines = [writer.header(header)]
    lines += [writer.line(redactor.clean_sighting(seen), again.given) for seen in moments]
    return "\n".join(lines) + "\n"
