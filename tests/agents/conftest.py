"""Fixtures for tests that run real agents: a lab per test, gone with all that is in it when the test ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.lab import installs
from tests.lab.homes import AGENTS
from tests.lab.lab import Lab

PREVIOUS = "previous"


def pytest_configure(config: pytest.Config) -> None:
    for agent in installs.pins():
        config.addinivalue_line("markers", f"{agent}: runs the real {agent}")
    config.addinivalue_line("markers", "night: a crash under a watch; with other load it fails now and then")
    config.addinivalue_line("markers", f"{PREVIOUS}: runs the older pinned version of an agent")


def each(*, previous: bool) -> list[Any]:
    """Parameters (agent, age) with their marks: `-m "claude and not previous"` chooses from them."""
    found = [pytest.param(name, "current", id=name, marks=_mark(name)) for name in AGENTS]
    if previous:
        found += [
            pytest.param(name, PREVIOUS, id=f"{name}-{PREVIOUS}", marks=[_mark(name), pytest.mark.previous])
            for name in AGENTS
            if name != "codex-nodaemon"  # the older one has no daemon at all
        ]
    return found


def _mark(name: str) -> pytest.MarkDecorator:
    found: pytest.MarkDecorator = getattr(pytest.mark, name.partition("-")[0])
    return found


def need(agent: str, version: str | None = None) -> installs.Install:
    """The install of an agent; its lack is a failure under CI, a named skip elsewhere."""
    try:
        return installs.find(agent.partition("-")[0], version)
    except installs.NotInstalled as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab() as found:
        yield found


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> str:
    """Name of an agent, given by parametrisation."""
    name: str = request.param
    need(name)
    return name
