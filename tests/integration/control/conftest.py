"""Fixtures for looks through a client in control mode: a private server, and clients that all end with the test."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from midwatch.tmux.codec import query_modes
from midwatch.tmux.server import TmuxObserver
from tests.conftest import tool
from tests.integration.control.through import Attach, Through, attached
from tests.integration.panes.conftest import alone, private
from tests.integration.panes.private import Private

__all__ = ["alone", "private"]


@pytest.fixture(autouse=True)
def attaching() -> None:
    version = subprocess.run([tool("tmux"), "-V"], capture_output=True, text=True, check=True).stdout
    if query_modes.control_mode_for(version) is None:
        pytest.skip(f"nothing attaches to {version.strip()}")


@pytest.fixture
def attach(private: Private) -> Iterator[Attach]:
    """Attach to the session of a pane."""
    made: list[TmuxObserver] = []

    def one(pane: str, *, limit: float = 20.0) -> TmuxObserver:
        made.append(attached(private, pane, limit))
        return made[-1]

    yield one
    for sense in made:
        sense.close()


@pytest.fixture
def sense(private: Private) -> Iterator[TmuxObserver]:
    """Looks through a client in control mode from the first look on."""
    found = Through(private.server, limit=20.0)
    yield found
    found.close()
