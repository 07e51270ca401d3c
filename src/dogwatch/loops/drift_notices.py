"""A drift that is new is remembered in the journal, and told to those who want to hear of drifts.

A drift is a difference between the list of sessions and the world, or between what a source says and what is true.
"""

from __future__ import annotations

import contextlib
import hashlib
import time

from dogwatch.formats import events, notices
from dogwatch.formats.reported import digest, mark
from dogwatch.hands import spawn, tell
from dogwatch.model.errors import RefusedError
from dogwatch.model.notices import DRIFT, Notice
from dogwatch.model.registry import Drift, DriftReport
from dogwatch.store import channels, journal, outbox, places
from dogwatch.store.journal import Journal


def said(report: DriftReport) -> str:
    """A drift in one line: what was found, and what was done about it, will be, or would be."""
    drift = report.drift
    if not drift.deed or report.applied:
        return f"{drift.message} {drift.deed}".rstrip()
    if not drift.wait_s:
        return f"{drift.message} Would be {drift.deed.lower()}"
    deed = drift.deed.lower().rstrip(".")
    return f"{drift.message} Will be {deed} unless its row changes within {drift.wait_s:.0f} s."


def remember(path: str, project: str, new: tuple[DriftReport, ...]) -> None:
    """Note new drifts and tell of them. If that fails it is a warning: they are true all the same."""
    directory = places.directory(start=project)
    _remember(directory, project, new, {"registry": path})


def remember_disbelief(project: str, drift: Drift, evidence: str) -> None:
    """Note, and tell once, that a source of an agent's release is not believed any more."""
    _remember(places.directory(start=project), project, (DriftReport(drift),), {"evidence": evidence})


def _remember(directory: str, project: str, new: tuple[DriftReport, ...], more: dict[str, object]) -> None:
    try:
        _note(directory, new, more)
        _tell(directory, project, [report for report in new if not report.repeated])
    except (OSError, RefusedError) as error:
        journal.warn(f"new drifts were not noted: {error}")


def _note(directory: str, new: tuple[DriftReport, ...], more: dict[str, object]) -> None:
    if journal.not_kept(directory):
        return
    places.prepare(directory)
    with contextlib.closing(Journal(directory)) as book:
        book.take_in()
        book.add(*[
            events.noted("", time.time(), report.drift.session, DRIFT, {
                "class": report.drift.kind, "reason": said(report), "before": report.drift.before,
                "after": report.drift.after, "applied": report.applied, **more,
            })
            for report in new
        ])  # fmt: skip


def _tell(directory: str, project: str, new: list[DriftReport]) -> None:
    wanting = [channel for channel in channels.of(project)[0] if DRIFT in channel.on]
    if not wanting or not new:
        return
    outbox.prepare(directory)
    for channel in wanting:
        for report in new:
            outbox.file(directory, _notice(report.drift, said(report), channels.id_of(channel), project))
    tell.start(spawn.teller_command(directory))


def _notice(drift: Drift, text: str, channel: str, project: str) -> Notice:
    name = hashlib.sha256(
        f"{mark(drift)}\0{digest(drift)}\0{channel}\0{time.time_ns()}".encode("utf-8", "surrogatepass")
    )
    fields = {
        "text": text, "name": drift.session, "state": DRIFT, "reason": text, "agent": "", "pane": "",
        "next": "proceed" if drift.change else "investigate",
    }  # fmt: skip
    return Notice(
        id=name.hexdigest()[:20], name=drift.session, run="", channel=channel, project=project, filed=time.time(),
        fields={key: notices.plain(value) for key, value in fields.items()},
    )  # fmt: skip
