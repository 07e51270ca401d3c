"""Fixtures for task directories: a private tmux server, and tasks in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.panes.conftest import alone, private
from tests.integration.panes.private import Private
from tests.integration.three_layer_monitor.tasks import Task

__all__ = ["alone", "private"]

Make = Callable[..., Task]


@pytest.fixture
def make(private: Private, tmp_path: Path) -> Iterator[Make]:
    made: list[Task] = []

    def one(name: str = "claude-task", form: str = "manifest.json") -> Task:
        made.append(Task(private, tmp_path, name, form))
        return made[-1]

    yield one
    for task in made:
        task.end()


@pytest.fixture
def task(make: Make) -> Task:
    return make()
