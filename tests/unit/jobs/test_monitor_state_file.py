"""The notes of a session's monitor, there and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.agents.turn_model import SessionMemory, TrackedValue
from midwatch.core.process_state import Exited
from midwatch.core.verdict import Evidence, Verdict
from midwatch.jobs.codec import monitor_state_file
from midwatch.jobs.monitor_state import MonitorState

MEMORY = SessionMemory(
    "working", "tool", 12.5, ("idle", 13.0), {"screen": ("working", 1.0)},
    {"progress text": TrackedValue("a", 2.0, ever=True)}, (0.1, 2.0, 3.0, 4.0), 11.0, "5pm", 14.0, ("10:00:00", 13.5),
)  # fmt: skip
OVER = Verdict("api", "session", "crashed", True, "killed by SIGKILL — «ä»", Exited(signal=9), "unknown", signal=9)
WRONG: tuple[dict[str, object], ...] = (
    {"schema": 99}, {"began": "x"}, {"monitor": [1]}, {"monitor": None}, {"patience": [1]}, {"memory": {}},
    {"verdict": {"state": "crashed"}}, {"unknown": 1}, {"resumes": None}, {"agent": "ab"}, {"memory": 5},
)  # fmt: skip
FULL = MonitorState(
    "1a-2b",
    "boot",
    (7, 8),
    1.5,
    2.5,
    (60.0, 30.0),
    "final",
    3,
    (9, 10),
    MEMORY,
    acting="resume",
    verdict=OVER,
    left=True,
)


@pytest.mark.parametrize("watch", [FULL, MonitorState("1a", "boot", (7, 8), 1.0, 2.0), FULL._replace(memory=None)])
def test_what_is_written_is_read(watch: MonitorState) -> None:
    assert monitor_state_file.decode_state(monitor_state_file.encode_state(watch)) == watch


def test_what_explains_a_verdict_is_not_kept() -> None:
    watch = FULL._replace(verdict=OVER._replace(evidence=(Evidence("shim", "gone"),), result={"a": 1}))
    assert monitor_state_file.decode_state(monitor_state_file.encode_state(watch)) == FULL


@pytest.mark.parametrize(
    "text",
    [
        "", "null", "[]", "{}", "7", "{", '{"schema": 2}', "[" * 5000,
        *(json.dumps(json.loads(monitor_state_file.encode_state(FULL)) | wrong) for wrong in WRONG),
        json.dumps(
            {key: value for key, value in json.loads(monitor_state_file.encode_state(FULL)).items() if key != "run"}
        ),
    ],
)  # fmt: skip
def test_rubbish_is_as_good_as_nothing(text: str) -> None:
    assert monitor_state_file.decode_state(text) is None


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    assert monitor_state_file.decode_state(text) is None
