"""One server for all these tests; each test asks it in a session of its own, in every dialect, streaming and not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.unit.lab.client import Client
from tests.unit.lab.served import Watched, serving
from tests.unit.lab.speakers import SPEAKERS

_number = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    home = tmp_path_factory.mktemp("model")
    for name in ("replies", "bodies"):
        (home / name).mkdir()
    found = Watched(home / "replies", home / "bodies")
    with serving(found):
        yield found


@pytest.fixture(params=SPEAKERS)
def dialect(request: pytest.FixtureRequest) -> str:
    found: str = request.param
    return found


@pytest.fixture(params=[True, False], ids=["stream", "whole"])
def stream(request: pytest.FixtureRequest) -> bool:
    found: bool = request.param
    return found


@pytest.fixture
def client(server: Watched, dialect: str, stream: bool) -> Client:
    """Asks in one dialect, in one of both ways."""
    return Client(server, SPEAKERS[dialect](), f"t{next(_number)}", stream=stream)


@pytest.fixture
def streaming(server: Watched, dialect: str) -> Client:
    return Client(server, SPEAKERS[dialect](), f"t{next(_number)}", stream=True)
