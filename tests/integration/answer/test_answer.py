"""`midwatch answer`: it shows the open dialog, selects a choice in exactly that dialog, and writes down who did."""

from __future__ import annotations

import json
import os
import pwd
from typing import Any

import pytest

from tests.conftest import PATIENCE, Box
from tests.integration.answer.conftest import AskingAgent
from tests.integration.send.conftest import Gate, attached

SURE = "Yes, and always allow access to proj/ from this project"


def answer(box: Box, asking: AskingAgent, *words: str) -> dict[str, Any]:
    done = box("answer", asking.pane, *words, *asking.private.server, "--json")
    assert done.out, done
    return {**done.json, "code": done.code}


def test_it_shows_the_dialog_with_its_choices_and_types_nothing(box: Box, asking: AskingAgent) -> None:
    done = box("answer", "=work", *asking.private.server)
    assert done.code == 0, done
    assert f"1. Yes\n2. {SURE}\n3. No\n" in done.out
    assert "touch marker" in done.out
    found = answer(box, asking)
    assert (found["code"], found["outcome"], found["dialog"]["kind"]) == (0, "open", "permission")
    assert found["dialog"]["choices"][0] == {
        "choice": 1, "text": "Yes", "marked": True, "needs_text": False, "takes_text": False,
    }  # fmt: skip
    assert answer(box, asking)["dialog"]["id"] == found["dialog"]["id"], "it is the same dialog as long as it is open"
    assert asking.read("typed") == ""


@pytest.mark.parametrize(("number", "label"), [(1, "Yes"), (2, SURE), (3, "No")])
def test_it_selects_the_choice_that_was_named(box: Box, asking: AskingAgent, number: int, label: str) -> None:
    found = answer(box, asking, str(number))
    assert (found["code"], found["outcome"], found["pressed"], found["choice"]) == (0, "answered", True, number), found
    assert asking.read("taken") == f"touch marker: {label}\n"


def test_who_answered_and_what_stands_in_the_journal(box: Box, asking: AskingAgent) -> None:
    seen = answer(box, asking)["dialog"]["id"]
    done = box(
        "answer", asking.pane, "3", *asking.private.server, "--json", MIDWATCH_NAME="lead", MIDWATCH_RUN="r1",
        TMUX_PANE="%77",
    )  # fmt: skip
    assert done.code == 0, done
    told = [json.loads(line) for line in box("events", "--json").out.splitlines()]
    begun, ended = told
    assert begun | {"at": 0, "seq": 0} == {
        "schema": 1, "seq": 0, "run": "", "n": None, "at": 0, "name": "work", "event": "answer", "dialog": seen,
        "kind": "permission", "choice": 3, "label": "No", "text": "", "by": pwd.getpwuid(os.getuid()).pw_name,
        "uid": os.getuid(), "from_session": "lead", "from_agent": begun["from_agent"], "from_pane": "%77",
    }  # fmt: skip
    assert (ended["event"], ended["dialog"], ended["outcome"]) == ("answered", seen, "answered")
    assert begun["at"] <= ended["at"]


def test_a_dialog_that_is_not_the_one_that_was_seen_is_not_answered(box: Box, asking: AskingAgent) -> None:
    seen = answer(box, asking)["dialog"]["id"]
    asking.ask("rm -rf build")
    found = answer(box, asking, "1", "--dialog", seen)
    assert (found["code"], found["outcome"], found["pressed"]) == (12, "other-dialog", False)
    assert found["dialog"]["id"] != seen
    assert "rm -rf build" in "".join(found["dialog"]["rows"]), "it says which one is open"
    assert (asking.read("typed"), asking.read("taken")) == ("", "")
    assert not box("events", "--json").out, "and nothing is written down"


def test_a_dialog_that_is_replaced_between_the_look_and_the_key_gets_no_key(
    box: Box, asking: AskingAgent, gate: Gate
) -> None:
    gate.close("send-keys")
    answering = box.start("answer", asking.pane, "1", *asking.private.server, "--json")
    gate.reached()
    asking.ask("rm -rf build")
    gate.open()
    out, _ = answering.communicate(timeout=PATIENCE)
    found = json.loads(out)
    assert (answering.returncode, found["outcome"], found["pressed"]) == (12, "other-dialog", False), found
    assert (asking.read("typed"), asking.read("taken")) == ("", "")


def test_a_mark_that_a_person_moves_between_the_look_and_the_key_prevents_it(
    box: Box, asking: AskingAgent, gate: Gate
) -> None:
    gate.close("send-keys")
    answering = box.start("answer", asking.pane, "1", *asking.private.server, "--json")
    gate.reached()
    asking.private("send-keys", "-t", asking.pane, "Down")
    asking.private.until_shows(asking.pane, "❯ 2.")  # noqa: RUF001
    gate.open()
    out, _ = answering.communicate(timeout=PATIENCE)
    assert answering.returncode == 12, out
    assert asking.read("taken") == ""


def test_the_dialog_that_follows_is_not_taken_for_the_answered_one(box: Box, asking: AskingAgent) -> None:
    asking.put("again", "touch second")
    found = answer(box, asking, "1")
    assert (found["code"], found["outcome"], found["state"]) == (0, "answered", "waiting")
    assert asking.read("taken") == "touch marker: Yes\n"
    assert asking.read("typed") == "\r", "one key, once"


def test_a_dialog_that_stays_open_is_told(box: Box, asking: AskingAgent) -> None:
    asking.put("numb")
    found = answer(box, asking, "1")
    assert (found["code"], found["outcome"], found["pressed"]) == (8, "still-open", True)
    assert asking.read("typed") == "\r"


def test_a_person_who_types_there_is_not_disturbed(box: Box, asking: AskingAgent) -> None:
    with attached(asking.private, "attach", "-t", "work") as keyboard:
        os.write(keyboard, b"x")
        asking.private.until_shows(asking.pane, "touch marker")
        found = answer(box, asking, "1")
    assert (found["code"], found["outcome"]) == (12, "person"), found
    assert "\r" not in asking.read("typed")
    assert not box("events", "--json").out, "nothing was selected, so nothing is written down"


def test_a_choice_that_is_not_there_is_a_usage_error(box: Box, asking: AskingAgent) -> None:
    done = box("answer", asking.pane, "4", *asking.private.server)
    assert done.code == 2
    assert "no choice 4; it has 1, 2, 3" in done.err
    assert box("answer", asking.pane, "yes", *asking.private.server).code == 2
    assert asking.read("typed") == ""


def test_an_agent_at_its_prompt_has_no_dialog(box: Box, asking: AskingAgent) -> None:
    assert answer(box, asking, "1")["code"] == 0
    found = answer(box, asking, "1")
    assert (found["code"], found["outcome"], found["pressed"]) == (12, "no-dialog", False)
    assert asking.read("typed") == "\r"


def test_the_session_that_asks_cannot_answer_itself(box: Box, asking: AskingAgent) -> None:
    done = box(
        "answer", asking.pane, "1", *asking.private.server, "--json", TMUX=f"{asking.private.socket},1,0",
        TMUX_PANE=asking.pane,
    )  # fmt: skip
    assert (done.code, done.json["outcome"]) == (12, "refused"), done
    assert "does not answer its own dialogs" in done.json["reason"]
    assert asking.read("typed") == ""


def test_words_are_typed_only_where_a_choice_takes_them(box: Box, asking: AskingAgent) -> None:
    found = answer(box, asking, "--text", "green")
    assert (found["code"], found["outcome"]) == (12, "unreadable")
    assert asking.read("typed") == ""
    found = answer(box, asking, "1", "--text", "green")
    assert (found["outcome"], found["reason"]) == ("unreadable", "choice 1: it takes no text")
    assert asking.read("typed") == ""
    asking.ask("Which words, please?")
    assert answer(box, asking, "3")["outcome"] == "unreadable", "that choice needs words"
    found = answer(box, asking, "--text", "green as grass")
    assert (found["code"], found["outcome"], found["choice"]) == (0, "answered", 3), found
    assert asking.read("taken") == "Which words, please?: green as grass\n"
