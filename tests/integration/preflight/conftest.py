"""A project of its own for each test, with nobody's settings but its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Box
from tests.integration.preflight.projects import Project


@pytest.fixture
def project(box: Box, tmp_path: Path) -> Project:
    box.env["XDG_STATE_HOME"] = str(tmp_path / "state")
    box.env["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    return Project(box, tmp_path / "work" / "app")
