"""Fixtures for tests that run real agents: a lab per test, gone with all that is in it when the test ends."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.lab import installs
from tests.lab.lab import Lab


@pytest.fixture
def lab() -> Iterator[Lab]:
    with Lab() as found:
        yield found


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> str:
    """Name of an agent, given by parametrisation; its lack is a failure under CI, a named skip elsewhere."""
    name: str = request.param
    try:
        installs.find(name.partition("-")[0])
    except installs.NotInstalled as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    return name
