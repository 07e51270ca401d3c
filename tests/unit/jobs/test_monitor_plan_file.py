"""The plan of a session's monitor, there and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.jobs.codec import monitor_plan_file
from midwatch.jobs.monitor_plan import MonitorPlan

GOLDEN = Path(__file__).parents[2] / "goldens" / "formats" / "v1" / "night.plan"
PLAN = MonitorPlan(
    "18f6a2b3c4d-a1b2c3", (5143, 204099), "a7501985-e2f9-49ec-b552-0dc825451954", "final", "wait", 9, "night.monitor",
    ("--verify", "make test", "--until", "final", "--on-limit", "wait", "--resume", "3"), "/home/ada/shop",
)  # fmt: skip


def test_a_plan_of_version_1_loads_and_is_written_so() -> None:
    assert monitor_plan_file.decode_plan(GOLDEN.read_text()) == PLAN
    assert monitor_plan_file.encode_plan(PLAN) == GOLDEN.read_text()


@pytest.mark.parametrize("plan", [PLAN, MonitorPlan("1a"), PLAN._replace(ended="completed")])
def test_what_is_written_is_read(plan: MonitorPlan) -> None:
    assert monitor_plan_file.decode_plan(monitor_plan_file.encode_plan(plan)) == plan


def test_fields_of_a_later_release_are_left_out() -> None:
    found = json.loads(GOLDEN.read_text()) | {"colour": "red"}
    assert monitor_plan_file.decode_plan(json.dumps(found)) == PLAN


@pytest.mark.parametrize(
    "wrong",
    [
        {"schema": 2}, {"run": None}, {"monitor": [1]}, {"continues": "x"}, {"arguments": [1]}, {"arguments": None},
        {"job": "../night"}, {"cwd": 7},
    ],
)  # fmt: skip
def test_what_is_none_of_ours_is_as_good_as_not_there(wrong: dict[str, object]) -> None:
    assert monitor_plan_file.decode_plan(json.dumps(json.loads(GOLDEN.read_text()) | wrong)) is None


@given(st.text())
def test_whatever_stands_there_nothing_breaks(text: str) -> None:
    assert monitor_plan_file.decode_plan(text) is None
