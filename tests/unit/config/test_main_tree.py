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


def test_a_worktree_has_the_files_of_its_main_tree(repository: str) -> None:
    tree = f"{repository}-tree"
    subprocess.run(["git", "-C", repository, "worktree", "add", "-q", tree], check=True, env=GIT, timeout=30)
    os.mkdir(f"{tree}/below")
    assert paths.project_root(f"{tree}/below") == tree
    assert paths.main_worktree(f"{tree}/below") == repository
    assert paths.main_worktree(repository) == repository


def test_a_submodule_is_a_project_of_its_own(repository: str) -> None:
    below = f"{repository}/lib"
    os.mkdir(below)
    with open(f"{below}/.git", "w", encoding="utf-8") as file:
        file.write("gitdir: ../.git/modules/lib\n")
    assert paths.main_worktree(below) == below


def test_a_directory_without_git_is_itself(tmp_path: Path) -> None:
    assert paths.main_worktree(str(tmp_path)) == str(tmp_path)
