"""A session that tmux has lost: reported at once, marked 5 s later, so that a tool that stops it can write first."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from midwatch.registry import reconcile
from midwatch.registry.model import DriftReport
from midwatch.registry.reconcile import Reconciler
from tests.conftest import PATIENCE, until
from tests.integration.reconcile.workspace import Workspace

NAME = "lab-creator-claude"
RUNNING = f"sessions:\n  - {{name: {NAME}, status: running}}\n"


class Clock:
    """The clock of a pass, which goes on only while that sleeps."""

    def __init__(self) -> None:
        self.began, self.slept = time.monotonic(), 0.0

    def sleep(self, seconds: float) -> None:
        self.slept += seconds

    def monotonic(self) -> float:
        return self.began + self.slept

    def time(self) -> float:
        return time.time() + self.slept


@pytest.fixture
def clock(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setenv("TMUX_TMPDIR", str(workspace.sockets))
    monkeypatch.setenv("XDG_STATE_HOME", str(workspace.home / "state"))
    monkeypatch.delenv("TMUX", raising=False)
    found = Clock()
    monkeypatch.setattr(reconcile, "time", found)
    return found


def passed(workspace: Workspace, clock: Clock) -> tuple[float, list[DriftReport], list[DriftReport]]:
    """How long one call takes, what it reports meanwhile, and what in the end."""
    began, early = clock.slept, list[DriftReport]()
    reconciler = Reconciler(str(workspace.registry))
    try:
        final = reconciler.act(reconciler.settled(early.extend))
    finally:
        reconciler.close()
    return clock.slept - began, early, list(final.new)


def test_one_call_reports_it_at_once_and_waits_until_it_may_be_marked(workspace: Workspace, clock: Clock) -> None:
    workspace.write(RUNNING)
    took, (early,), (final,) = passed(workspace, clock)
    assert took == pytest.approx(5.0)
    assert (early.drift.kind, early.applied, early.repeated) == ("A", False, False)
    assert early.drift.wait_s == pytest.approx(4.0)
    assert (final.drift.kind, final.applied, final.repeated) == ("A", True, True)
    assert workspace.rows()[NAME]["status"] == "terminated"


def test_the_next_call_waits_for_the_rest_only(workspace: Workspace, clock: Clock) -> None:
    workspace.write(RUNNING)
    workspace.missed(NAME, ago=4.0)
    took, (early,), (final,) = passed(workspace, clock)
    assert took < 5.0
    assert (early.applied, final.applied) == (False, True)


def test_a_session_that_was_missing_long_before_may_have_come_back_since(workspace: Workspace, clock: Clock) -> None:
    workspace.write(RUNNING)
    workspace.missed(NAME, ago=40.0)
    assert passed(workspace, clock)[0] == pytest.approx(5.0)


def test_of_two_that_watch_one_reports_it_and_one_marks_it(workspace: Workspace, clock: Clock) -> None:
    workspace.write(RUNNING)
    both = [Reconciler(str(workspace.registry)) for _ in range(2)]
    reports = list[tuple[str, bool]]()
    for _ in range(8):
        for each in both:
            reports += [(report.drift.kind, report.applied) for report in each.act(each.observe()).new]
        clock.sleep(1)
    for each in both:
        each.close()
    assert reports == [("A", False), ("A", True)]


def test_what_an_earlier_boot_has_ended_is_not_waited_for(workspace: Workspace, clock: Clock) -> None:
    workspace.write(f"sessions:\n  - {{name: {NAME}, status: running, pane: {{pid: 9, boot: before}}}}\n")
    took, early, (final,) = passed(workspace, clock)
    assert (early, final.applied, final.repeated) == ([], True, False)
    assert took == pytest.approx(1.0)


def test_a_tool_that_stops_it_writes_after_the_event_and_before_the_mark(workspace: Workspace) -> None:
    workspace.write(RUNNING)
    with workspace.box.start("reconcile", "--once", "--emit-diff") as running:
        until(lambda: drifts(workspace) != [])
        assert workspace.rows()[NAME]["status"] == "running"
        workspace.write(f"sessions:\n  - {{name: {NAME}, status: stopped, resumable: true}}\n", age=0)
        out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, json.loads(out)["drifts"]) == (0, []), err
    assert workspace.rows()[NAME] == {"name": NAME, "status": "stopped", "resumable": True}
    (event,) = drifts(workspace)
    assert (event["class"], event["applied"]) == ("A", False)
    assert event["reason"] == f"{NAME}: tmux gone. Will be marked terminated unless its row changes within 4 s."


def drifts(workspace: Workspace) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in workspace.box("events", "--json").out.splitlines()]
    return [each for each in found if each["event"] == "drift"]
