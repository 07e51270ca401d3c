"""Patterns find what the glob module finds, but for `**` behind links; a search has an end whatever is there."""

from __future__ import annotations

import glob
import os
from pathlib import Path

import pytest

from midwatch.core.errors import RefusedError
from midwatch.system import file_patterns, remove_tree

FILES = ("a.md", ".b.md", "d/a.md", "d/e/a.md", "d/e/f.txt", "d/.h/a.md", ".g/a.md", "[x].md", "d e/a b.md",
         "d/x/e/a.md")  # fmt: skip


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (tmp_path / "link.md").symlink_to("a.md")
    (tmp_path / "gone.md").symlink_to("nothing")
    (tmp_path / "to-d").symlink_to("d")
    os.mkfifo(tmp_path / "pipe.md")
    return tmp_path


@pytest.mark.parametrize(
    "pattern",
    [
        "a.md", "*.md", ".*.md", "d/*.md", "*/*.md", "to-d/*.md", "**/a.md", "d/**/*.md", "d/**", "**/e/**/*.md",
        "**/**/a.md", "[[]x].md", "[a-c]*", "?.md", "d/../*.md", "./a.md", "d//a.md", "nothing/*.md", "**/", "d/",
        "*", ".g/*", "d/**/.h/*",
    ],
)  # fmt: skip
@pytest.mark.parametrize("whole", [False, True], ids=["below", "absolute"])
def test_it_finds_what_the_library_finds(tree: Path, pattern: str, whole: bool) -> None:
    asked = f"{glob.escape(str(tree))}/{pattern}" if whole else pattern
    found = [path for path in glob.glob(asked, root_dir=tree, recursive=True) if (tree / path).is_file()]
    known = {os.path.normpath(path) for path in found if "**" not in pattern or "to-d" not in path}
    assert {os.path.normpath(path) for path in file_patterns.find_files(asked, str(tree))} == known


def test_links_that_lead_to_their_own_directory_are_not_gone_through_for_ever(tree: Path) -> None:
    for name in ("x", "y", "d/z"):
        (tree / name).symlink_to(tree)
    assert file_patterns.find_files("**/a.md", str(tree)) == ["a.md", "d/a.md", "d/e/a.md", "d/x/e/a.md"]


def test_a_tree_of_any_depth_is_searched(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1500):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    assert file_patterns.find_files("**/a", str(tmp_path)) == []
    remove_tree.remove_tree(str(tmp_path / "d"))


@pytest.mark.parametrize(("limit", "most", "said"), [("MOST", 5, "more than 5 files"), ("LIMIT", -1.0, "takes longer")])
def test_a_search_beyond_measure_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: float, said: str
) -> None:
    monkeypatch.setattr(file_patterns, limit, most)
    monkeypatch.setattr(file_patterns, "OFTEN", 1)
    with pytest.raises(RefusedError, match=said):
        file_patterns.find_files("**/*.md", str(tree))


@pytest.mark.parametrize("pattern", ["a\0b", "*/a\0b", "", "/"])
def test_what_can_be_no_name_is_not_found(tree: Path, pattern: str) -> None:
    assert file_patterns.find_files(pattern, str(tree)) == []
