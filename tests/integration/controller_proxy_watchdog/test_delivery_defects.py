"""What is wrong with controller-proxy-watchdog's sending, by name, and what is done instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import send
from tests.conftest import Box, until
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent
from tests.integration.send.test_send_via_ntm import Ntm


def test_any_failed_send_ends_it(private: Private, agent: Agent, through: Ntm) -> None:
    """A send that fails is an answer, and the next one is tried as if nothing had been."""
    panes = PaneObserver(catalog.load_all(), "/nowhere", private.server)
    through.mood("typeless")
    through.mood("answer", '{"success": false, "error": "no such pane"}')
    through.mood("code", "1")
    first = send.send_prompt(panes, agent.pane, "first", via="ntm")
    assert (first.outcome, first.submitted) == ("not_taken", False)
    for mood in ("typeless", "answer", "code"):
        (through.directory / mood).unlink()
    assert send.send_prompt(panes, agent.pane, "second", via="ntm").delivered
    panes.close()
    assert agent.typed == b"second\r"


def test_a_busy_controller_ends_it(box: Box, agent: Agent) -> None:
    """It is told that it works, nothing is typed into its turn, and afterwards it gets the message."""
    agent.state("busy")
    until(lambda: "working" in box("ls", "--panes", *agent.private.server).out)
    done = box("send", agent.pane, "tick", *agent.private.server, "--json")
    assert (done.code, done.json["outcome"], done.json["typed"]) == (12, "working", False)
    assert agent.typed == b""
    agent.mood("stateful")
    agent.state("idle")
    assert box("send", agent.pane, "tick", "--wait", "1m", *agent.private.server).code == 0
    assert agent.typed == agent.pasted("tick") + b"\r"


@pytest.mark.parametrize("key", ["1.0", "0", "%"])
def test_the_multi_window_key_of_ntm_fails_validation(
    private: Private,
    tmp_path: Path,
    through: Ntm,
    key: str,
) -> None:
    """Where a session has several windows ntm answers with window and index; else with the index, or the pane's id."""
    private.start("cat", "work")
    found = Agent(private, tmp_path / "agent", "other").start()
    private("move-window", "-s", "other:0", "-t", "work:1")
    where = private("display-message", "-p", "-t", found.pane, "#{session_name} #{window_index}.#{pane_index}")
    assert where == "work 1.0\n"
    through.mood("key", found.pane if key == "%" else key)
    panes = PaneObserver(catalog.load_all(), "/nowhere", private.server)
    sent = send.send_prompt(panes, found.pane, "hello", via="ntm")
    assert sent.outcome == "delivered", sent
    assert through.asked[0][0] == "--robot-send=work"
    assert "though" not in sent.reason
    through.mood("key", "0.0")
    through.mood("typeless")
    assert send.send_prompt(panes, found.pane, "again", via="ntm").outcome == "not_taken", "that is another pane"
    panes.close()


LIMITS = (
    "You've hit your usage limit",
    "rate limit",
    "try again at 5pm",
    "Do you trust the contents of this directory?",
)


def test_rate_limit_text_in_the_scrollback_blocks_for_ever(
    box: Box,
    private: Private,
    tmp_path: Path,
) -> None:
    """Words that were said long ago, or are talked about, are not the agent's state."""
    found = Agent(private, tmp_path / "agent", "work")
    words = json.dumps("\n".join(LIMITS))
    found.pane = private.start("bash --norc -i", "work", size=(100, 24))
    private("send-keys", "-t", found.pane, "-l", f"printf '%b\\n' {words}; seq 40")
    private("send-keys", "-t", found.pane, "Enter")
    private.until_shows(found.pane, "40")
    found.start_in(found.pane)
    private.until_shows(found.pane, "? for shortcuts")
    assert all(limit in "\n".join(private.screen(found.pane, "-S", "-")) for limit in LIMITS)
    for text in ("what does 'rate limit' mean here?", "and: hit your usage limit, try again at 5pm", "go on"):
        done = box("send", found.pane, text, *private.server, "--json")
        assert (done.code, done.json["outcome"]) == (0, "delivered"), done
    assert found.typed.count(b"\r") == 3
