"""What was typed or waited for in vain is kept where one sees it, and can be tried again."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from midwatch.agents import catalog
from midwatch.cli import parser
from midwatch.cli.commands import send as verb
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import send
from tests.conftest import PATIENCE, Box, until
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent
from tests.integration.send.test_send_delivery import impatient, record
from tests.integration.send.test_send_waiting import Delivery


def listed(box: Box) -> list[dict[str, Any]]:
    return [json.loads(line) for line in box("send", "--undelivered", "--json").out.splitlines()]


@pytest.fixture
def numb(box: Box, agent: Agent, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What `send --json` says of a prompt that the agent does not take."""
    impatient(monkeypatch)
    monkeypatch.setenv("XDG_STATE_HOME", str(box.cwd / ".local" / "state"))
    agent.mood("numb")
    asked = parser.parse("send", [agent.pane, "go on,\nplease", *agent.private.server, "--json"])
    assert verb.main(asked) == 1
    agent.calm("numb")
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_what_is_not_taken_is_noted_and_can_be_sent_again(box: Box, agent: Agent, numb: dict[str, Any]) -> None:
    assert numb["outcome"] == "not_taken"
    note = listed(box)[0]
    assert note.pop("at") > 0
    assert note == {
        "schema": 1, "id": numb["note"], "socket": str(agent.private.socket), "pane": agent.pane, "target": agent.pane,
        "text": "go on,\nplease", "reason": numb["reason"], "left": False, "pid": note["pid"],
    }  # fmt: skip
    before = agent.typed
    done = box("send", "--again", numb["note"][:5])
    assert done.code == 0, done
    assert agent.typed == before + agent.pasted("go on,\nplease") + b"\r"
    assert listed(box) == []


def test_it_is_seen_where_one_looks_and_only_as_long_as_it_is_there(
    box: Box, agent: Agent, numb: dict[str, Any]
) -> None:
    line = box("send", "--undelivered").out
    assert line.startswith(f"{numb['note']}  {agent.pane}  ")
    assert line.endswith("ago: Enter did not send it; nothing of it stands there any more: 'go on, please'\n")
    assert "(1 undelivered)" in box("ls", "--panes", *agent.private.server).out
    why = box("why", agent.pane, *agent.private.server).out
    assert "  undelivered:\n" in why
    assert f"`midwatch send --again {numb['note']}`" in why
    assert box("why", agent.pane, *agent.private.server, "--json").json["undelivered"] == [numb["note"]]
    done = box("send", "--drop", numb["note"])
    assert (done.code, done.out) == (0, "")
    assert box("send", "--undelivered").out == ""
    assert "undelivered" not in box("ls", "--panes", *agent.private.server).out
    assert "undelivered" not in box("why", agent.pane, *agent.private.server).out
    assert "undelivered" not in box("why", agent.pane, *agent.private.server, "--json").json


def test_the_same_text_that_arrives_later_settles_it(box: Box, agent: Agent, numb: dict[str, Any]) -> None:
    assert box("send", agent.pane, "another", *agent.private.server).code == 0
    assert [note["id"] for note in listed(box)] == [numb["note"]]
    assert box("send", "=work", "go on,\nplease", *agent.private.server).code == 0
    assert listed(box) == []


def test_another_target_can_be_named(box: Box, private: Private, tmp_path: Path, numb: dict[str, Any]) -> None:
    other = Agent(private, tmp_path / "other", "second").start()
    done = box("send", "--again", numb["note"], "=second", *private.server)
    assert done.code == 0, done
    assert other.typed == other.pasted("go on,\nplease") + b"\r"
    assert listed(box) == []


def test_a_pane_that_is_another_by_now_gets_nothing(box: Box, agent: Agent, numb: dict[str, Any]) -> None:
    """Numbers of panes begin anew with each server."""
    words = agent.private("display-message", "-p", "-t", agent.pane, "#{pane_start_command}").strip()
    agent.private.stop()
    (agent.directory / "typed").unlink()
    again = agent.private.start(words.strip('"').replace("\\", ""), "work", size=(100, 24), cwd=str(agent.directory))
    assert again == agent.pane
    agent.private.until_shows(again, "? for shortcuts")
    until(lambda: bool(box("ls", "--panes", *agent.private.server).out))
    done = box("send", "--again", numb["note"])
    assert done.code == 12, done
    assert f"midwatch send --again {numb['note']} TARGET" in done.err
    assert agent.typed == b""
    assert "undelivered" not in box("ls", "--panes", *agent.private.server).out
    assert [note["id"] for note in listed(box)] == [numb["note"]]


def test_a_server_that_is_gone_keeps_its_notes(box: Box, agent: Agent, numb: dict[str, Any]) -> None:
    agent.private.stop()
    assert box("send", "--again", numb["note"]).code == 12
    assert [note["id"] for note in listed(box)] == [numb["note"]]


def test_what_may_still_stand_in_the_box_is_noted_as_such(
    box: Box, agent: Agent, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    impatient(monkeypatch)
    monkeypatch.setenv("XDG_STATE_HOME", str(box.cwd / ".local" / "state"))
    agent.mood("nosy")
    assert verb.main(parser.parse("send", [agent.pane, "hello", *agent.private.server])) == 1
    said = capsys.readouterr().err
    (note,) = listed(box)
    assert said.endswith(f"midwatch: it is kept: `midwatch send --again {note['id']}` tries again\n")
    assert (note["left"], note["reason"]) == (True, "something else stands in its box now; look there")


# Waiting -----------------------------------------------------------------------------------------------------------


def test_who_has_time_waits_until_a_turn_has_ended(box: Box, agent: Agent) -> None:
    agent.state("busy")
    until(lambda: "working" in box("ls", "--panes", *agent.private.server).out)
    sending = box.start("send", agent.pane, "hello", "--wait", "5m", *agent.private.server, "--json")
    until(lambda: bool(list(box.cwd.glob(".local/state/midwatch/keyboards/*"))))
    assert agent.typed == b""
    agent.mood("stateful")
    agent.state("idle")
    out, _ = sending.communicate(timeout=2 * PATIENCE)
    assert sending.returncode == 0, out
    assert agent.typed == agent.pasted("hello") + b"\r"
    assert listed(box) == []


def test_who_has_waited_in_vain_finds_a_note(box: Box, agent: Agent) -> None:
    agent.state("busy")
    until(lambda: "working" in box("ls", "--panes", *agent.private.server).out)
    done = box("send", agent.pane, "hello", "--wait", "1s", *agent.private.server)
    assert done.code == 12, done
    (note,) = listed(box)
    assert (note["text"], note["left"]) == ("hello", False)
    assert f"midwatch send --again {note['id']}" in done.err
    assert agent.typed == b""


def test_who_has_not_waited_needs_none(box: Box, agent: Agent) -> None:
    agent.state("busy")
    until(lambda: "working" in box("ls", "--panes", *agent.private.server).out)
    assert box("send", agent.pane, "hello", *agent.private.server).code == 12
    assert listed(box) == []


def test_a_dialog_is_told_at_once_however_long_one_would_wait(box: Box, agent: Agent) -> None:
    agent.private("send-keys", "-t", agent.pane, "-l", "my own words")
    agent.private.until_shows(agent.pane, "my own words")
    done = box("send", agent.pane, "hello", "--wait", "1h", *agent.private.server, "--json")
    assert (done.code, done.json["outcome"]) == (12, "draft")
    assert [note["id"] for note in listed(box)] == [done.json["note"]]


def test_whoever_types_first_is_waited_for(private: Private, agent: Agent) -> None:
    private("copy-mode", "-t", agent.pane)
    first = Delivery(private, agent.pane)
    first.has_looked()
    second = Delivery(private, agent.pane)
    second.has_looked()
    assert agent.typed == b""
    private("send-keys", "-X", "-t", agent.pane, "cancel")
    assert (first.sent.outcome, second.sent.outcome) == ("delivered", "delivered")
    assert agent.typed == 2 * (agent.pasted("hello") + b"\r")


def test_whoever_waits_for_another_can_leave_off(box: Box, private: Private, agent: Agent) -> None:
    private("copy-mode", "-t", agent.pane)
    first = box.start("send", agent.pane, "first", "--wait", "5m", *private.server, "--json")
    until(lambda: bool(list(box.cwd.glob(".local/state/midwatch/keyboards/*"))))
    panes = PaneObserver(catalog.load_all(), "/nowhere", private.server)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(box.cwd / ".local" / "state"))
        sent = send.send_prompt(panes, agent.pane, "second", until=float("inf"), stopped=lambda: True)
    panes.close()
    assert (sent.outcome, sent.typed) == ("interrupted", False)
    first.send_signal(signal.SIGINT)
    out, _ = first.communicate(timeout=2 * PATIENCE)
    assert (first.returncode, json.loads(out)["note"]) == (130, None), "whoever interrupts it knows"
    assert agent.typed == b""


def test_a_name_is_kept_as_the_target(box: Box, agent: Agent) -> None:
    record(box, agent, int(agent.private("display-message", "-p", "-t", agent.pane, "#{pane_pid}")))
    agent.state("busy")
    until(lambda: "working" in box("ls", "--panes", *agent.private.server).out)
    assert box("send", "night", "hello", "--wait", "1s").code == 12
    (note,) = listed(box)
    assert note["target"] == "night"
    agent.mood("stateful")
    agent.state("idle")
    done = box("send", "--again", note["id"], "--wait", "1m")
    assert done.code == 0, done
    assert agent.typed == agent.pasted("hello") + b"\r"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--again", "nothing"], "no undelivered note is called 'nothing'"),
        (["--drop", "nothing"], "no undelivered note is called 'nothing'"),
        (["--drop", ""], "no undelivered note is called ''"),
        (["--undelivered", "%1"], "take no target"),
        (["%1", "x", "--wait", "soon"], "--wait"),
        (["%1", "x", "--via", "telepathy"], "--via is one of tmux, ntm"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(box: Box, arguments: list[str], says: str) -> None:
    done = box("send", *arguments)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
