"""Whoever leads now is told: after `/clear`, in another pane, after the watchdog was started again. Real tmux."""

from __future__ import annotations

import os
from pathlib import Path

from tests.conftest import until
from tests.integration.send.conftest import Agent
from tests.integration.watchdog.swarm import TITLE, Swarm

FIRST, SECOND = "8d7f2c1e-1111-4222-8333-444455556666", "9e802d2f-1111-4222-8333-444455556666"


def clear(swarm: Swarm) -> None:
    """As `/clear` does: the same process, another conversation."""
    swarm.agent.mood("conversation", SECOND)
    swarm.agent.state("idle", SECOND)


def test_a_conversation_that_was_cleared_is_told_at_the_next_tick(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.agent.state("idle", FIRST)
    with swarm.dog() as (dog, log):
        dog.round(tick=True)
        assert dog.round(tick=True).why == "nothing new"
        clear(swarm)
        dog.round(tick=True)
        assert f"conversation-new {swarm.agent.pane}: it has been told nothing yet" in log
        assert swarm.messages == 2
        assert dog.round(tick=True).why == "nothing new"
    assert swarm.messages == 2


def test_a_controller_in_another_pane_is_told_at_the_next_tick(swarm: Swarm, tmp_path: Path) -> None:
    swarm.task("add", "First thing")
    swarm.private("new-window", "-d", "-t", "=work:", "cat")
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
        swarm.private("kill-pane", "-t", swarm.agent.pane)
        other = Agent(swarm.private, tmp_path / "other", "elsewhere").start()
        swarm.private("move-window", "-d", "-s", other.pane, "-t", "=work:5")
        dog.round(tick=True)
    assert dog.sight.controller == other.pane
    assert other.typed.count(b"<<<WATCHDOG TICK>>>") == 1


def test_one_whose_agent_has_ended_gives_way_to_the_one_that_runs(swarm: Swarm, tmp_path: Path) -> None:
    """The old pane is a shell by now, and its title is still the controller's."""
    swarm.task("add", "First thing")
    old = Agent(swarm.private, tmp_path / "old", "lead").start(shell=True)
    with swarm.dog(session="lead") as (dog, log):
        dog.round(tick=True)
        assert dog.sight.controller == old.pane
        shell = int(swarm.private("display-message", "-p", "-t", old.pane, "#{pane_pid}"))
        (child,) = [int(each) for each in Path(f"/proc/{shell}/task/{shell}/children").read_text().split()]
        os.kill(child, 9)
        until(lambda: not Path(f"/proc/{child}").exists())
        swarm.private("move-window", "-d", "-s", swarm.agent.pane, "-t", "=lead:5")

        def given_way() -> bool:  # how the old one ended may take a second look
            dog.round(tick=False)
            return dog.sight.controller == swarm.agent.pane

        until(given_way)
        dog.round(tick=True)
    assert f"controller-found {swarm.agent.pane} ✳ Claude Code" in log
    assert not [line for line in log if line.startswith("controller-back")]
    assert swarm.agent.typed.count(b"<<<WATCHDOG TICK>>>") == 1


def test_of_several_that_fit_the_one_with_an_agent_leads(swarm: Swarm) -> None:
    swarm.private("split-window", "-d", "-t", swarm.agent.pane, "cat")
    (spare,) = set(swarm.private("list-panes", "-t", "=work:", "-F", "#{pane_id}").split()) - {swarm.agent.pane}
    swarm.private("select-pane", "-t", spare, "-T", "Claude Code")
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
    assert dog.sight.controller == swarm.agent.pane


def test_the_next_watchdog_knows_which_conversation_was_told(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.agent.state("idle", FIRST)
    words = ("run", "--once", "--project-dir", str(swarm.project), "--controller-title-regex", TITLE)
    swarm(*words)
    kept = swarm.standing()
    assert kept is not None
    assert kept.memory["conversation"] == FIRST
    swarm(*words)
    assert swarm.messages == 1
    clear(swarm)
    swarm(*words)
    assert swarm.messages == 2
    assert "conversation-new" in swarm.log


def test_the_first_message_lists_the_workers(swarm: Swarm, tmp_path: Path) -> None:
    swarm.task("add", "First thing")
    worker = Agent(swarm.private, tmp_path / "worker", "spare").start()
    swarm.private("select-pane", "-t", worker.pane, "-T", "worker")
    worker.state("busy")
    swarm.private("move-window", "-d", "-s", worker.pane, "-t", "=work:5")
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
    assert f"- workers: {worker.pane} (claude) is working\n".encode() in swarm.agent.typed
