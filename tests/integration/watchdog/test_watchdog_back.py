"""A controller that has ended in its shell is brought back by its own conversation, and then told; not for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from midwatch.agents import catalog
from midwatch.config import load
from midwatch.config.model import Command, Settings
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import recover
from midwatch.swarm import controller_session
from midwatch.swarm.controller_session import ControllerSession
from midwatch.swarm.model import WakeRules
from midwatch.swarm.watchdog import Watchdog, WatchdogRequest
from midwatch.trackers import builtin
from tests.integration.ready.conftest import Desk, desk, office

__all__ = ["desk", "office"]


@contextmanager
def watched(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Watchdog, list[str]]]:
    for name in ("PATH", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "STAND_IN"):
        monkeypatch.setenv(name, desk.office.box.env[name])
    log: list[str] = []
    tracker = builtin.BuiltinTracker(str(desk.office.cwd / builtin.NAME))
    tracker.add("First thing")
    asked = WatchdogRequest("desk", str(desk.office.cwd), "claude code", "", (), WakeRules(), desk.tmux.server)
    panes = PaneObserver(catalog.load_all(), "/nowhere", desk.tmux.server)
    (desk.office.cwd / "short.md").write_text("{marker}\n{state}")  # its box is as large as its screen, and no larger
    world = ControllerSession(
        asked,
        Settings(watchdog_prompt=Command("short.md", f"{load.user_file()}:1")),
        tracker,
        panes,
        log.append,
        lambda: False,
    )
    try:
        yield Watchdog(asked, world, log.append), log
    finally:
        panes.close()


def test_it_is_resumed_and_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin().leave()
    with watched(desk, monkeypatch) as (dog, log):
        dog.round(tick=True)
    talk = desk.office.conversation
    assert [start["argv"] for start in desk.office.starts()] == [["--session-id", talk], ["--resume", talk]]
    assert any(line.startswith(f"recover {desk.pane} resume: ") for line in log)
    assert "prompt-sent tick" in log[-1]


def test_one_that_ends_again_and_again_is_left_alone(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin().leave()
    program = desk.office.home / "bin" / "claude"
    program.write_text(
        f"#!/bin/bash\necho x >> {desk.office.home}/tries\necho claude --resume {desk.office.conversation}\n"
    )
    monkeypatch.setattr(recover, "STARTS", 1.0)
    with watched(desk, monkeypatch) as (dog, log):
        for _ in range(controller_session.TRIES + 2):
            dog.round(tick=True)
            desk.until_prompt()
    assert (desk.office.home / "tries").read_text().count("x") <= controller_session.TRIES
    assert sum("given-up: it was resumed" in line for line in log) == 1
