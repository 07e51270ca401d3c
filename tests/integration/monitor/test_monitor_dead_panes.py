"""A dead pane of ours can be looked at: tmux up to 3.3a crashes if its program had asked to be told of the focus."""

from __future__ import annotations

import signal

import pytest

from tests.conftest import kill, until
from tests.integration.spawn.office import Office


@pytest.mark.parametrize("whom", ["agent", "shim"])
def test_attaching_to_it_does_not_end_the_server(office: Office, whom: str) -> None:
    office.tmux.start("cat", "others")
    office.tmux("set-option", "-g", "focus-events", "on")
    office.spawned(prompt="focus")
    shim, work = office.box.pids("api")
    server = office.tmux.pid
    kill(work if whom == "agent" else shim, signal.SIGKILL)
    until(lambda: office.pane("#{pane_dead}") == "1")
    with office.attached() as terminal:
        until(lambda: "api" in office.tmux("list-clients", "-F", "#{session_name}"))
        assert terminal > 0
    until(lambda: office.tmux("list-clients") == "")
    assert office.tmux.pid == server
