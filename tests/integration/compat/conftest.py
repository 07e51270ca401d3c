"""Fixtures for `story-automator`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.compat.automator import Automator
from tests.integration.compat.stories import Stories
from tests.integration.spawn.office import Office, office

__all__ = ["office"]


@pytest.fixture
def automator(tmp_path: Path) -> Iterator[Automator]:
    found = Automator(tmp_path)
    yield found
    found.sweep()


@pytest.fixture
def stories(office: Office) -> Stories:
    return Stories(office)
