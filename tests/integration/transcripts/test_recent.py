"""Of a large directory, files that were written since are found without a look at all the old ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.system import recent_files
from midwatch.system.recent_files import RecentFiles, find_recent

SINCE = 1_794_773_000.0


def make(folder: Path, name: str, at: float) -> str:
    (folder / name).write_text("")
    os.utime(folder / name, (at, at))
    os.utime(folder, (SINCE, SINCE + at / 1e6))  # its time of change tells every file
    return str(folder / name)


@pytest.fixture
def large() -> RecentFiles:
    return RecentFiles(few=2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(3):
        make(tmp_path, f"old-{number}.jsonl", SINCE - 100 - number)
    return tmp_path


def found(sense: RecentFiles, folder: Path) -> list[str]:
    return [os.path.basename(path) for path in sense.written(str(folder), SINCE, (".jsonl",), "")]


def test_the_last_one_comes_first_and_others_are_left_out(folder: Path) -> None:
    paths = [make(folder, "one.jsonl", SINCE + 1), make(folder, "two.jsonl", SINCE + 2)]
    make(folder, "three.json", SINCE + 3)
    assert find_recent(str(folder), SINCE) == [*reversed(paths)]
    assert find_recent(str(folder), SINCE, begins="o") == paths[:1]
    assert find_recent(str(folder / "missing"), SINCE) == find_recent(paths[0], SINCE) == []


def test_a_new_file_is_found_and_one_that_is_gone_or_old_is_not(folder: Path, large: RecentFiles) -> None:
    assert found(large, folder) == []
    make(folder, "new.jsonl", SINCE + 1)
    assert found(large, folder) == ["new.jsonl"]
    os.utime(folder / "new.jsonl", (SINCE - 60, SINCE - 60))
    assert found(large, folder) == []
    make(folder, "newer.jsonl", SINCE + 2)
    (folder / "newer.jsonl").unlink()
    assert found(large, folder) == []


def test_a_large_directory_is_read_again_only_when_it_changed(
    folder: Path, large: RecentFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(folder, "new.jsonl", SINCE + 1)
    assert found(large, folder) == ["new.jsonl"]
    with monkeypatch.context() as watched:
        watched.setattr(os, "scandir", None)
        assert found(large, folder) == ["new.jsonl"]
    os.utime(folder / "old-1.jsonl", (SINCE + 5, SINCE + 5))
    assert found(large, folder) == ["new.jsonl"], "not yet"
    monkeypatch.setattr(recent_files, "AGAIN", 0.0)
    make(folder, "newer.jsonl", SINCE + 2)
    assert found(large, folder) == ["old-1.jsonl", "newer.jsonl", "new.jsonl"]
    os.utime(folder / "old-2.jsonl", (SINCE + 6, SINCE + 6))
    assert found(large, folder)[0] == "old-2.jsonl", "after a while all are looked at"


def test_a_directory_that_has_just_changed_is_read_again(folder: Path, large: RecentFiles) -> None:
    """It may change once more within the same moment of its clock."""
    os.utime(folder)
    now = os.stat(folder).st_mtime_ns
    assert found(large, folder) == []
    (folder / "new.jsonl").write_text("")
    os.utime(folder, ns=(now, now))
    assert found(large, folder) == ["new.jsonl"]


def test_a_small_directory_is_read_every_time(folder: Path) -> None:
    sense = RecentFiles(few=3)
    assert found(sense, folder) == []
    os.utime(folder / "old-1.jsonl", (SINCE + 5, SINCE + 5))
    assert found(sense, folder) == ["old-1.jsonl"]
