"""Claude Code's own state file: whose it is, and what it says."""

from __future__ import annotations

import json

import pytest

from midwatch.agents.claude import state_file
from midwatch.core.errors import FormatError
from midwatch.core.pane_model import RunningAgent, SourceReport

RUNNING = RunningAgent("claude", 19314, 8812345, 1794774045.0, "/home/developer/proj", ("claude",), {})
FILE = {
    "pid": 19314,
    "sessionId": "11111111-2222-4333-8444-555555555555",
    "cwd": "/home/developer/proj",
    "startedAt": 1794774045500,
    "procStart": "8812345",
    "version": "2.1.197",
    "peerProtocol": 1,
    "kind": "interactive",
    "entrypoint": "cli",
    "name": "proj-99",
    "nameSource": "derived",
    "status": "waiting",
    "waitingFor": "permission prompt",
    "updatedAt": 1794774060250,
    "statusUpdatedAt": 1794774060125,
}


def read(**changed: object) -> SourceReport | None:
    return state_file.read(json.dumps({**FILE, **changed}).encode(), RUNNING)


def test_what_it_says() -> None:
    assert read() == SourceReport(
        "state",
        1794774060.125,
        {
            "status": "waiting",
            "waiting_for": "permission prompt",
            "conversation": "11111111-2222-4333-8444-555555555555",
            "version": "2.1.197",
            "kind": "interactive",
            "cwd": "/home/developer/proj",
        },
    )


@pytest.mark.parametrize("status", ["idle", "busy", "shell", "something new"])
def test_each_status_is_passed_on_as_it_is(status: str) -> None:
    report = read(status=status, waitingFor=None)
    assert report is not None
    assert report.words["status"] == status
    assert "waiting_for" not in report.words


@pytest.mark.parametrize(
    "changed",
    [
        {"procStart": "8812344"},
        {"procStart": 8812344},
        {"procStart": "Sun Nov 15 20:20:45 2026"},
        {"pid": 19315},
        {"pid": None},
        {"procStart": None, "startedAt": 1794770000000},
        {"procStart": None, "startedAt": None},
    ],
)
def test_the_file_of_another_process_says_nothing(changed: dict[str, object]) -> None:
    assert read(**changed) is None


@pytest.mark.parametrize("changed", [{"procStart": 8812345}, {"procStart": None}, {"procStart": ""}])
def test_ways_to_know_it_as_ones_own(changed: dict[str, object]) -> None:
    assert read(**changed) is not None


@pytest.mark.parametrize("changed", [{"status": None}, {"status": ""}, {"status": 7}])
def test_without_a_status_there_is_nothing(changed: dict[str, object]) -> None:
    assert read(**changed) is None


def test_without_a_time_there_is_none() -> None:
    report = read(statusUpdatedAt="soon", updatedAt=None)
    assert report is not None
    assert report.at is None


@pytest.mark.parametrize("content", [b"", b'{"pid": 193', b"\xff\xfe\0", b"[" * 100_000])
def test_what_is_no_json_is_said_to_be_none(content: bytes) -> None:
    with pytest.raises(FormatError, match="cut off"):
        state_file.read(content, RUNNING)


@pytest.mark.parametrize("content", [b"[]", b"null", b"3", b'"x"'])
def test_json_that_is_no_object_is_nobodys(content: bytes) -> None:
    assert state_file.read(content, RUNNING) is None
