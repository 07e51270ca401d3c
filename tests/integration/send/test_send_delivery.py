"""A prompt arrives once, whole, and as words; what is said of it is true."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import midwatch
from midwatch.agents import catalog
from midwatch.core.errors import RefusedError
from midwatch.sessions.pane_observer import PaneObserver
from midwatch.sessions.prompting import prompt_delivery, send
from midwatch.sessions.prompting.model import PromptResult
from midwatch.system import procfs
from midwatch.tmux.pane_input import KeyTyper
from tests.conftest import Box, until
from tests.integration.panes.private import Private
from tests.integration.send.conftest import Agent, Gate

HOOK = Path(midwatch.__file__).parent / "agents" / "hooks" / "hook.sh"


def test_a_prompt_is_pasted_once_and_the_transcript_proves_it(box: Box, agent: Agent) -> None:
    done = box("send", agent.pane, "go on, please", *agent.private.server, "--json")
    assert done.code == 0, done
    found = done.json
    assert found.pop("elapsed_s") > 0
    assert found == {
        "schema": 1, "target": agent.pane, "pane": agent.pane, "agent": "claude", "outcome": "delivered",
        "detail": None, "delivered": True, "submitted": True, "proof": "transcript", "typed": True, "left": False,
        "reason": "its transcript tells of it", "note": None,
    }  # fmt: skip
    assert agent.typed == agent.pasted("go on, please") + b"\r"
    assert agent.buffers == ""


def test_people_are_told_in_a_line(box: Box, agent: Agent) -> None:
    done = box("send", agent.pane, "hello", *agent.private.server)
    assert (done.code, done.err) == (0, "")
    assert done.out == f"{agent.pane}: delivered: its transcript tells of it\n"


def test_several_lines_come_in_one_paste(box: Box, agent: Agent) -> None:
    text = "first\n\nthird\n    indented\n- é 日本語 👍"
    done = box("send", agent.pane, "--file", "-", *agent.private.server, stdin=text + "\n")
    assert done.code == 0, done
    assert agent.typed == agent.pasted(text) + b"\r"


def test_an_end_of_paste_within_the_text_types_nothing(box: Box, agent: Agent) -> None:
    evil = "look\x1b[201~\rrm -rf /\r\x1b[2\x1b[201~01~more\x07\x08\x9b201~\x03"
    done = box("send", agent.pane, "--file", "-", *agent.private.server, stdin=evil)
    assert done.code == 0, done
    inside = agent.typed.removeprefix(b"\x1b[200~").removesuffix(b"\x1b[201~\r")
    assert len(inside) == len(agent.typed) - len(agent.pasted("")) - 1
    assert inside.decode() == "look\nrm -rf /\n[201~more"


HIDDEN = "merge\u202e this\u200b \U000e0041\U000e0042now\u2066\ufeff\u180e"
SHAPED = "👩\u200d💻 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 ❤\ufe0f"


def test_what_no_reader_sees_is_dropped_and_that_is_said(box: Box, agent: Agent) -> None:
    done = box("send", agent.pane, f"{HIDDEN} {SHAPED}", *agent.private.server, "--json")
    assert done.code == 0, done
    assert done.json["proof"] == "transcript", "what was typed is what is looked for"
    assert agent.typed == agent.pasted(f"merge this now {SHAPED}") + b"\r"
    assert "7 invisible characters were dropped" in done.err
    assert "--verbatim" in done.err


def test_verbatim_keeps_what_no_reader_sees(box: Box, agent: Agent) -> None:
    done = box("send", "--verbatim", agent.pane, "--file", "-", *agent.private.server, "--json", stdin=HIDDEN + "x")
    assert (done.code, done.err) == (0, ""), done
    assert done.json["proof"] == "transcript"
    assert agent.typed == agent.pasted(HIDDEN + "x") + b"\r"


def test_a_text_of_nothing_but_what_no_reader_sees_is_not_sent(box: Box, agent: Agent) -> None:
    done = box("send", agent.pane, "\u200b\u202e", *agent.private.server)
    assert done.code == 2
    assert agent.typed == b""


def test_a_hundred_thousand_letters_arrive_and_stand_on_no_command_line(box: Box, agent: Agent, gate: Gate) -> None:
    text = "".join(f"line {number} of a long text\n" for number in range(5000)).strip()
    assert len(text) > 100_000
    (box.cwd / "prompt.md").write_text(text)
    done = box("send", agent.pane, "--file", "prompt.md", *agent.private.server, "--json")
    assert done.json["proof"] == "transcript", done
    assert agent.typed == agent.pasted(text) + b"\r"
    assert "load-buffer" in gate.asked
    assert "of a long text" not in gate.asked
    assert agent.buffers == ""


def test_where_pastes_are_not_marked_a_line_break_is_not_enter(box: Box, private: Private, tmp_path: Path) -> None:
    agent = Agent(private, tmp_path / "agent", "work")
    agent.directory.mkdir()
    agent.mood("unmarked")
    done = box("send", agent.start().pane, "one\ntwo", *private.server)
    assert done.code == 0, done
    assert agent.typed == b"one\ntwo\r"


def test_an_empty_box_alone_is_no_proof(private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_delivery, "PROVEN", 0.5)
    agent.mood("silent")
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.delivered, sent.submitted, sent.proof) == ("unproven", False, True, "screen")
    assert "look there before you send it again" in sent.reason
    assert agent.typed == agent.pasted("hello") + b"\r"


def test_a_state_file_that_says_so_is_a_proof(private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_delivery, "WEAKER", 0.5)
    agent.state("idle")
    agent.mood("silent")
    agent.mood("stateful")
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.proof) == ("delivered", "state")


def test_a_hook_that_tells_of_it_is_a_proof(private: Private, agent: Agent) -> None:
    spool = agent.directory / "spool"
    spool.mkdir()
    agent.mood("silent")
    agent.mood("hooked", f"{HOOK}\n{spool}")
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.proof) == ("delivered", "hook")


def test_a_turn_that_begins_meanwhile_is_not_steered(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent may go on by itself when its background work has ended."""
    agent.state("idle")

    class Overtaken(KeyTyper):
        def paste(self, text: str, guard: str) -> bool:
            agent.state("busy")
            return super().paste(text, guard)

    monkeypatch.setattr(prompt_delivery, "KeyTyper", Overtaken)
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.typed, sent.left) == ("working", True, False)
    assert sent.reason == "a turn has begun there meanwhile; nothing of it stands there any more"
    assert agent.typed == agent.pasted("hello") + b"\x15\x7f"


def test_enter_is_pressed_once_more_if_the_text_still_stands_there(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_delivery, "AGAIN", 0.3)
    agent.mood("numb", "1")
    assert sending(private, agent, "hello").proof == "transcript"
    assert agent.typed == agent.pasted("hello") + b"\r\r"


@pytest.mark.parametrize("text", ["hello", "one\ntwo\nthree", "one\ntwo\nthree\nfour\nfive"])
def test_what_is_not_taken_is_taken_out_again(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    impatient(monkeypatch)
    agent.mood("numb")
    sent = sending(private, agent, text)
    assert (sent.outcome, sent.submitted, sent.typed, sent.left) == ("not_taken", False, True, False)
    assert sent.reason == "Enter did not send it; nothing of it stands there any more"
    assert agent.box == "❯"  # noqa: RUF001
    assert agent.typed.startswith(agent.pasted(text) + b"\r\r\x15\x7f"), "two times Enter, and never a second paste"
    assert agent.typed.count(b"\r") == 2
    assert agent.buffers == ""


def test_what_is_not_ours_alone_stays(private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    impatient(monkeypatch)
    agent.mood("nosy")
    sent = sending(private, agent, "hello")
    assert (sent.submitted, sent.typed, sent.left) == (False, True, True)
    assert sent.reason == "something else stands in its box now; look there"
    assert agent.box == "❯ hello mine"  # noqa: RUF001
    assert agent.typed == agent.pasted("hello") + b"\r"


class Restless(KeyTyper):
    """The server refuses every Enter but the first: the pane changes whenever it is looked at."""

    pressed = 0

    def press(self, keys: tuple[str, ...], guard: str) -> bool:
        self.pressed += keys == ("Enter",)
        return super().press(keys, guard) if keys != ("Enter",) or self.pressed == 1 else False


def test_an_enter_that_cannot_be_pressed_again_is_not_waited_for_for_ever(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    monkeypatch.setattr(prompt_delivery, "KeyTyper", Restless)
    agent.mood("numb")
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.left) == ("not_taken", False)
    assert agent.box == "❯"  # noqa: RUF001


def test_what_somebody_else_wrote_behind_it_stays_with_it(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)

    class Joined(KeyTyper):
        def paste(self, text: str, guard: str) -> bool:
            pasted = super().paste(text, guard)
            private("send-keys", "-t", agent.pane, "-l", " and mine")
            return pasted

    monkeypatch.setattr(prompt_delivery, "KeyTyper", Joined)
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.left) == ("not_taken", True)
    assert agent.box == "❯ hello and mine"  # noqa: RUF001
    assert agent.typed == agent.pasted("hello") + b" and mine"


def test_a_paste_that_is_never_shown_is_not_followed_by_enter(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch)
    agent.mood("held")
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.submitted, sent.typed, sent.left) == ("not_taken", False, True, True)
    assert sent.reason == "it did not show the text in its box within 3 s; it may still stand there, or come yet"
    agent.calm("held")
    until(lambda: agent.typed != b"")
    assert agent.typed == agent.pasted("hello")


def test_what_an_interruption_puts_back_into_the_box_is_neither_sent_again_nor_taken_out(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With Esc before the first word the prompt returns; whoever pressed it wants it so."""
    impatient(monkeypatch)
    agent.mood("silent")
    agent.mood("undone")
    sent = sending(private, agent, "hello")
    assert (sent.delivered, sent.submitted, sent.proof) == (False, True, "screen")
    assert agent.box == "❯ hello"  # noqa: RUF001
    assert agent.typed == agent.pasted("hello") + b"\r"


class Mute(KeyTyper):
    """Its server falls silent as Enter is pressed."""

    def press(self, keys: tuple[str, ...], guard: str) -> bool:
        raise RefusedError(f"{keys} {bool(guard)}")


def test_where_the_server_falls_silent_after_the_paste_that_is_said(
    private: Private, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_delivery, "KeyTyper", Mute)
    sent = sending(private, agent, "hello")
    assert (sent.outcome, sent.typed, sent.left) == ("not_taken", True, True)
    assert agent.typed == agent.pasted("hello")


def test_a_text_may_be_sent_to_a_session_and_to_a_name(box: Box, agent: Agent) -> None:
    assert box("send", "=work", "first", *agent.private.server).code == 0
    record(box, agent, int(agent.private("display-message", "-p", "-t", agent.pane, "#{pane_pid}")))
    done = box("send", "night", "second", "--json")
    assert done.code == 0, done
    assert (done.json["target"], done.json["pane"]) == ("night", agent.pane)
    assert agent.typed == agent.pasted("first") + b"\r" + agent.pasted("second") + b"\r"


def test_a_pane_that_has_become_anothers_is_not_typed_into(box: Box, agent: Agent) -> None:
    """Numbers of panes begin anew with each server."""
    record(box, agent, os.getpid())
    done = box("send", "night", "hello")
    assert done.code == 7, done
    assert "the agent of night is not in its pane any more" in done.err
    assert agent.typed == b""


def record(box: Box, agent: Agent, work: int) -> None:
    """Of a session whose work is that process."""
    assert box("run", "--name", "night", "--", "true").code == 0
    seat = {"server": list(agent.private.server), "id": agent.pane, "session": "work", "life": ""}
    process = {"pid": work, "start": procfs.start_time(work)}
    found = box.record("night") | {"kind": "session", "agent": "claude", "pane": seat, "work": process}
    box.path("night.json").write_text(json.dumps(found))


def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (
        ("SHOWN", 3.0),
        ("EMPTIED", 3.0),
        ("AGAIN", 0.3),
        ("GIVEN_UP", 0.3),
        ("PROVEN", 1.0),
        ("WEAKER", 0.5),
    ):
        monkeypatch.setattr(prompt_delivery, name, seconds)


def sending(private: Private, agent: Agent, text: str) -> PromptResult:
    panes = PaneObserver(catalog.load_all(), str(agent.directory / "spool"), private.server)
    try:
        return send.send_prompt(panes, agent.pane, text)
    finally:
        panes.close()
