"""Delivering what is in the outbox, all channels at once, and saying what became of it.

Who a channel is, and whether its file may be used, is asked of the settings as they are now: nothing secret is kept in
the outbox, and a file that is trusted later delivers later. What cannot be delivered is tried again by whoever comes
by: the next notice, a monitor, `midwatch notify --pending`. At night nobody may come by, so one process per directory
stays a few minutes for what has just failed; it is no daemon.
"""

from __future__ import annotations

import os
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

from midwatch.breaker.rules import backoff
from midwatch.config import paths
from midwatch.config.model import Channel
from midwatch.core.errors import MidwatchError
from midwatch.core.notification_kinds import LIVE_TOLD
from midwatch.core.plain_text import make_plain
from midwatch.core.value import Value
from midwatch.notifications import apprise_worker, channels, outbox
from midwatch.notifications import rules as notifications_rules
from midwatch.notifications import transports as link
from midwatch.notifications.model import Notification

LIMIT = 30.0
"""Seconds that one delivery may take."""
STAYS = 240.0
"""Seconds that one process stays to try again what failed: three times, as the back-off goes."""
NEVER = float("inf")
OVER = "it was over before it could be delivered"
TICK = 1.0
"""Seconds between two rounds at least: what another holds at the moment is due all the same."""
AT_ONCE = 8


class ChannelStatus(Value):
    """A channel, and why it cannot be used now; empty when it can."""

    channel: Channel
    called: str
    problem: str


# Channels


def channel_statuses(project: str) -> list[ChannelStatus]:
    return [
        ChannelStatus(
            channel,
            link.format_channel(channel),
            channels.find_trust_problem(channel) or _find_missing(channel, project),
        )
        for channel in channels.load_channels(project)[0]
    ]


def _find_missing(channel: Channel, project: str) -> str:
    if channel.kind == "url":
        return apprise_worker.find_problem()
    program = channel.target[0]
    there = shutil.which(os.path.join(project, program) if "/" in program else program)
    return "" if there else f"there is no program {program}; install it, or mend {channel.source}"


# Delivering


def deliver_due(directory: str) -> None:
    """Deliver what is due, and stay a while for what could not be."""
    until = time.monotonic() + STAYS
    failed = deliver_pending(directory, until=until)
    outbox.remove_old_states(directory)
    try:
        post = outbox.acquire_retry_lease(directory) if failed else None
    except OSError:
        return  # nothing can be written here now
    if post is None:
        return  # there is nothing to stay for, or somebody stays already
    try:
        while waiting := outbox.list_pending(directory):
            rest = max(TICK, min(notice.again for notice in waiting) - time.time())
            if time.monotonic() + rest >= until:
                return
            time.sleep(rest)
            deliver_pending(directory, until=until)
    finally:
        os.close(post)


def deliver_pending(directory: str, *, everything: bool = False, until: float = NEVER) -> bool:
    """Try what is due, or, if a person asks for it, everything. Returns whether something failed.

    What could not be begun before ``until`` is left for whoever comes by: a hundred that hang would take minutes.
    """
    if paths.find_sharing(directory):
        return False  # whatever lies in there may be another's
    now = time.time()
    waiting = [
        notice for notice in outbox.list_pending(directory) if everything or notifications_rules.is_due(notice, now)
    ]
    known = {project: _load_channels(project) for project in {notice.project for notice in waiting}}

    def attempt(notice: Notification) -> bool:
        return time.monotonic() < until and _try_delivery(
            directory, notice, known[notice.project].get(notice.channel), everything=everything
        )

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return any(list(pool.map(attempt, waiting)))


def _load_channels(project: str) -> dict[str, tuple[Channel, str]]:
    """Each channel with why it may not be used; one that stands in two files may if either may."""
    found: dict[str, tuple[Channel, str]] = {}
    for channel in channels.load_channels(project)[0]:
        called = channels.channel_id(channel)
        if called not in found or found[called][1]:
            found[called] = channel, channels.find_trust_problem(channel)
    return found


def _try_delivery(directory: str, notice: Notification, found: tuple[Channel, str] | None, *, everything: bool) -> bool:
    """Returns whether it was tried and failed."""
    held = outbox.hold_notification(directory, notice)
    if held is None:
        return False  # another has it
    try:
        if not everything and not notifications_rules.is_due(held.notice, time.time()):
            return False
        if found is None:
            record_given_up(directory, held, "its channel is no longer in the settings")
        elif notifications_rules.is_expired(held.notice, time.time()):
            record_given_up(directory, held, held.notice.trouble or "nobody tried to deliver it in time")
        elif _is_outdated(directory, held.notice):
            record_given_up(directory, held, OVER)
        elif outbox.is_recorded(directory, held.notice):
            failed = _deliver_one(directory, held, *found)
            if failed and _is_outdated(directory, held.notice):  # meanwhile, and nobody could take it from us
                record_given_up(directory, held, OVER)
            return failed
    except OSError:
        return True  # a full disk: it stays as it is
    finally:
        held.close()
    return False


def _is_outdated(directory: str, notice: Notification) -> bool:
    """Whether something else is so by now. That a monitor gave up says nothing of what it watched."""
    if notice.fields.get("state") not in LIVE_TOLD:
        return False
    told = outbox.read_state(directory, notice.name, notice.run)
    closed = told.number == notice.number and bool(told.state) and not told.open
    return (told.number > notice.number or closed) and told.state != "abandoned"


def _deliver_one(directory: str, held: outbox.HeldNotification, channel: Channel, problem: str) -> bool:
    notice, now = held.notice, time.time()
    if problem:  # nothing was tried, so it does not count
        held.write(notice._replace(again=now + backoff.LONGEST, trouble=problem))
        if notice.trouble != problem:
            _record(directory, notice, "undelivered", channel=link.format_channel(channel), reason=problem)
        return False
    tried = notice._replace(tries=notice.tries + 1)
    held.write(
        tried._replace(again=notifications_rules.next_try_at(tried, now) or now)
    )  # before: whoever is killed now has tried
    cwd = notice.project if os.path.isdir(notice.project) else "/"
    done = link.send_notification(channel, notice.fields, cwd, LIMIT)
    if done.ok:
        held.remove()
        _record(directory, notice, "notice", channel=link.format_channel(channel), tries=tried.tries)
        return False
    again = notifications_rules.next_try_at(tried, time.time())
    if again is None:
        record_given_up(directory, held, done.why)
        return False
    held.write(tried._replace(again=again, trouble=done.why))
    if tried.tries == 1:
        _record(
            directory,
            notice,
            "undelivered",
            channel=link.format_channel(channel),
            reason=f"{done.why}; it is tried again",
        )
    return True


def record_given_up(directory: str, held: outbox.HeldNotification, why: str) -> None:
    held.remove()
    tries = held.notice.tries
    _record(
        directory, held.notice, "undelivered", tries=tries, reason=f"{why}; given up", text=held.notice.fields["text"]
    )


def send_test(project: str, text: str) -> list[tuple[ChannelStatus, link.DeliveryAttempt]]:
    """Say something through every channel, now, and what became of it; nothing is kept."""
    said = make_plain(text)
    fields = {
        "text": said,
        "name": "midwatch",
        "state": "test",
        "reason": said,
        "agent": "",
        "pane": "",
        "next": "none",
    }
    found = channel_statuses(project)

    def send(standing: ChannelStatus) -> link.DeliveryAttempt:
        if standing.problem:
            return link.DeliveryAttempt(ok=False, why=standing.problem)
        return link.send_notification(standing.channel, fields, project, LIMIT)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(zip(found, pool.map(send, found), strict=True))


# Saying what became of it


def _record(directory: str, notice: Notification, event: str, **body: object) -> None:
    record_event(directory, notice.name, notice.run, event, state=notice.fields["state"], **body)


def record_event(directory: str, name: str, run: str, event: str, **body: object) -> None:
    """Remember it in the journal, if there is one."""
    from midwatch.journal import journal  # noqa: PLC0415  # a watcher pays for it only when something went wrong

    try:
        journal.record_event(directory, name, run, event, **body)
    except (OSError, MidwatchError):
        pass  # the deed counts, not the note


def format_waiting(waiting: list[Notification]) -> str:
    """One line about what waits in an outbox."""
    many = "1 notice is" if len(waiting) == 1 else f"{len(waiting)} notices are"
    return f"{many} undelivered; the last: {waiting[-1].trouble or 'not tried yet'}"
