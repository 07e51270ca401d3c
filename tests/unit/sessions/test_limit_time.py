"""When a limit ends, in an agent's words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.sessions.codec.limit_time import parse_limit_end

LOCAL = timezone(timedelta(hours=2))
SAID = datetime(2026, 11, 16, 15, 20, 30, tzinfo=LOCAL)
"""Which is 13:20:30 in UTC."""


def named(name: str) -> tzinfo | None:
    return ZoneInfo(name) if name == "America/New_York" else None


def meant(words: str) -> str:
    found = parse_limit_end(words, SAID.timestamp(), LOCAL, named)
    return "" if found is None else datetime.fromtimestamp(found, UTC).strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("5pm (UTC)", "2026-11-16 17:01:00"),
        ("5pm", "2026-11-16 15:01:00"),
        ("5 PM", "2026-11-16 15:01:00"),
        ("10:33 PM", "2026-11-16 20:34:00"),
        ("12am", "2026-11-16 22:01:00"),
        ("12:15 pm", "2026-11-17 10:16:00"),
        ("22:33", "2026-11-16 20:34:00"),
        ("22:33:15", "2026-11-16 20:33:15"),
        ("3am (America/New_York)", "2026-11-17 08:01:00"),
        ("3am (Nowhere/At_All)", "2026-11-17 01:01:00"),
        ("9am", "2026-11-17 07:01:00"),
        ("15:20", "2026-11-16 13:21:00"),  # it was said in that minute: not tomorrow, and not over yet
        ("15:19", "2026-11-17 13:20:00"),
        ("1h 59m", "2026-11-16 15:20:30"),
        ("1h59m", "2026-11-16 15:20:30"),
        ("in 2 hours", "2026-11-16 15:21:30"),
        ("45 minutes", "2026-11-16 14:06:30"),
        ("1 min 30 sec", "2026-11-16 13:22:00"),
        ("59s", "2026-11-16 13:21:29"),
        ("2 days 1 hr", "2026-11-18 14:21:30"),
        ("1.5 h", "2026-11-16 14:51:30"),
        ("Nov 20th, 2026 4:26 AM", "2026-11-20 02:27:00"),
        ("04:45 on 17 Nov", "2026-11-17 02:46:00"),
        ("Nov 20, 5pm (UTC)", "2026-11-20 17:01:00"),
        ("November 20 at 5pm", "2026-11-20 15:01:00"),
        ("5 Dec", "2026-12-04 22:00:00"),
        ("Mar 3", "2027-03-02 22:00:00"),
        ("Jan 2, 4:26 AM", "2027-01-02 02:27:00"),
        ("2026-11-16T14:00:00Z", "2026-11-16 14:00:00"),
        ("2026-11-16T14:00", "2026-11-16 12:00:00"),
        ("2026-11-16T14:00:00+01:00", "2026-11-16 13:00:00"),
    ],
)
def test_it_is_understood(words: str, when: str) -> None:
    assert meant(words) == when


@pytest.mark.parametrize(
    "words",
    ["", "soon", "7", "at 7", "99:99", "25:00", "Nov 31", "Feb 30, 5pm", "2026-99-99T99:99:99Z", "0000-01-01T00:00",
     "(UTC)", "5 mice", "3 dogs", "day"],
)  # fmt: skip
def test_what_means_no_moment_is_none(words: str) -> None:
    assert meant(words) == ""


@given(st.text(alphabet="0123456789 :apmhdsNovDec(),UTCZ-/+.", max_size=40))
def test_nothing_breaks_it(words: str) -> None:
    found = parse_limit_end(words, SAID.timestamp(), LOCAL, named)
    assert found is None or isinstance(found, float)
