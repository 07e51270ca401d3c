"""A home of Codex with a daemon in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.agents.codex import daemon as codex_daemon_module
from midwatch.agents.codex.conversation import start_time
from midwatch.agents.codex.daemon import CodexDaemon
from midwatch.core.pane_model import RunningAgent
from tests.conftest import PATIENCE
from tests.integration.codex_daemon.standin import CWD, MAIN, Daemon


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no reason to fail; tests of the limit itself set it again."""
    monkeypatch.setattr(codex_daemon_module, "LIMIT", PATIENCE)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """As Codex leaves it: the name in its home is a link to a socket elsewhere."""
    control = tmp_path / ".codex/app-server-control"
    control.mkdir(parents=True)
    (control / "app-server-control.sock").symlink_to(tmp_path / "s")
    return tmp_path


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    found = Daemon(home / "s")
    yield found
    found.close()


@pytest.fixture
def sense() -> Iterator[CodexDaemon]:
    found = CodexDaemon()
    yield found
    found.close()


@pytest.fixture
def running(home: Path) -> RunningAgent:
    """A Codex that was started a second before the recorded conversation was begun."""
    return RunningAgent("codex", 1, 1, start_time(MAIN) - 1, CWD, ("node", "/usr/bin/codex"), {"HOME": str(home)})
