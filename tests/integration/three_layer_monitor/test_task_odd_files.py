"""Task directories that hold what they should not, or that are not ours alone."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from midwatch.system import atomic_files
from midwatch.taskdir import actions as hand
from tests.conftest import alive, until
from tests.integration.foreign.template import dead_pid, sleeper
from tests.integration.three_layer_monitor.tasks import QUICK, Task, outcome
from tests.integration.three_layer_monitor.test_task_defects import crash


def test_in_a_directory_that_others_may_write_nothing_is_ended_typed_or_written(task: Task) -> None:
    agent = task.begin()
    task.dir.chmod(0o777)
    found = task.verdict(QUICK)
    assert (found["state"], found["final"], alive(agent)) == ("stuck", False, True)
    assert "not resumed: others may write to" in found["reason"]
    with task.start() as process:
        until(lambda: bool(os.listdir(f"/proc/{process.pid}/fd")))
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("crashed", ["fresh"])
    assert not task.has("midwatch.json")
    assert not task.has("resume")
    assert task.manifest()["status"] == "running"


def test_a_pid_file_that_is_a_link_is_not_followed_and_nothing_is_signalled(task: Task) -> None:
    task.open()
    with sleeper() as pid:
        (task.home / "theirs").write_text(f"{pid}\n")
        (task.dir / "pid").symlink_to(task.home / "theirs")
        found = task.verdict(QUICK)
        assert alive(pid)
    assert (found["state"], found["code"]) == ("unknown", 12)
    assert "symbolic link" in found["reason"]


@pytest.mark.parametrize("name", ["pid", "exit_code", "manifest.json", "output.log"])
def test_a_pipe_in_the_place_of_a_file_makes_nobody_wait(task: Task, name: str) -> None:
    task.open(capture=False)
    (task.dir / "pid").write_text(f"{dead_pid()}\n")
    (task.dir / name).unlink(missing_ok=True)
    os.mkfifo(task.dir / name)
    found = task.verdict(QUICK._replace(retries=0))
    assert found["state"] == ("unknown" if name == "pid" else "crashed")


@pytest.mark.parametrize("kind", ["link", "directory"])
def test_done_counts_only_as_a_plain_file(task: Task, kind: str) -> None:
    task.open()
    (task.dir / "pid").write_text(f"{dead_pid()}\n")
    if kind == "link":
        (task.dir / "done").symlink_to("/etc/passwd")
    else:
        (task.dir / "done").mkdir()
    assert task.verdict(QUICK._replace(retries=0))["state"] == "crashed"


def test_done_without_any_word_of_how_is_unknown_for_good(task: Task) -> None:
    task.open()
    (task.dir / "done").touch()
    found = task.verdict()
    assert (found["state"], found["final"], found["code"]) == ("unknown", True, 12)


def test_done_is_told_by_the_manifest_where_there_is_no_exit_code(task: Task) -> None:
    (task.dir / "manifest.json").write_text(json.dumps({"status": "failed", "exit_code": 5}))
    (task.dir / "done").touch()
    found = task.verdict()
    assert (found["state"], found["exit_code"]) == ("failed", 5)


@pytest.mark.parametrize("text", ["{", "[]", "", "\0"])
def test_a_manifest_that_cannot_be_read_is_left_as_it_is_and_stops_nothing(task: Task, text: str) -> None:
    task.plan("", "")
    agent = task.begin()
    with task.watched() as process:
        (task.dir / "manifest.json").write_text(text)
        crash(task, agent)
        task.until_run(2, "resumed")
        assert task.text("manifest.json") == text
        process.kill()


def test_a_task_without_a_manifest_is_monitored_too(task: Task) -> None:
    (task.dir / "manifest.json").unlink()
    task.plan("", "exit 0")
    agent = task.begin()
    with task.watched() as process:
        crash(task, agent)
        assert outcome(process)["state"] == "completed"
    assert not task.has("manifest.json")
    assert not task.has("manifest")


def test_notes_that_cannot_be_read_are_begun_anew(task: Task) -> None:
    (task.dir / "midwatch.json").write_text('{"schema": 1, "began": "then"}')
    task.plan("exit 0")
    task.begin()
    assert task.verdict()["state"] == "completed"
    assert task.notes()["total"] == 0


def test_nothing_that_was_started_is_not_found_after_a_while(task: Task) -> None:
    task.open()
    found = task.verdict(QUICK)
    assert (found["state"], found["code"]) == ("not_found", 7)
    assert "nothing was started" in found["reason"]


def test_neither_session_nor_files_is_not_found(task: Task) -> None:
    found = task.verdict()
    assert (found["state"], found["code"]) == ("not_found", 7)
    assert "there is no session claude-task" in found["reason"]


# The manifest


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "manifest.json").write_text('{"b": 1.5, "status": "running", "own": [1, {"x": null}]}')
    return tmp_path


def test_fields_are_merged_and_all_else_is_kept(there: Path) -> None:
    hand.update_manifest(str(there), {"status": "crashed", "retry_count": 2})
    found = json.loads((there / "manifest.json").read_text())
    assert list(found.items()) == [("b", 1.5), ("status", "crashed"), ("own", [1, {"x": None}]), ("retry_count", 2)]


@pytest.mark.parametrize("name", ["done", "exit_code"])
def test_what_the_wrapper_said_of_an_end_is_never_written_over(there: Path, name: str) -> None:
    (there / name).touch()
    before = (there / "manifest.json").read_text()
    hand.update_manifest(str(there), {"status": "abandoned"})
    assert (there / "manifest.json").read_text() == before


def test_an_end_that_was_written_while_we_wrote_is_put_back(there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrapper_comes_first(path: str, text: str) -> None:
        if not (there / "exit_code").exists():
            (there / "exit_code").write_text("0\n")
            (there / "manifest.json").write_text('{"status": "completed", "exit_code": 0}')
        atomic_files.write_atomic(path, text)

    monkeypatch.setattr(hand, "write_atomic", wrapper_comes_first)
    hand.update_manifest(str(there), {"status": "abandoned"})
    found = json.loads((there / "manifest.json").read_text())
    assert (found["status"], found["exit_code"]) == ("completed", 0)


def test_the_owners_lock_is_waited_for_and_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "manifest").write_text("status=running\n")
    (tmp_path / "manifest.lock").mkdir()
    tried: list[bool] = []
    make = hand._make_directory

    def owner_is_done(path: str) -> bool:
        made = make(path)
        tried.append(made)
        if not made:
            os.rmdir(path)
        return made

    monkeypatch.setattr(hand, "_make_directory", owner_is_done)
    hand.update_manifest(str(tmp_path), {"status": "hung"})
    assert tried == [False, True]
    assert (tmp_path / "manifest").read_text() == "status=hung\n"
    assert not (tmp_path / "manifest.lock").exists()


def test_a_lock_that_nobody_gives_back_is_passed_by_as_the_owner_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand, "LOCK_PATIENCE", 0.1)
    (tmp_path / "manifest").write_text("status=running\n")
    (tmp_path / "manifest.lock").mkdir()
    hand.update_manifest(str(tmp_path), {"status": "hung"})
    assert (tmp_path / "manifest").read_text() == "status=hung\n"
    assert (tmp_path / "manifest.lock").is_dir()
