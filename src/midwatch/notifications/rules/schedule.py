"""When each notification is due, and which of those that are due become one message.

A wall clock may be set; so what counts seconds (reminders, messages in a minute) counts monotonic ones, and only quiet
hours and what is kept over a restart go by the wall clock.
"""

from __future__ import annotations

from midwatch.breaker.rules import backoff
from midwatch.config.model import Channel, QuietHours
from midwatch.core.notification_kinds import DRIFT, LEVELS, NEEDS_YOU, UNPLANNED
from midwatch.core.value import Value
from midwatch.notifications.model import Notification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Hold = Literal["quiet", "reminder", "retry", "rate"]
else:
    Hold = str

FIRST = 30.0
"""Seconds before what could not be delivered is tried again; doubled each time, up to five minutes."""
MOST_TRIES = 20
"""A channel may have delivered and still say that it failed: then this is how often somebody is told."""
KEPT = 86400.0
"""Seconds after which nobody wants to be told any more."""
MOST = 5
"""Messages that a channel gets in ``WINDOW`` seconds. What would be more becomes one of them."""
WINDOW = 60.0
LONGEST_DIGEST = 30
"""Notifications in one digest."""
AT_PROMPT = ("interrupted", "turn-end-unseen", "not-continued", "limit-over")
"""Causes of waiting for a person while the agent is at its prompt."""


class Moment(Value):
    """Now, by every clock that counts."""

    wall: float
    mono: float
    boot: str
    minute: int
    """Minutes after local midnight."""


class HeldBack(Value):
    """Why a notification is not sent now, and for how many seconds."""

    why: Hold
    rest: float


class Delivery(Value):
    """What is sent now: each of ``single`` by itself, each group as one digest; and after how long the rest is due."""

    single: tuple[Notification, ...] = ()
    digests: tuple[tuple[Notification, ...], ...] = ()
    rest: float | None = None


# When


def is_due(notice: Notification, now: float) -> bool:
    """Whether it is time to try. A time that is too far ahead was reckoned by a clock that has been set back since."""
    return notice.again <= now or notice.again > now + backoff.LONGEST


def next_try_at(notice: Notification, now: float) -> float | None:
    """When to try again what could not be delivered; None: never, it was tried for long enough."""
    if notice.tries >= MOST_TRIES or is_expired(notice, now):
        return None
    return now + backoff.retry_delay(max(1, notice.tries), FIRST, notice.id)


def is_expired(notice: Notification, now: float) -> bool:
    return now - notice.filed > KEPT


def is_quiet(quiet: QuietHours | None, minute: int) -> bool:
    """Whether a minute of the day is among the quiet ones."""
    if quiet is None:
        return False
    if quiet.start < quiet.end:
        return quiet.start <= minute < quiet.end
    return minute >= quiet.start or minute < quiet.end


def is_quiet_state(channel: Channel, notice: Notification) -> bool:
    """Whether quiet hours keep it back. A digest was made when it could be sent, so it is not kept back again."""
    passes = channel.quiet_except
    words = (*passes, *LEVELS[NEEDS_YOU]) if NEEDS_YOU in passes else passes
    state = notice.fields.get("state", "")
    if notice.kind == "digest" or channel.quiet is None:
        return False
    unplanned = state == "limited" and UNPLANNED in words and not notice.fields.get("planned")
    return not (state in words or unplanned or ("final" in words and _is_end(notice)))


def _is_end(notice: Notification) -> bool:
    return notice.fields.get("final") == "yes" and notice.fields.get("state") != DRIFT


def find_hold(notice: Notification, channel: Channel, now: Moment, quiet_rest: float) -> HeldBack | None:
    """Why it is not sent now, apart from how much was sent. ``quiet_rest``: seconds to the end of the quiet hours."""
    if not is_due(notice, now.wall):
        return HeldBack("retry", notice.again - now.wall)
    if notice.kind == "reminder" and (rest := reminder_rest(notice, channel, now)) > 0:
        return HeldBack("reminder", rest)
    if is_quiet(channel.quiet, now.minute) and is_quiet_state(channel, notice):
        return HeldBack("quiet", quiet_rest)
    return None


def reminder_rest(notice: Notification, channel: Channel, now: Moment) -> float:
    """Seconds until a reminder is due."""
    return notice.sent.at + channel.remind_s - now.mono


def is_reminder_needed(notice: Notification, channel: Channel, now: Moment) -> bool:
    """Whether a reminder may still be sent. What waited before a restart does not wait any more."""
    return channel.remind_s > 0 and notice.sent.boot == now.boot


def is_reminded(notice: Notification, channel: Channel) -> bool:
    """Whether a reminder follows the delivery of this."""
    return notice.kind == "change" and notice.fields.get("state") == "waiting" and channel.remind_s > 0


def is_still_waiting(cause: str, state: str, turn: str) -> bool:
    """Whether a look at a session bears out what was sent: that it waits for a person."""
    return state == "waiting" or (turn == "idle" and cause in AT_PROMPT)


# How many


def plan_delivery(
    due: list[Notification], overnight: set[str], recent: tuple[float, ...], now: float, *, asked: bool = False
) -> Delivery:
    """What of that which is due for one channel is sent now.

    ``overnight``: ids of those that quiet hours kept back. ``recent``: monotonic moments of messages. ``asked``: a
    person wants all of it now.
    """
    times = recent_times(recent, now)
    room = MOST if asked else MOST - len(times)
    alone = [notice for notice in due if notice.kind == "digest"]
    kept = [notice for notice in due if notice.kind != "digest" and notice.id in overnight]
    rest = [notice for notice in due if notice.kind != "digest" and notice.id not in overnight]
    if len(kept) < 2:  # noqa: PLR2004  # one alone is no digest
        kept, rest = [], [*kept, *rest]
    groups: list[tuple[Notification, ...]] = [(notice,) for notice in alone] + _split(kept)
    groups += [(notice,) for notice in rest] if len(groups) + len(rest) <= room else _split(rest)
    later = times[-MOST] + WINDOW - now if len(times) >= MOST else WINDOW
    chosen = groups[:room] if room > 0 else []
    return Delivery(
        tuple(group[0] for group in chosen if len(group) == 1),
        tuple(group for group in chosen if len(group) > 1),
        later if len(chosen) < len(groups) else None,
    )


def find_stay(holds: list[HeldBack], left: float) -> HeldBack | None:
    """Why a sender stays, and in how many seconds it has something to do; None: it does not stay.

    It stays for the end of quiet hours, however far, and for what is due within the ``left`` seconds of its stay.
    Reminders are sent by it if it is there; for them alone it does not stay.
    """
    reasons = [hold.why for hold in holds if hold.why == "quiet" or (hold.why != "reminder" and hold.rest < left)]
    rest = max(0.0, min((hold.rest for hold in holds), default=0.0))
    return HeldBack("quiet" if "quiet" in reasons else reasons[0], rest) if reasons else None


def recent_times(times: tuple[float, ...], now: float) -> tuple[float, ...]:
    return tuple(sorted(at for at in times if now - WINDOW < at <= now))


def _split(notices: list[Notification]) -> list[tuple[Notification, ...]]:
    return [tuple(notices[at : at + LONGEST_DIGEST]) for at in range(0, len(notices), LONGEST_DIGEST)]
