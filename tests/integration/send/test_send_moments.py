"""What happens between two steps: the server refuses what was meant for a pane as it was, and nothing is left."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from midwatch.tmux.pane_input import KeyTyper
from midwatch.tmux.pane_snapshot import take_snapshot
from tests.conftest import PATIENCE, Box, until
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent, Gate, attached


def seen(agent: Agent) -> str:
    """The guard of a look at a pane."""
    found = take_snapshot(agent.private.server, agent.pane)
    assert found is not None
    return found.guard


def test_as_long_as_nothing_changes_the_guard_lets_keys_through(agent: Agent) -> None:
    hand = KeyTyper(agent.private.server, agent.pane)
    assert hand.paste("hello", seen(agent))
    agent.private.until_shows(agent.pane, "hello")
    assert hand.press(("C-u",), seen(agent))
    until(lambda: agent.typed == agent.pasted("hello") + b"\x15")
    assert agent.buffers == ""


@pytest.mark.parametrize(
    "change",
    [
        ["copy-mode", "-t", "{pane}"],
        ["kill-pane", "-t", "{pane}"],
        ["respawn-pane", "-k", "-t", "{pane}", "cat"],
        ["select-pane", "-d", "-t", "{pane}"],
        ["set-option", "-w", "-t", "{pane}", "synchronize-panes", "on"],
        ["resize-window", "-t", "{pane}", "-x", "50"],
        ["select-pane", "-t", "{pane}", "-T", "✋ Action Required, #{x}"],
    ],
    ids=lambda change: f"{change[0]} {change[1]}",
)
def test_whatever_changes_between_the_look_and_the_paste_prevents_it(
    private: Private, agent: Agent, change: list[str]
) -> None:
    private.start("cat", "other")
    hand, guard = KeyTyper(private.server, agent.pane), seen(agent)
    private(*[word.replace("{pane}", agent.pane) for word in change])
    assert not hand.paste("hello", guard)
    assert not hand.press(("Enter",), guard)
    assert agent.typed == b""
    assert agent.buffers == ""


def test_an_odd_title_is_in_nobodys_way(agent: Agent) -> None:
    agent.private("select-pane", "-t", agent.pane, "-T", "✳ a, {b} #{pane_id} #(true) 100% \"c\" 'd' \\ $HOME")
    assert KeyTyper(agent.private.server, agent.pane).paste("hello", seen(agent))
    until(lambda: agent.typed == agent.pasted("hello"))


def test_a_letter_typed_between_the_look_and_the_paste_prevents_it(agent: Agent) -> None:
    guard = seen(agent)
    agent.private("send-keys", "-t", agent.pane, "-l", "x")
    agent.private.until_shows(agent.pane, "❯\xa0x")  # noqa: RUF001
    assert not KeyTyper(agent.private.server, agent.pane).paste("hello", guard)
    assert agent.typed == b"x"
    assert agent.buffers == ""


def test_another_program_in_the_foreground_prevents_it(private: Private, tmp_path: Path) -> None:
    agent = Agent(private, tmp_path / "agent", "work")
    agent.pane = private.start("bash -mc 'cat; exec sleep 1000'", "work")
    until(lambda: command(agent) == "cat")
    guard = seen(agent)
    private("send-keys", "-t", agent.pane, "C-d")
    until(lambda: command(agent) == "sleep")
    assert not KeyTyper(private.server, agent.pane).paste("hello", guard)
    assert agent.buffers == ""


def command(agent: Agent) -> str:
    return agent.private("display-message", "-p", "-t", agent.pane, "#{pane_current_command}").strip()


@pytest.mark.parametrize("word", ["list-clients", "load-buffer", "send-keys"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_asked_to_end_it_leaves_nothing(box: Box, agent: Agent, gate: Gate, word: str, number: signal.Signals) -> None:
    gate.close(word)
    sending = box.start("send", agent.pane, "hello", *agent.private.server, "--json")
    gate.reached()
    sending.send_signal(number)
    gate.open()
    out, err = sending.communicate(timeout=PATIENCE)
    assert err == ""
    assert agent.buffers == ""
    assert agent.box == "❯"  # noqa: RUF001
    assert not list(box.cwd.glob(".local/state/midwatch/keyboards/*"))
    assert (agent.typed == b"") == (word == "list-clients"), "asked before the paste, it types nothing"
    sent = agent.typed.count(b"\r") == 1
    assert sending.returncode == (0 if sent and '"delivered":true' in out else 6 if sent else 130), out
    assert sent == (word == "send-keys"), "Enter that is on its way is pressed; before it, nothing is sent any more"


def test_interrupted_while_the_agent_shows_nothing_it_waits_and_takes_the_text_out(
    box: Box, agent: Agent, gate: Gate
) -> None:
    agent.mood("held")
    sending = box.start("send", agent.pane, "hello", *agent.private.server, "--json")
    until(lambda: "load-buffer" in gate.asked and gate.asked.count("capture-pane") > 2, gate.notes.parent)
    sending.send_signal(signal.SIGINT)
    agent.calm("held")
    out, _ = sending.communicate(timeout=PATIENCE)
    assert (sending.returncode, agent.box) == (130, "❯")  # noqa: RUF001
    assert '"reason":"interrupted; nothing of it stands there any more"' in out
    assert agent.typed == agent.pasted("hello") + b"\x15\x7f"


def test_a_person_who_comes_after_the_paste_gets_an_empty_box(box: Box, agent: Agent, gate: Gate) -> None:
    agent.mood("held")
    sending = box.start("send", agent.pane, "hello", *agent.private.server, "--json")
    until(lambda: "load-buffer" in gate.asked and gate.asked.count("capture-pane") > 2, gate.notes.parent)
    with attached(agent.private, "attach", "-t", "work"):
        agent.calm("held")
        out, _ = sending.communicate(timeout=PATIENCE)
    assert sending.returncode == 1, out
    assert '"outcome":"person"' in out
    assert '"reason":"somebody has begun to type there; nothing of it stands there any more"' in out
    assert agent.box == "❯"  # noqa: RUF001
    assert agent.typed == agent.pasted("hello") + b"\x15\x7f"


def test_of_two_at_once_one_types(box: Box, agent: Agent, gate: Gate) -> None:
    agent.mood("held")
    first = box.start("send", agent.pane, "first", *agent.private.server, "--json")
    until(lambda: "load-buffer" in gate.asked, gate.notes.parent)
    second = box("send", agent.pane, "second", *agent.private.server)
    assert second.code == 12
    assert f"another `send` types into {agent.pane} just now" in second.err
    agent.calm("held")
    first.communicate(timeout=PATIENCE)
    assert first.returncode == 0
    assert agent.typed == agent.pasted("first") + b"\r"


def test_after_one_that_was_killed_another_can_type(box: Box, agent: Agent, gate: Gate) -> None:
    gate.close("load-buffer")
    first = box.start("send", agent.pane, "first", *agent.private.server)
    gate.reached()
    first.kill()
    first.communicate(timeout=PATIENCE)
    gate.open()
    until(lambda: agent.typed == agent.pasted("first"))
    assert agent.buffers == ""
    agent.private("send-keys", "-t", agent.pane, "C-u")
    until(lambda: agent.box == "❯")  # noqa: RUF001
    assert box("send", agent.pane, "second", *agent.private.server).code == 0
