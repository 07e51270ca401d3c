"""What a person sees of pending notifications: which could not be delivered, and which wait for their time."""

from __future__ import annotations

import time

from midwatch.core.value import Value
from midwatch.notifications import message_claims
from midwatch.notifications.model import Notification

TYPE_CHECKING = False
if TYPE_CHECKING:
    from midwatch.notifications.rules.schedule import Hold
else:
    Hold = str


class PendingNotification(Value):
    """A notification that is not sent."""

    notice: Notification
    why: Hold
    until: float
    """When it is due, on the wall clock."""

    @property
    def is_kept(self) -> bool:
        """Whether it was never sent, and is only kept for later."""
        return self.why == "quiet" or (self.why == "rate" and not self.notice.trouble)

    @property
    def is_undelivered(self) -> bool:
        """Whether it should have been sent by now. A reminder that is not due yet should not."""
        return not (self.is_kept or self.why == "reminder")


def list_pending(directory: str) -> list[PendingNotification]:
    """All that is pending, oldest first."""
    found = message_claims.list_held_back(directory)
    now = time.time()  # after the look: what is shown as 07:00 must not be a moment before
    return [PendingNotification(notice, hold.why, now + hold.rest) for notice, hold in found]


def list_undelivered(directory: str) -> list[Notification]:
    """What should have been sent by now."""
    return [each.notice for each in list_pending(directory) if each.is_undelivered]


def as_undelivered(notices: list[Notification], known: set[str]) -> list[PendingNotification]:
    """What cannot even be written into the outbox, but for those that are in it."""
    return [PendingNotification(notice, "retry", 0.0) for notice in notices if notice.id not in known]
