"""All agents of a project find the same mail and the same tasks, also from within its worktrees."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from midwatch.config import paths

GIT = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
WHO = ("-c", "user.name=a", "-c", "user.email=a@b")


@pytest.fixture
def repository(tmp_path: Path) -> str:
    here = f"{tmp_path}/main"
    subprocess.run(["git", "init", "-q", here], check=True, env=GIT, timeout=30)
    subprocess.run(
        ["git", *WHO, "-C", here, "commit", "-q", "--allow-empty", "-m", "x"], check=True, env=GIT, timeout=30
    )
    return here


def add_worktree(repository: str) -> str:
    tree = f"{repository}-tree"
    subprocess.run(["git", "-C", repository, "worktree", "add", "-q", tree], check=True, env=GIT, timeout=30)
    return tree


def test_a_worktree_has_the_files_of_its_main_tree(repository: str) -> None:
    tree = add_worktree(repository)
    os.mkdir(f"{tree}/below")
    assert paths.project_root(f"{tree}/below") == tree
    assert paths.main_worktree(f"{tree}/below") == repository
    assert paths.main_worktree(repository) == repository


def test_a_worktree_may_be_told_by_a_relative_path(repository: str) -> None:
    tree = add_worktree(repository)
    Path(repository, ".git/worktrees/main-tree/gitdir").write_text("../../../../main-tree/.git\n")
    Path(tree, ".git").write_text("gitdir: ../main/.git/worktrees/main-tree\n")
    assert paths.main_worktree(tree) == repository
    assert paths.mail_directories(tree) == [*map(directory, (repository, tree))]


def directory(tree: str) -> str:
    return paths.sentinel_directory(start=tree)


@pytest.mark.parametrize("name", ["main-tree", "unknown", "../worktrees/main-tree", "main-tree\0"])
def test_a_directory_does_not_make_itself_a_worktree_of_another_project(
    repository: str, tmp_path: Path, name: str
) -> None:
    add_worktree(repository)
    (tmp_path / "hostile").mkdir()
    (tmp_path / "hostile/.git").write_text(f"gitdir: {repository}/.git/worktrees/{name}\n")
    hostile = str(tmp_path / "hostile")
    assert paths.main_worktree(hostile) == hostile
    assert paths.mail_directories(hostile) == [directory(hostile)]


def test_a_project_does_not_make_others_its_worktrees(repository: str, tmp_path: Path) -> None:
    """Their mail would be moved into its own."""
    tree = add_worktree(repository)
    for number, victim in enumerate((repository, tree, str(tmp_path))):
        place = tmp_path / "hostile/.git/worktrees" / str(number)
        place.mkdir(parents=True)
        (place / "gitdir").write_text(f"{victim}/.git\n")
    assert paths.mail_directories(str(tmp_path / "hostile")) == [directory(str(tmp_path / "hostile"))]


@pytest.mark.parametrize("file", [".git", ".git/worktrees/x/gitdir"])
def test_a_pipe_in_place_of_a_file_of_git_is_not_waited_for(tmp_path: Path, file: str) -> None:
    place = tmp_path / file
    place.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(place)
    assert paths.mail_directories(str(tmp_path)) == [directory(str(tmp_path))]


def test_a_submodule_is_a_project_of_its_own(repository: str) -> None:
    below = f"{repository}/lib"
    os.mkdir(below)
    with open(f"{below}/.git", "w", encoding="utf-8") as file:
        file.write("gitdir: ../.git/modules/lib\n")
    assert paths.main_worktree(below) == below


def test_a_directory_without_git_is_itself(tmp_path: Path) -> None:
    assert paths.main_worktree(str(tmp_path)) == str(tmp_path)
