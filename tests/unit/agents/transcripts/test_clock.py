"""The clock of a status line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.agents.statusline_clock import find_clock


@pytest.mark.parametrize(
    ("row", "time"),
    [
        ("  proj | opus | ctx(12%) | 21:22:37", "21:22:37"),
        ("  proj | ctx(2%) | 20:06:21                            ● high · /effort", "20:06:21"),
        ("folder | ctx(4%) | 00:00:00", "00:00:00"),
        ("09:05", "09:05"),
        ("proj 9:05 pm", "21:05"),
        ("proj 12:05AM", "00:05"),
        ("proj 12:05:09 p.m", "12:05:09"),
        ("2026-11-15T20:06:21.123Z", "20:06:21"),
        ("20:06 | 20:06:21", "20:06:21"),
        ("9:05", None),
        ("24:00", None),
        ("13:00 pm", None),
        ("ratio 16:9", None),
        ("10:99", None),
        ("1.2.3:10:20", None),
        ("aa:10:20:30:40", None),
        ("You've used 93% of your session limit · resets 10:29pm (UTC)", None),
        ("⚠ 5h limit: 7% left · resets at 22:31 · /status", None),
        ("or try again at 10:33 PM.", None),
        ("? for shortcuts", None),
        ("", None),
    ],
)
def test_one_row(row: str, time: str | None) -> None:
    assert find_clock([row]) == time


def test_rows_below_the_box() -> None:
    assert find_clock(["? for shortcuts", "proj | 21:22", "  ← for agents 21:22:37"]) == "21:22:37"
    assert find_clock([]) is None


@given(st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 99))
def test_every_time_is_read_as_it_is(hour: int, minute: int, second: int, used: int) -> None:
    time = f"{hour:02}:{minute:02}:{second:02}"
    assert find_clock([f"folder | ctx({used}%) | {time}"]) == time


@given(st.lists(st.text()))
def test_any_screen_gives_a_time_or_none(rows: list[str]) -> None:
    found = find_clock(rows)
    assert found is None or (found[2] == ":" and int(found[:2]) < 24 and int(found[3:5]) < 60)
