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
from dogwatch.model.registry import Drift
from dogwatch.store import channels, journal, outbox, places
from dogwatch.store.journal import Journal


def said(drift: Drift, *, applied: bool) -> str:
    """A drift in one line: what was found, and what was done about it, or would be."""
    if not drift.deed:
        return drift.message
    return f"{drift.message} {drift.deed}" if applied else f"{drift.message} Would be {drift.deed.lower()}"


def remember(path: str, project: str, new: tuple[tuple[Drift, bool], ...]) -> None:
    """Note new drifts and tell of them. If that fails it is a warning: they are true all the same."""
    directory = places.directory(start=project)
    _remember(directory, project, new, {"registry": path})


def remember_disbelief(project: str, drift: Drift, evidence: str) -> None:
    """Note, and tell once, that a source of an agent's release is not believed any more."""
    _remember(places.directory(start=project), project, ((drift, False),), {"evidence": evidence})


def _remember(directory: str, project: str, new: tuple[tuple[Drift, bool], ...], more: dict[str, object]) -> None:
    try:
        _note(directory, new, more)
        _tell(directory, project, new)
    except (OSError, RefusedError) as error:
        journal.warn(f"new drifts were not noted: {error}")


def _note(directory: str, new: tuple[tuple[Drift, bool], ...], more: dict[str, object]) -> None:
    if journal.not_kept(directory):
        return
    places.prepare(directory)
    with contextlib.closing(Journal(directory)) as book:
        book.take_in()
        book.add(*[
            events.noted("", time.time(), drift.session, DRIFT, {
                "class": drift.kind, "reason": said(drift, applied=applied), "before": drift.before,
                "after": drift.after, "applied": applied, **more,
            })
            for drift, applied in new
        ])  # fmt: skip


def _tell(directory: str, project: str, new: tuple[tuple[Drift, bool], ...]) -> None:
    wanting = [channel for channel in channels.of(project)[0] if DRIFT in channel.on]
    if not wanting:
        return
    outbox.prepare(directory)
    for channel in wanting:
        for drift, applied in new:
            outbox.file(directory, _notice(drift, said(drift, applied=applied), channels.id_of(channel), project))
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
