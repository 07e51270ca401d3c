"""What time it is for notifications, and when the quiet hours of a channel end, by local time."""

from __future__ import annotations

import time

from midwatch.config.model import QuietHours
from midwatch.notifications.rules.schedule import Moment
from midwatch.system import procfs

HOUR = 60
DAY = 86400.0
SOON = 1.0


def read_clocks() -> Moment:
    wall = time.time()
    return Moment(wall, time.monotonic(), procfs.boot_id(), minute_of_day(wall))


def minute_of_day(wall: float) -> int:
    """Minutes after local midnight."""
    local = time.localtime(wall)
    return local.tm_hour * HOUR + local.tm_min


def format_time_of_day(wall: float) -> str:
    return time.strftime("%H:%M", time.localtime(wall))


def seconds_to_end(quiet: QuietHours | None, wall: float) -> float:
    """Seconds until quiet hours end that have begun. The local calendar says so, also when the clocks change."""
    if quiet is None:
        return 0.0
    local, minute = time.localtime(wall), minute_of_day(wall)
    day = local.tm_mday + (quiet.end <= minute)
    end = time.mktime((local.tm_year, local.tm_mon, day, quiet.end // HOUR, quiet.end % HOUR, 0, 0, 0, -1))
    return min(max(SOON, end - wall), DAY)
