"""What is read from a drop box, and what of it is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from midwatch.shim import drop_box
from midwatch.system.atomic_files import write_atomic


@pytest.fixture
def state(tmp_path: Path) -> Path:
    drop_box.prepare_box(str(tmp_path), "job", "r1", 600.0)
    return tmp_path


def test_a_box_tells_whose_it_is(state: Path) -> None:
    assert drop_box.read_owner(drop_box.box_path(str(state), "job")) == ("r1", "600.0")
    drop_box.prepare_box(str(state), "job", "r2", None)
    assert drop_box.read_owner(drop_box.box_path(str(state), "job")) == ("r2", "")


@pytest.mark.parametrize("text", [b"", b"\n600\n", b"\xff" * (1 << 20)])
def test_what_tells_nothing_is_no_box(state: Path, text: bytes) -> None:
    (state / "drop/job/run").write_bytes(text)
    assert drop_box.read_owner(drop_box.box_path(str(state), "job")) is None


def test_a_box_in_which_something_is_in_the_way_is_one_all_the_same(state: Path) -> None:
    (state / "drop/job/run").unlink()
    (state / "drop/job/run").mkdir()
    (state / "drop/job/run/full").touch()
    drop_box.prepare_box(str(state), "job", "r2", None)
    assert drop_box.read_owner(drop_box.box_path(str(state), "job")) is None


def test_a_result_is_copied_byte_by_byte(state: Path) -> None:
    (state / "drop/job/job.result").write_bytes(b'"\xff\xfe"\r\n')
    text, trouble = drop_box.read_result(str(state), "job")
    assert text is not None
    write_atomic(f"{state}/copy", text)
    assert ((state / "copy").read_bytes(), trouble) == (b'"\xff\xfe"\r\n', "")


def test_the_largest_result_is_kept_and_one_byte_more_is_not(state: Path) -> None:
    path = state / "drop/job/job.result"
    path.touch()
    os.truncate(path, drop_box.LARGEST_RESULT)
    assert drop_box.read_result(str(state), "job")[1] == ""
    os.truncate(path, drop_box.LARGEST_RESULT + 1)
    assert drop_box.read_result(str(state), "job")[0] is None


@pytest.mark.parametrize("planted", ["pipe", "link", "hard link"])
def test_what_is_planted_where_a_file_is_written_is_neither_waited_for_nor_overwritten(
    state: Path, planted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of temporary files can be foreseen."""
    monkeypatch.setattr("_thread.get_native_id", lambda: 7)
    place, precious = state / f"drop/job/.job.beat.{os.getpid()}.7", state / "precious"
    precious.write_text("precious")
    if planted == "pipe":
        os.mkfifo(place)
    elif planted == "link":
        place.symlink_to(precious)
    else:
        os.link(precious, place)
    write_atomic(f"{state}/drop/job/job.beat", "new")
    assert (precious.read_text(), (state / "drop/job/job.beat").read_text()) == ("precious", "new")


def test_an_earlier_release_had_one_directory() -> None:
    assert drop_box.find_state_directory("/jobs/drop/job", "job") == "/jobs"
    assert drop_box.find_state_directory("/jobs", "job") == "/jobs"
