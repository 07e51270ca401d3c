"""Which of the pending notifications one sender may send now. All senders of a directory decide it under one lock.

The sender holds each that it may send, makes one digest of what would be too many messages, and counts its messages
(``outbox/.sent-<channel>``). A digest is written before its members are removed: after a crash in between, whoever
comes next finds them named in it and removes them.
"""

from __future__ import annotations

import contextlib
import hashlib
import os

from midwatch.config.model import Channel
from midwatch.notifications import channels, notification_clock, outbox
from midwatch.notifications.codec import message_text
from midwatch.notifications.model import Notification, SentAt
from midwatch.notifications.outbox import HeldNotification
from midwatch.notifications.rules import changes, schedule
from midwatch.notifications.rules.schedule import HeldBack, Moment
from midwatch.system.atomic_files import write_atomic

Known = dict[str, dict[str, tuple[Channel, str]]]
"""By project and name: each channel, and why it may not be used."""
SOON = 1.0
"""Seconds after which to look again at what another sender holds."""
MOST_READ = 4096


def load_known_channels(projects: set[str]) -> Known:
    return {project: _load_of(project) for project in projects}


def _load_of(project: str) -> dict[str, tuple[Channel, str]]:
    """Each channel with why it may not be used; one that stands in two files may if either may."""
    found: dict[str, tuple[Channel, str]] = {}
    for channel in channels.load_channels(project)[0]:
        called = channels.channel_id(channel)
        if called not in found or found[called][1]:
            found[called] = channel, channels.find_trust_problem(channel)
    return found


def find_reason_to_drop(directory: str, notice: Notification, channel: Channel | None, now: Moment) -> str:
    """Why a notification is not sent any more; empty when it is."""
    if channel is None:
        return "its channel is no longer in the settings"
    if schedule.is_expired(notice, now.wall):
        return notice.trouble or "nobody tried to deliver it in time"
    if is_outdated(directory, notice):
        return outbox.OVER
    if notice.kind == "reminder" and not schedule.is_reminder_needed(notice, channel, now):
        return "its reminder is not wanted any more"
    return ""


def is_outdated(directory: str, notice: Notification) -> bool:
    return changes.is_outdated(notice, outbox.read_state(directory, notice.name, notice.run))


def find_hold(notice: Notification, channel: Channel, now: Moment) -> HeldBack | None:
    """Why it is not sent now, apart from how much was sent."""
    return schedule.find_hold(notice, channel, now, notification_clock.seconds_to_end(channel.quiet, now.wall))


# Claiming


def claim_due(directory: str, *, everything: bool = False) -> list[tuple[HeldNotification, Channel | None, str]]:
    """Hold what this sender may send now, each with its channel and why that may not be used.

    With ``everything`` a person asks: then nothing waits for its next try, or for other messages. OSError where nothing
    can be written.
    """
    if not outbox.list_pending(directory):
        return []
    with outbox.hold_outbox(directory):
        pending = _remove_listed(directory, outbox.list_pending(directory))
        known, now = load_known_channels({notice.project for notice in pending}), notification_clock.read_clocks()
        found: list[tuple[HeldNotification, Channel | None, str]] = []
        due: dict[str, list[HeldNotification]] = {}
        usable: dict[str, Channel] = {}
        for notice in pending:
            channel, problem = known[notice.project].get(notice.channel, (None, ""))
            drop = bool(find_reason_to_drop(directory, notice, channel, now))
            hold = find_hold(notice, channel, now) if channel and not drop else None
            if hold and not (everything and hold.why == "retry"):
                continue
            if not drop and not outbox.is_recorded(directory, notice):
                continue  # whoever was killed before it noted the change will be heard again
            held = outbox.hold_notification(directory, notice)
            if held is None:
                continue  # another has it
            if channel is None or drop or problem:
                found.append((held, channel, problem))
            else:
                usable[notice.channel] = channel
                due.setdefault(notice.channel, []).append(held)
        for name, claimed in due.items():
            sent = _choose(directory, name, usable[name], claimed, now, everything=everything)
            found += [(held, usable[name], "") for held in sent]
        return found


def _choose(
    directory: str, name: str, channel: Channel, claimed: list[HeldNotification], now: Moment, *, everything: bool
) -> list[HeldNotification]:
    """What is sent of all that is due for one channel; the rest is let go."""
    of = {held.notice.id: held for held in claimed}
    overnight = {held.notice.id for held in claimed if _was_kept(held.notice, channel)}
    recent = _read_times(directory, name, now)
    plan = schedule.plan_delivery(
        [held.notice for held in claimed], overnight, recent, now.mono, asked=everything
    )  # fmt: skip
    sent = [of.pop(notice.id) for notice in plan.single]
    for group in plan.digests:
        why = "came in the quiet hours" if group[0].id in overnight else ""
        digest = _make_digest(directory, [of.pop(notice.id) for notice in group], channel, now, why)
        sent += [digest] if digest else []
    for held in of.values():
        held.close()
    if sent:
        _write_times(directory, name, (*schedule.recent_times(recent, now.mono), *(now.mono for _ in sent)), now)
    return sent


def _was_kept(notice: Notification, channel: Channel) -> bool:
    began = notice.filed + (channel.remind_s if notice.kind == "reminder" else 0.0)
    minute = notification_clock.minute_of_day(began)
    return schedule.is_quiet(channel.quiet, minute) and schedule.is_quiet_state(channel, notice)


def _make_digest(
    directory: str, members: list[HeldNotification], channel: Channel, now: Moment, why: str
) -> HeldNotification | None:
    first, ids = members[0].notice, tuple(f"{held.notice.kind} {held.notice.id}" for held in members)
    lines = [message_text.delivered_fields(held.notice, now.wall)["text"] for held in members]
    if why:
        stamps = [notification_clock.format_time_of_day(held.notice.filed) for held in members]
        lines = [f"{stamp} {line}" for stamp, line in zip(stamps, lines, strict=True)]
    mark = "\0".join(("digest", first.channel, *ids))
    digest = Notification(
        id=hashlib.sha256(mark.encode("utf-8", "surrogateescape")).hexdigest()[:20], name="midwatch", run="",
        fields=message_text.digest_fields(lines, why), channel=first.channel, project=first.project, filed=now.wall,
        kind="digest", members=ids,
    )  # fmt: skip
    outbox.add_notification(directory, digest)
    for held in members:
        _remove_member(held, channel, now)
    return outbox.hold_notification(directory, digest)


def _remove_member(held: HeldNotification, channel: Channel | None, now: Moment) -> None:
    """A digest has it from now on; only the reminder of it is still to come."""
    if channel is not None and schedule.is_reminded(held.notice, channel):
        held.write(as_reminder(held.notice, now))
    else:
        held.remove()
    held.close()


def as_reminder(notice: Notification, now: Moment) -> Notification:
    """What is left to send of a change that was delivered."""
    sent = SentAt(now.mono, now.boot)
    return notice._replace(kind="reminder", sent=sent, tries=0, again=0.0, trouble="", filed=now.wall,
                           began=notice.began or notice.filed)  # fmt: skip


def _remove_listed(directory: str, pending: list[Notification]) -> list[Notification]:
    """Remove what a digest lists already: its sender was killed before it could. Returns the rest."""
    digests = [notice for notice in pending if notice.kind == "digest"]
    listed = {(kind, member) for digest in digests for kind, member in _split_members(digest)}
    left, now = [], notification_clock.read_clocks()
    for notice in pending:
        if (notice.kind, notice.id) not in listed:
            left.append(notice)
        elif held := outbox.hold_notification(directory, notice):
            known = _load_of(notice.project).get(notice.channel)
            _remove_member(held, known[0] if known else None, now)
    return left


def _split_members(digest: Notification) -> list[tuple[str, str]]:
    return [(kind, member) for kind, _, member in (each.partition(" ") for each in digest.members)]


# How many messages there were


def _read_times(directory: str, channel: str, now: Moment) -> tuple[float, ...]:
    """Monotonic moments of the last messages of a channel."""
    with contextlib.suppress(OSError, ValueError):
        fd = os.open(_times_path(directory, channel), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            boot, *times = os.read(fd, MOST_READ).decode("ascii").split()
        finally:
            os.close(fd)
        return tuple(map(float, times)) if boot == now.boot else ()
    return ()


def _write_times(directory: str, channel: str, times: tuple[float, ...], now: Moment) -> None:
    write_atomic(_times_path(directory, channel), " ".join([now.boot, *(f"{at:.3f}" for at in times)]) + "\n")


def _times_path(directory: str, channel: str) -> str:
    return f"{directory}/outbox/.sent-{channel}"


# What is left


def list_held_back(directory: str) -> list[tuple[Notification, HeldBack]]:
    """All that is pending, and why each is not sent yet."""
    pending = outbox.list_pending(directory)
    known, now = load_known_channels({notice.project for notice in pending}), notification_clock.read_clocks()
    found = []
    for notice in pending:
        channel, _ = known[notice.project].get(notice.channel, (None, ""))
        hold = find_hold(notice, channel, now) if channel else None
        if hold is None:
            times = schedule.recent_times(_read_times(directory, notice.channel, now), now.mono)
            many = len(times) >= schedule.MOST
            hold = HeldBack("rate", times[-schedule.MOST] + schedule.WINDOW - now.mono) if many else None
        found.append((notice, hold or HeldBack("retry", SOON)))
    return found
