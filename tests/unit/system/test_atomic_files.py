"""Writing without the json module gives what the json module reads."""

import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.system import atomic_files
from midwatch.tmux import pane_log_filter

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_dumps_writes_what_json_reads(value: object) -> None:
    assert json.loads(atomic_files.dumps(value)) == value


def test_a_path_that_is_not_utf8_survives() -> None:
    assert json.loads(atomic_files.dumps("\udcff")) == "\udcff"


def test_a_file_is_replaced_whole_and_private(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("old")
    atomic_files.write_atomic(str(path), "new\n")
    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


def test_text_that_has_no_bytes_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(UnicodeEncodeError):
        atomic_files.write_atomic(str(tmp_path / "x.json"), "\ud800")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x.json").mkdir()
    with pytest.raises(OSError, match="x"):
        atomic_files.write_atomic(str(tmp_path / "x.json"), "new\n")
    assert [entry.name for entry in tmp_path.iterdir()] == ["x.json"]


@pytest.mark.parametrize(
    "write",
    [
        lambda path: atomic_files.append(path, "line\n"), atomic_files.make_durable,
        pane_log_filter.PaneLog,
    ],
    ids=["append", "make_durable", "the log of a pane"],
)  # fmt: skip
def test_a_pipe_in_the_place_of_a_file_keeps_no_writer_waiting(tmp_path: Path, write: Callable[[str], object]) -> None:
    os.mkfifo(tmp_path / "x")
    with pytest.raises(OSError, match="No such device or address"):
        write(str(tmp_path / "x"))
