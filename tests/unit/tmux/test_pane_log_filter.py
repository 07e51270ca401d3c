"""The log of a session: how large it grows, and what is kept of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from midwatch.tmux.pane_log_filter import PaneLog

LINE = "x" * 99 + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "api.log"
    found.touch(0o600)
    return found


def previous(path: Path) -> Path:
    return path.with_name("api.log.1")


def test_a_log_never_grows_beyond_its_limit_nor_does_the_one_before(path: Path) -> None:
    log = PaneLog(str(path), limit=1000)
    for _ in range(55):
        log.append(LINE)
        assert path.stat().st_size <= 1000
    assert previous(path).read_text() == LINE * 10
    assert path.read_text() == LINE * 5
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["api.log", "api.log.1"]
    assert path.stat().st_mode & 0o777 == previous(path).stat().st_mode & 0o777 == 0o600


def test_the_log_of_a_run_that_is_over_is_written_to_where_it_was_archived(path: Path, tmp_path: Path) -> None:
    log = PaneLog(str(path), limit=1000)
    log.append("old\n")
    path.rename(tmp_path / "archived")
    path.write_text("of the next run\n")
    log.append("last words\n" * 200)
    assert path.read_text() == "of the next run\n"
    assert (tmp_path / "archived").read_text() == "old\n" + "last words\n" * 200
    assert not previous(path).exists()


def test_two_who_write_one_log_put_it_aside_once(path: Path) -> None:
    one, two = PaneLog(str(path), limit=1000), PaneLog(str(path), limit=1000)
    for _ in range(10):
        one.append(LINE)
    two.append("second\n")
    one.append("first\n")
    assert path.read_text() == "second\nfirst\n"
    assert previous(path).read_text() == LINE * 10


def test_a_planted_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    previous(path).symlink_to(tmp_path / "secret")
    log = PaneLog(str(path), limit=100)
    log.append(LINE)
    log.append("next\n")
    assert (tmp_path / "secret").read_text() == "secret"
    assert previous(path).read_text() == LINE
