"""Whoever has just started an agent waits for its prompt, but not for what only a person can do."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import send
from midwatch.sessions.prompting.model import PromptResult
from midwatch.sessions.prompting.rules import readiness
from tests.conftest import PATIENCE, tool, until, until_gone
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent


class Delivery:
    """Under way in a thread of its own."""

    def __init__(self, private: Private, pane: str, seconds: float = PATIENCE) -> None:
        self.panes = PaneObserver(catalog.load_all(), "/nowhere", private.server)
        self.pane = pane
        self.until = time.monotonic() + seconds
        self.looks = 0
        self.found: list[PromptResult] = []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        self.found.append(send.send_prompt(self.panes, self.pane, "hello", until=self.until, stopped=self.observe))

    def observe(self) -> bool:
        self.looks += 1
        return False

    @property
    def sent(self) -> PromptResult:
        self.thread.join(PATIENCE)
        self.panes.close()
        return self.found[0]

    @property
    def early(self) -> bool:
        """Whether it did not wait for its deadline."""
        return time.monotonic() < self.until

    def has_looked(self) -> None:
        """At what is there now, and seen that it is not ready."""
        seen = self.looks
        until(lambda: self.looks > seen + 1 or not self.thread.is_alive())


def test_it_is_waited_for_until_the_agent_is_at_its_prompt(
    private: Private, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "SETTLED", 0.0)
    agent = Agent(private, tmp_path / "agent", "work")
    agent.pane = private.start("bash --norc -i", "work", size=(100, 24))
    delivery = Delivery(private, agent.pane)
    delivery.has_looked()
    agent.start_in(agent.pane)
    sent = delivery.sent
    assert (sent.outcome, sent.proof) == ("delivered", "transcript"), sent
    assert agent.typed == agent.pasted("hello") + b"\r"


def test_a_person_who_scrolls_is_waited_for(private: Private, agent: Agent) -> None:
    private("copy-mode", "-t", agent.pane)
    delivery = Delivery(private, agent.pane)
    delivery.has_looked()
    assert agent.typed == b""
    private("send-keys", "-X", "-t", agent.pane, "cancel")
    assert delivery.sent.outcome == "delivered"


def test_when_the_time_is_up_that_is_told(private: Private) -> None:
    pane = private.start("cat")
    sent = Delivery(private, pane, 0.5).sent
    assert (sent.outcome, sent.typed) == ("starting", False)
    assert not any(row.strip() for row in private.screen(pane))


@pytest.mark.parametrize(
    ("case", "outcome", "detail"),
    [
        ("s60x15-trust", "waiting", "trust"),
        ("s80x24-login", "waiting", "login"),
        ("s80x24-startup-mcp", "waiting", "startup-dialog"),
        ("interrupted", "draft", ""),
    ],
)
def test_what_a_person_must_do_is_told_at_once(
    private: Private, tmp_path: Path, case: str, outcome: str, detail: str
) -> None:
    pane = show(private, tmp_path, "claude", case)
    before = private.screen(pane)
    delivery = Delivery(private, pane)
    sent = delivery.sent
    assert (sent.outcome, sent.detail, sent.typed) == (outcome, detail, False)
    assert delivery.early
    assert private.screen(pane) == before


def test_an_agent_whose_box_nobody_knows_is_told_at_once(private: Private, tmp_path: Path) -> None:
    shutil.copy(tool("sleep"), tmp_path / "agy")
    delivery = Delivery(private, private.start(f"exec {tmp_path}/agy 1000"))
    assert delivery.sent.outcome == "refused"
    assert delivery.early


@contextmanager
def dying(private: Private, tmp_path: Path, *options: str) -> Iterator[int]:
    """An agent that has not come to its prompt yet; its pid."""
    private.start("cat", "other")
    program = tmp_path / "claude"
    shutil.copy(tool("sleep"), program)
    pane = private.start(f"exec {program} 1000", "work")
    for option in options:
        private("set-option", "-p", "-t", pane, option, "on")
    delivery = Delivery(private, pane)
    until(lambda: delivery.pane in delivery.panes.known)
    yield int(private("display-message", "-p", "-t", pane, "#{pane_pid}"))
    assert (delivery.sent.outcome, delivery.sent.typed) == ("exited", False)
    assert delivery.early


@pytest.mark.parametrize("options", [(), ("remain-on-exit",)], ids=["pane-gone", "pane-kept"])
def test_an_agent_that_dies_at_its_start_is_told_at_once(
    private: Private, tmp_path: Path, options: tuple[str, ...]
) -> None:
    with dying(private, tmp_path, *options) as pid:
        os.kill(pid, signal.SIGKILL)
        until_gone(pid)


def test_a_server_that_is_gone_is_told_at_once(private: Private, tmp_path: Path) -> None:
    with dying(private, tmp_path):
        private.stop()


def test_while_it_is_waited_for_nobody_else_types(private: Private, agent: Agent) -> None:
    private("copy-mode", "-t", agent.pane)
    delivery = Delivery(private, agent.pane)
    delivery.has_looked()
    panes = PaneObserver(catalog.load_all(), "/nowhere", private.server)
    second = send.send_prompt(panes, agent.pane, "mine")
    panes.close()
    assert (second.outcome, second.typed) == ("person", False)
    assert "another `send`" in second.reason
    private("send-keys", "-X", "-t", agent.pane, "cancel")
    assert delivery.sent.outcome == "delivered"
    assert agent.typed == agent.pasted("hello") + b"\r"
