"""A tree that others made is removed whole, however deep it is, and nothing outside of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from midwatch.system.remove_tree import remove_tree

DEPTH = 3 * sys.getrecursionlimit()


def make_deep(place: Path, name: str = "d") -> None:
    """Directories within each other, each with a file: their path is longer than any that can be opened."""
    fd = os.open(place, os.O_RDONLY)
    for _ in range(DEPTH):
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=fd))
        os.mkdir(name, dir_fd=fd)
        below = os.open(name, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)


def test_a_tree_of_any_depth_is_removed(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    make_deep(tmp_path / "tree")
    remove_tree(str(tmp_path / "tree"))
    assert os.listdir(tmp_path) == []


def test_names_of_the_tree_are_no_obstacle(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    for number in range(4):
        (top / str(number) / str(number) / "0" / "file").mkdir(parents=True)
        (top / f"{number}0" / "x").mkdir(parents=True)
        (top / f"{number}0" / "x" / "file").write_text("")
    remove_tree(str(top))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("mode", [0o000, 0o500])
def test_what_the_work_made_unwritable_is_removed_too(tmp_path: Path, mode: int) -> None:
    inner = tmp_path / "tree" / "a" / "b" / "c"
    inner.mkdir(parents=True)
    (inner / "file").write_text("")
    for path in (inner, inner.parent, inner.parent.parent):
        path.chmod(mode)
    remove_tree(str(tmp_path / "tree"))
    assert os.listdir(tmp_path) == []


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "below").mkdir(parents=True)
    (tmp_path / "tree" / "a").mkdir(parents=True)
    for place in (tmp_path / "tree", tmp_path / "tree" / "a"):
        (place / "link").symlink_to(kept)
    remove_tree(str(tmp_path / "tree"))
    assert os.listdir(tmp_path) == ["kept"]
    (tmp_path / "link").symlink_to(kept)
    with pytest.raises(NotADirectoryError):
        remove_tree(str(tmp_path / "link"))
    assert os.listdir(kept) == ["below"]


def test_what_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        remove_tree(str(tmp_path / "none"))
