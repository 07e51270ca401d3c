"""Nothing is typed where somebody would mind: each reason is said, and no byte and no buffer is left."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from midwatch.agents import catalog
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import prompt_delivery, send
from midwatch.tmux.pane_input import KeyTyper
from tests.conftest import Box, Done, until
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent, attached


def refused(box: Box, agent: Agent, outcome: str, code: int = 12) -> str:
    """The reason why nothing was typed."""
    before = agent.typed
    done = box("send", agent.pane, "hello", *agent.private.server, "--json")
    found = done.json
    assert (done.code, found["outcome"]) == (code, outcome), done
    assert (found["delivered"], found["submitted"], found["typed"]) == (False, False, False), done
    assert agent.typed == before
    assert agent.buffers == ""
    return str(found["reason"])


@pytest.mark.parametrize(
    ("case", "code", "reason"),
    [
        ("permission-bash", 8, "it waits for a permission"),
        ("nostatus-busy", 12, "it is at work"),
        ("s100x30-limit-draft", 9, "it hit a limit, until"),
        ("menu-model", 8, "it waits for a choice in a menu"),
        ("hard-history-search", 12, "its input box is not on the screen"),
        ("interrupted", 12, "a draft stands in its box: 'think again [[slow 20]]'"),
    ],
)
def test_the_screen_must_show_an_empty_box(
    box: Box, private: Private, tmp_path: Path, case: str, code: int, reason: str
) -> None:
    pane = show(private, tmp_path, "claude", case)
    before = private.screen(pane)
    done = box("send", pane, "hello", *private.server)
    assert (done.code, done.out) == (code, ""), done
    assert done.err.startswith(f"midwatch: {pane}: nothing was typed: {reason}"), done
    assert private.screen(pane) == before
    assert private("list-buffers") == ""


def test_a_draft_stays_as_it_is(box: Box, agent: Agent) -> None:
    agent.private("send-keys", "-t", agent.pane, "-l", "my own words")
    agent.private.until_shows(agent.pane, "my own words")
    assert refused(box, agent, "draft") == "a draft stands in its box: 'my own words'; send it or clear it first"
    assert agent.box == "❯ my own words"  # noqa: RUF001


def test_a_pane_in_copy_mode_is_left_alone(box: Box, agent: Agent) -> None:
    agent.private("copy-mode", "-t", agent.pane)
    assert "mode of tmux" in refused(box, agent, "person")


def test_a_pane_whose_input_is_off_is_left_alone(box: Box, agent: Agent) -> None:
    agent.private("select-pane", "-d", "-t", agent.pane)
    assert "switched off" in refused(box, agent, "refused")


def test_keys_that_would_go_to_other_panes_too_are_not_pressed(box: Box, agent: Agent) -> None:
    agent.private("set-option", "-w", "-t", agent.pane, "synchronize-panes", "on")
    assert "goes to others, too" in refused(box, agent, "refused")


def test_a_pane_that_never_rests_is_left_alone(private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server refuses each time, and half a screen is no reason to give up; but it ends."""

    class Restless(KeyTyper):
        def paste(self, text: str, guard: str) -> bool:
            return super().paste(text, f"#{{==:{text},{guard[:3]}}}")

    monkeypatch.setattr(prompt_delivery, "KeyTyper", Restless)
    monkeypatch.setattr(prompt_delivery, "RESTLESS", 1.5)
    panes = PaneObserver(catalog.load_all(), "/nowhere", private.server)
    sent = send.send_prompt(panes, agent.pane, "hello")
    panes.close()
    assert (sent.outcome, sent.typed) == ("starting", False)
    assert sent.reason.startswith("it changes whenever it is looked at")
    assert agent.typed == b""
    assert agent.buffers == ""


def test_a_suspended_agent_gets_nothing(box: Box, private: Private, tmp_path: Path) -> None:
    """A shell is in front of it, and would run what is typed."""
    agent = Agent(private, tmp_path / "agent", "work").start(shell=True)
    tree = json.loads(box("why", agent.pane, *private.server, "--json").out)["for"]
    pid = next(int(piece["says"].split("(")[1].split(")")[0]) for piece in tree if piece["source"] == "process")
    os.kill(pid, signal.SIGSTOP)
    private.until_shows(agent.pane, "Stopped")
    assert "suspended" in refused(box, agent, "waiting", 8)


def test_an_agent_in_the_background_gets_nothing(box: Box, private: Private, tmp_path: Path) -> None:
    pane = private.start("bash --norc -i", "other", size=(140, 40))
    (tmp_path / "sleep").symlink_to("/bin/sleep")
    golden = Path(__file__).parents[2] / "goldens/agents/screens/claude/idle-fresh/screen.txt"
    behind = f"(exec -a claude {tmp_path}/sleep 1000) &"
    private("send-keys", "-t", pane, "-l", f"{behind} PS1=; clear; head -c -1 {golden}")
    private("send-keys", "-t", pane, "Enter")
    private.until_shows(pane, "← for agents")
    until(lambda: bool(box("ls", "--panes", *private.server).out))
    before = private.screen(pane)
    done = box("send", pane, "hello", *private.server)
    assert done.code == 12, done
    assert "foreground" in done.err
    assert private.screen(pane) == before


def test_a_person_at_that_pane_is_not_disturbed(box: Box, agent: Agent) -> None:
    with attached(agent.private, "attach", "-t", "work"):
        assert "somebody is typing there" in refused(box, agent, "person")


def test_a_person_in_another_window_is_not_in_the_way(box: Box, agent: Agent) -> None:
    agent.private("new-window", "-t", "work", "cat")
    with attached(agent.private, "attach", "-t", "work"):
        assert box("send", agent.pane, "hello", *agent.private.server).code == 0
    assert agent.typed == agent.pasted("hello") + b"\r"


def test_who_only_looks_on_is_not_in_the_way(box: Box, agent: Agent) -> None:
    with attached(agent.private, "attach", "-r", "-t", "work"), attached(agent.private, "-C", "attach", "-t", "work"):
        assert box("send", agent.pane, "hello", *agent.private.server).code == 0
    assert agent.typed == agent.pasted("hello") + b"\r"


# What cannot be sent, and where to ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["%0"], "needs a target and one text"),
        (["%0", "two", "words"], "one text in quotes"),
        (["%0", "both", "--file", "-"], "one text in quotes"),
        (["%0", " \x1b[201~ \t"], "nothing to send"),
        (["%0", "!rm -rf build"], "command of the shell"),
        (["%0", "--file", "/nowhere/at/all"], "No such file"),
        (["no/name", "hello"], "no/name"),
    ],
)
def test_what_cannot_be_sent_is_a_usage_error(box: Box, arguments: list[str], says: str) -> None:
    done = box("send", *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_a_pane_without_an_agent_is_told(box: Box, private: Private) -> None:
    pane = private.start("cat")
    done = box("send", pane, "hello", *private.server)
    assert done.code == 7
    assert f"no agent in pane {pane}" in done.err
    assert not any(row.strip() for row in private.screen(pane))


def test_a_session_is_meant_by_its_whole_name_and_has_one_agent(box: Box, private: Private, tmp_path: Path) -> None:
    first = Agent(private, tmp_path / "agent", "work").start()
    assert not_found(box("send", "=wor", "hello", *private.server))
    words = private("display-message", "-p", "-t", first.pane, "#{pane_start_command}").strip()
    private("split-window", "-t", first.pane, words.strip('"').replace("\\", ""))
    until(lambda: len(box("ls", "--panes", *private.server, "--json").out.splitlines()) == 2)
    done = box("send", "=work", "hello", *private.server)
    assert done.code == 12
    assert f"there are 2 agents in work: {first.pane} (claude), " in done.err


def test_a_name_without_a_pane_is_told(box: Box) -> None:
    done = box("send", "night", "hello")
    assert (done.code, done.out) == (7, "")
    assert "no session is called 'night' here" in done.err
    assert box("run", "--name", "night", "--", "true").code == 0
    done = box("send", "night", "hello")
    assert (done.code, done.out) == (12, "")
    assert "a job without a pane" in done.err
    box.path("night.json").write_text("{")
    done = box("send", "night", "hello", "--json")
    assert (done.code, done.json["outcome"]) == (12, "refused")
    assert "its record cannot be read" in done.json["reason"]


def test_no_server_is_told_and_none_is_started(box: Box, tmp_path: Path) -> None:
    done = box("send", "%0", "hello", "-S", str(tmp_path / "none"))
    assert done.code == 12
    assert "no tmux server" in done.err
    assert not (tmp_path / "none").exists()


def not_found(done: Done) -> bool:
    return done.code == 7 and "no agent in a session" in done.err
