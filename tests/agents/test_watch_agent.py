"""`midwatch spawn --watch` with the real Claude Code: nobody sits there, and the work comes to its end."""

from __future__ import annotations

import json
import os
import signal

import pytest

from tests.agents.conftest import need
from tests.agents.sessions import SLOW, Spawned
from tests.lab.lab import Lab


@pytest.mark.claude
@pytest.mark.night
def test_a_watched_agent_that_is_killed_is_resumed_and_its_monitor_ends_with_the_work(lab: Lab) -> None:
    need("claude")
    lab.tmux("new-session", "-d", "-s", "keep", "sleep 3600")
    session = Spawned(lab, "claude")
    session.spawn("go [[slow 600]] [[text done]]", watch="")
    session.until(lambda _: session.verdict()["state"] == "working", SLOW, what="the turn")
    conversation, work = session.conversation(), session.work()
    os.kill(work, signal.SIGKILL)
    ended = json.loads(session.call("wait", "api.monitor", "--json").stdout)
    log = session.call("logs", "api.monitor").stdout
    assert (ended["kind"], ended["state"]) == ("job", "completed"), log
    assert "; resuming it (1 of 3)" in log
    assert (session.conversation(), session.record()["attempt"]) == (conversation, 2)
    assert json.loads(log.splitlines()[-1])["state"] == "completed"
