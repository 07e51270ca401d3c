"""Many write to the tasks at once, and some are killed while they do."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from midwatch.trackers import builtin
from midwatch.trackers.builtin import BuiltinTracker
from midwatch.trackers.model import TrackerError
from tests import users
from tests.conftest import PATIENCE, Box
from tests.integration.task.conftest import told

WRITER = """
import sys
from midwatch.trackers.builtin import BuiltinTracker
kept = BuiltinTracker(sys.argv[1])
for number in range(int(sys.argv[2])):
    own = kept.add(f"task {number}")
    kept.note(own, "x" * 2000)
    print(own, flush=True)
"""


def writer(path: Path, many: int) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(many)], stdout=subprocess.PIPE, text=True)


def ids(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_writers_at_once_lose_nothing_and_share_no_id(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    writers = [writer(path, 25) for _ in range(6)]
    made = [own for each in writers for own in each.communicate(timeout=PATIENCE * 2)[0].split()]
    assert [each.returncode for each in writers] == [0] * 6
    assert len(set(made)) == len(made) == 150
    assert sorted(ids(path)) == sorted(made)
    assert all(len(task.notes) == 1 for task in BuiltinTracker(str(path)).read().tasks.values())


def test_verbs_at_once_lose_nothing_and_one_of_them_starts_it(box: Box) -> None:
    own = box("task", "add", "one").out.strip()
    calls = [box.start("task", "start", own, "--assignee", f"pane{number}") for number in range(5)]
    calls += [box.start("task", "add", f"more {number}") for number in range(5)]
    for call in calls:
        call.communicate(timeout=PATIENCE * 2)
    codes = [call.returncode for call in calls]
    assert sorted(codes[:5]) == [0, 12, 12, 12, 12]
    assert codes[5:] == [0] * 5
    (task,) = told(box, "show", own)
    assert task["assignee"] == f"pane{codes.index(0)}"
    assert len(told(box, "list")) == 6


def test_a_writer_that_is_killed_leaves_whole_lines_and_blocks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    for acknowledged in range(1, 9):
        killed, other = writer(path, 100_000), writer(path, 5)
        assert killed.stdout is not None
        kept = [killed.stdout.readline().strip() for _ in range(acknowledged)]
        killed.send_signal(signal.SIGKILL)
        rest = killed.communicate(timeout=PATIENCE)[0].split()
        others = other.communicate(timeout=PATIENCE)[0].split()
        assert len(others) == 5
        assert {*kept, *rest, *others} <= set(ids(path))
    new = BuiltinTracker(str(path)).add("after all that")
    assert ids(path)[-1] == new
    assert sorted(os.listdir(tmp_path)) == ["tasks.jsonl", "tasks.jsonl.lock"]


def test_what_a_killed_writer_left_half_written_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    (tmp_path / ".tasks.jsonl.new").write_text('{"id": "half')
    own = BuiltinTracker(str(path)).add("one")
    assert ids(path) == [own]


def test_a_lock_that_nobody_lets_go_is_told_of_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtin, "PATIENCE", 0.05)
    path = tmp_path / "tasks.jsonl"
    own = BuiltinTracker(str(path)).add("one")
    with open(f"{path}.lock", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(TrackerError, match=r"someone has been writing .*tasks\.jsonl\.lock"):
            BuiltinTracker(str(path)).close(own, "done")
        assert list(BuiltinTracker(str(path)).read().tasks) == [own]
    BuiltinTracker(str(path)).close(own, "done")


def test_a_directory_that_cannot_be_written_to_is_said(box: Box) -> None:
    (Path(box.cwd) / "midwatch.toml").write_text('[tracker]\nkind = "tasks"\npath = "nowhere/tasks.jsonl"\n')
    done = box("task", "add", "one")
    assert done.code == 12
    assert "cannot write" in done.err


def test_a_file_of_another_user_that_we_may_not_replace_is_left_alone_and_nothing_beside_it() -> None:
    with users.shared_place() as place:
        place.chmod(0o1777)
        path = place / "tasks.jsonl"
        path.write_text("")
        path.chmod(0o666)
        done = subprocess.run(
            [*users.become(users.VICTIM), sys.executable, "-c", WRITER, str(path), "1"],
            cwd="/", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert f"cannot write {path}: Operation not permitted" in done.stderr
        assert sorted(os.listdir(place)) == ["tasks.jsonl", "tasks.jsonl.lock"]
