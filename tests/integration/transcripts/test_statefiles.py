"""Claude Code's state file on disk: stale, another's, half written."""

from __future__ import annotations

import os

import pytest

from midwatch.agents import state_file_reader
from midwatch.agents.state_file_reader import StateFiles
from midwatch.system import procfs
from tests.integration.transcripts.conftest import CWD, STARTED, Home


def state(status: str | None = "busy", **changed: object) -> dict[str, object]:
    own = {"pid": os.getpid(), "procStart": str(procfs.start_time(os.getpid())), "cwd": CWD, "sessionId": "s"}
    return {**own, "status": status, "statusUpdatedAt": (STARTED + 1) * 1000, **changed}


PATH = f".claude/sessions/{os.getpid()}.json"


def test_each_change_is_seen(home: Home) -> None:
    sense, running = StateFiles(), home.running("claude")
    assert sense.read(running) is None
    for at, status in enumerate(("idle", "busy", "waiting", "shell")):
        home.write(PATH, state(status), at=STARTED + at)
        report = sense.read(running)
        assert report is not None
        assert (report.source, report.at, report.words["status"]) == ("state", STARTED + 1, status)
    (home.top / PATH).unlink()
    assert sense.read(running) is None


def test_a_quiet_look_reads_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    sense, running = StateFiles(), home.running("claude")
    home.write(PATH, state())
    first = sense.read(running)
    monkeypatch.setattr(state_file_reader, "read_plain", lambda path, *_: pytest.fail(f"{path} was opened"))
    assert first is not None
    assert sense.read(running) is first


def test_what_a_killed_process_left_says_nothing_of_the_next_one(home: Home) -> None:
    """A kill -9 leaves the file; the pid is given to another Claude Code, which has not written its own yet."""
    home.write(PATH, state(procStart=str(procfs.start_time(os.getpid()) - 5000)))
    assert StateFiles().read(home.running("claude")) is None


def test_the_same_file_for_two_processes_that_had_the_pid(home: Home) -> None:
    sense, running = StateFiles(), home.running("claude")
    home.write(PATH, state())
    assert sense.read(running) is not None
    assert sense.read(running._replace(start=running.start + 7)) is None
    assert sense.read(running) is not None


def test_files_by_their_older_name_are_not_looked_at(home: Home) -> None:
    home.write(f".claude/sessions/pid-{os.getpid()}.json", state())
    assert StateFiles().read(home.running("claude")) is None


def test_without_a_status_there_is_none(home: Home) -> None:
    home.write(PATH, state(None))
    assert StateFiles().read(home.running("claude")) is None


def test_half_a_file_is_trouble_until_it_is_whole(home: Home) -> None:
    sense, running = StateFiles(), home.running("claude")
    home.write(PATH, '{"pid": 12')
    report = sense.read(running)
    assert report is not None
    assert report.words == {}
    assert "cut off" in report.trouble
    home.write(PATH, state())
    report = sense.read(running)
    assert report is not None
    assert (report.trouble, report.words["status"]) == ("", "busy")


def test_a_directory_in_its_place_is_trouble(home: Home) -> None:
    (home.top / PATH).mkdir(parents=True)
    report = StateFiles().read(home.running("claude"))
    assert report is not None
    assert "cannot be read" in report.trouble


def test_other_agents_have_none(home: Home) -> None:
    home.write(PATH, state())
    assert StateFiles().read(home.running("codex")) is None
    assert StateFiles().read(home.running("claude", environment={})) is None
