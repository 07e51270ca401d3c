import pytest

from tests.conftest import Box
from tests.integration.spawn.office import office
from tests.integration.wait.watching import gate

__all__ = ["gate", "here", "office"]


@pytest.fixture
def here(box: Box, monkeypatch: pytest.MonkeyPatch) -> Box:
    """A box that this very process works in."""
    monkeypatch.setenv("MIDWATCH_HOME", str(box.dir))
    monkeypatch.setenv("HOME", str(box.cwd))
    monkeypatch.chdir(box.cwd)
    return box
