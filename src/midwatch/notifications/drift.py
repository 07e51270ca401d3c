"""A drift that is new is noted in the journal and sent to the channels that want drifts.

A drift is a difference between the session registry and the world, or between what a source says and what is true.
"""

from __future__ import annotations

import contextlib
import hashlib
import time

from midwatch.config import paths
from midwatch.core import plain_text
from midwatch.core.errors import RefusedError
from midwatch.core.notification_kinds import DRIFT
from midwatch.core.value import Value
from midwatch.jobs import launch, start_sender
from midwatch.journal import codec as journal_codec
from midwatch.journal.journal import Journal
from midwatch.notifications import channels, outbox
from midwatch.notifications.model import Notification


class NotedDrift(Value):
    """What the journal and the channels get to know of a drift."""

    kind: str
    session: str
    """Or the agent whose source it is about."""
    text: str
    before: dict[str, object]
    after: dict[str, object]
    applied: bool = False
    """Its change was made."""
    repeated: bool = False
    """It was sent before, while its change had to wait: it is noted and not sent again."""
    has_change: bool = False
    """A change mends it, so nobody needs to look into it."""


def record_drifts(project: str, new: list[NotedDrift], more: dict[str, object]) -> str:
    """Note drifts, each with ``more``, and send them. Returns what could not be done; they are true all the same."""
    directory = paths.sentinel_directory(start=project)
    troubles = []
    try:
        _record_in_journal(directory, new, more)
    except (OSError, RefusedError) as error:
        troubles.append(f"new drifts are not in the journal: {error}")
    try:
        _enqueue(directory, project, [drift for drift in new if not drift.repeated])
    except (OSError, RefusedError) as error:
        troubles.append(f"no notice of new drifts could be sent: {error}")
    return "; ".join(troubles)


def _record_in_journal(directory: str, new: list[NotedDrift], more: dict[str, object]) -> None:
    paths.prepare_directory(directory)
    with contextlib.closing(Journal(directory)) as book:
        book.take_in()
        book.add(*[
            journal_codec.uncounted_event("", time.time(), drift.session, DRIFT, {
                "class": drift.kind, "reason": drift.text, "before": drift.before, "after": drift.after,
                "applied": drift.applied, **more,
            })
            for drift in new
        ])  # fmt: skip


def _enqueue(directory: str, project: str, new: list[NotedDrift]) -> None:
    wanting = [channel for channel in channels.load_channels(project)[0] if DRIFT in channel.on]
    if not wanting or not new:
        return
    outbox.prepare_outbox(directory)
    for channel in wanting:
        for drift in new:
            outbox.add_notification(directory, _build_notification(drift, channels.channel_id(channel), project))
    start_sender.start(launch.sender_command(directory))


def _build_notification(drift: NotedDrift, channel: str, project: str) -> Notification:
    mark = "\0".join((drift.kind, drift.session, drift.text, channel, str(time.time_ns())))
    fields = {
        "text": drift.text, "name": drift.session, "state": DRIFT, "reason": drift.text, "agent": "", "pane": "",
        "next": "proceed" if drift.has_change else "investigate",
    }  # fmt: skip
    return Notification(
        id=hashlib.sha256(mark.encode("utf-8", "surrogatepass")).hexdigest()[:20], name=drift.session, run="",
        channel=channel, project=project, filed=time.time(),
        fields={key: plain_text.make_plain(value) for key, value in fields.items()},
    )  # fmt: skip
