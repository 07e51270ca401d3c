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
from midwatch.core.plain_text import make_plain
from midwatch.core.value import Value
from midwatch.notifications import apprise_worker, channels, message_claims, notification_clock, outbox
from midwatch.notifications import transports as link
from midwatch.notifications.codec import message_text
from midwatch.notifications.model import Notification
from midwatch.notifications.rules import schedule
from midwatch.notifications.rules.schedule import HeldBack
from midwatch.system.wakeup_sources import WakeupSources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Look = Callable[[Notification], bool | None]
    """Whether what a notification says is still so; None where that cannot be seen."""

LIMIT = 30.0
"""Seconds that one delivery may take."""
STAYS = 240.0
"""Seconds that one process stays to try again what failed: three times, as the back-off goes."""
NEVER = float("inf")
LONGEST_SLEEP = 60.0
"""Seconds of one sleep: while the machine is suspended no clock of a sleep goes on, but quiet hours end."""
UNSEEN = 60.0
"""Seconds until a session that could not be looked at is looked at again, before a reminder of it is sent."""
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


def deliver_due(directory: str, look: Look, renew: Callable[[float], None]) -> None:
    """Deliver what is due, and stay: a few minutes for what could not be delivered, and to the end of quiet hours.

    ``look`` says whether a session still waits for a person. ``renew`` is given the seconds that this may still take.
    """
    until = time.monotonic() + STAYS
    deliver_pending(directory, look, until=until)
    outbox.remove_old_states(directory)
    try:
        while schedule.find_stay(note_due_time(directory), until - time.monotonic()):
            # Again after the lease was let go: whoever came meanwhile has left it to us.
            post = outbox.acquire_retry_lease(directory)
            if post is None:
                return  # somebody stays already
            try:
                if _stay(directory, until, look, renew):
                    return
            finally:
                os.close(post)
    except OSError:
        return  # nothing can be written here now


def _stay(directory: str, until: float, look: Look, renew: Callable[[float], None]) -> bool:
    """Deliver all that becomes due while there is a reason to stay. Returns whether a signal ended it."""
    alarm = WakeupSources(f"{directory}/outbox", frozenset((outbox.DUE,)))
    try:
        while stay := schedule.find_stay(note_due_time(directory), until - time.monotonic()):
            if alarm.signals.asked:
                return True
            renew(stay.rest + STAYS + 2 * LIMIT)
            alarm.sleep(time.monotonic() + min(max(TICK, stay.rest), LONGEST_SLEEP))
            now = time.monotonic()
            until = max(until, now + STAYS) if stay.why == "quiet" else until
            deliver_pending(directory, look, until=now + STAYS)
        return False
    finally:
        alarm.close()


def note_due_time(directory: str) -> list[HeldBack]:
    """Note when a sender has something to do next. Returns why each notification is not sent yet."""
    if paths.find_sharing(directory) or not os.path.isdir(f"{directory}/outbox"):
        return []
    holds: list[HeldBack] = []
    try:
        with outbox.hold_outbox(directory):
            holds = [hold for _, hold in message_claims.list_held_back(directory)]
            outbox.write_due_time(directory, min((hold.rest for hold in holds), default=None))
    except OSError:
        pass  # a full disk: whoever comes by takes all for due
    return holds


def deliver_pending(directory: str, look: Look, *, everything: bool = False, until: float = NEVER) -> None:
    """Try what is due, or, if a person asks for it, all that is not kept for later.

    What could not be begun before ``until`` is left for whoever comes by: a hundred that hang would take minutes.
    """
    if paths.find_sharing(directory):
        return  # whatever lies in there may be another's
    try:
        claimed = message_claims.claim_due(directory, everything=everything)
    except OSError:
        return  # a full disk: all stays as it is

    def attempt(claim: tuple[outbox.HeldNotification, Channel | None, str]) -> None:
        held, channel, problem = claim
        try:
            if time.monotonic() < until:
                _try_delivery(directory, held, channel, problem, look)
        except OSError:
            pass  # as above
        finally:
            held.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(attempt, claimed))


def _try_delivery(
    directory: str, held: outbox.HeldNotification, channel: Channel | None, problem: str, look: Look
) -> None:
    now = notification_clock.read_clocks()
    why = message_claims.find_reason_to_drop(directory, held.notice, channel, now)
    if channel is None or why:
        record_given_up(directory, held, why)
        return
    if held.notice.kind == "reminder" and not problem and not held.notice.tries:
        waits = look(held.notice)
        if waits is None:
            held.write(held.notice._replace(again=now.wall + UNSEEN))
            return
        if not waits:
            record_given_up(directory, held, outbox.OVER)
            return
    failed = _deliver_one(directory, held, channel, problem)
    if failed and message_claims.is_outdated(directory, held.notice):  # meanwhile, and nobody could take it from us
        record_given_up(directory, held, outbox.OVER)


def _deliver_one(directory: str, held: outbox.HeldNotification, channel: Channel, problem: str) -> bool:
    notice, now = held.notice, time.time()
    if problem:  # nothing was tried, so it does not count
        held.write(notice._replace(again=now + backoff.LONGEST, trouble=problem))
        if notice.trouble != problem:
            _record(directory, notice, "undelivered", channel=link.format_channel(channel), reason=problem)
        return False
    tried = notice._replace(tries=notice.tries + 1)
    held.write(tried._replace(again=schedule.next_try_at(tried, now) or now))  # before: whoever is killed now has tried
    cwd = notice.project if os.path.isdir(notice.project) else "/"
    done = link.send_notification(channel, message_text.delivered_fields(notice, now), cwd, LIMIT)
    if done.ok:
        if schedule.is_reminded(notice, channel):
            held.write(message_claims.as_reminder(notice, notification_clock.read_clocks()))
        else:
            held.remove()
        kind = {} if notice.kind == "change" else {"kind": notice.kind}
        _record(directory, notice, "notice", channel=link.format_channel(channel), tries=tried.tries, **kind)
        return False
    again = schedule.next_try_at(tried, time.time())
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
    if held.notice.kind == "reminder" and not tries:
        return  # it was answered in time, as most are
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
