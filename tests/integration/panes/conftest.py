"""Fixtures for panes: a private server, and nothing of the server that the tests themselves may run in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.tmux.server import TmuxObserver
from tests.integration.panes.private import Private


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("TMUX", "TMUX_PANE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TMUX_TMPDIR", str(tmp_path))


@pytest.fixture
def private(alone: None, tmp_path: Path) -> Iterator[Private]:  # noqa: ARG001
    found = Private(tmp_path / "s")
    yield found
    found.end()


@pytest.fixture
def sense(private: Private) -> TmuxObserver:
    return TmuxObserver(private.server, limit=20.0)
