"""`ready --recover`: the three things that may be done, each only where nobody minds, and each said with why."""

from __future__ import annotations

import json
import os
import shlex
import signal
import uuid
from pathlib import Path

import pytest

import midwatch
from tests.conftest import alive, letter, until
from tests.integration.panes.agent import show
from tests.integration.ready.conftest import Desk, steps, told
from tests.integration.send.conftest import attached
from tests.integration.spawn.office import Office

HOOK = Path(midwatch.__file__).parent / "agents" / "hooks" / "hook.sh"
MINE = "take the next task, and tell me when it is done"


def suspend(desk: Desk) -> None:
    os.kill(desk.agent, signal.SIGSTOP)
    desk.tmux.until_shows(desk.pane, "Stopped")
    until(lambda: desk.command == "bash")


# A draft ------------------------------------------------------------------------------------------------------------


def test_a_draft_of_ours_is_sent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin().draft(MINE)
    desk.noted(MINE, monkeypatch)
    done = desk.ready("--recover")
    assert steps(done) == ["press"], done
    assert (done.code, told(done)["ready"]) == (0, True), done
    assert desk.typed.endswith(MINE.encode() + b"\r")
    assert desk.notes() == []


@pytest.mark.parametrize("words", ["my own words", f"{MINE}, but not today", f"please {MINE}", f"{MINE}?", MINE[:18]])
def test_a_draft_with_a_persons_words_or_only_a_part_of_ours_stays_as_it_is(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    desk.begin().draft(words)
    desk.noted(MINE, monkeypatch)
    before = desk.rows
    done = desk.ready("--recover")
    assert (done.code, told(done)["outcome"], steps(done)) == (12, "draft", []), done
    assert desk.rows == before
    assert desk.notes() == [MINE]


def test_our_words_that_we_did_not_leave_there_are_a_persons(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.begin().draft(MINE)
    desk.noted(MINE, monkeypatch, left=False)
    assert (told(done := desk.ready("--recover"))["outcome"], steps(done)) == ("draft", []), done


# Suspended ----------------------------------------------------------------------------------------------------------


def test_a_suspended_agent_is_woken_and_what_stood_on_the_line_is_not_run(desk: Desk, tmp_path: Path) -> None:
    desk.begin()
    suspend(desk)
    desk.tmux("send-keys", "-t", desk.pane, "-l", f"touch {tmp_path}/made; ")
    desk.tmux.until_shows(desk.pane, "made;")
    assert told(desk.ready())["recover"] == "wake"
    assert letter(desk.agent) == "T"
    done = desk.ready("--recover")
    assert (done.code, steps(done)) == (0, ["wake"]), done
    assert letter(desk.agent) != "T"
    assert not (tmp_path / "made").exists()


def test_where_two_are_suspended_none_is_woken(desk: Desk) -> None:
    desk.begin()
    suspend(desk)
    desk.run("cat")
    until(lambda: desk.command == "cat")
    desk.tmux("send-keys", "-t", desk.pane, "C-z")
    until(lambda: desk.command == "bash")
    done = desk.ready("--recover")
    assert (done.code, told(done)["outcome"], steps(done)) == (8, "waiting", []), done
    assert "cat (" in told(done)["reason"]
    assert letter(desk.agent) == "T"


def test_where_something_else_runs_before_a_suspended_agent_nothing_is_typed(desk: Desk) -> None:
    desk.begin()
    suspend(desk)
    desk.run("cat")
    until(lambda: desk.command == "cat")
    before = desk.rows
    done = desk.ready("--recover")
    assert (done.code, steps(done)) == (8, []), done
    assert "cat is in front of it" in told(done)["reason"]
    assert desk.rows == before


# Ended --------------------------------------------------------------------------------------------------------------


def test_an_agent_that_ended_is_resumed_with_its_conversation(desk: Desk) -> None:
    desk.begin().leave()
    talk = desk.office.conversation
    found = told(desk.ready())
    assert (found["ready"], found["agent"], found["recover"]) == (False, "claude", "resume")
    assert talk in found["reason"]
    desk.tmux("send-keys", "-t", desk.pane, "-l", "half a line")
    desk.tmux.until_shows(desk.pane, "half a line")
    done = desk.ready("--recover")
    assert (done.code, steps(done)) == (0, ["resume"]), done
    assert f"types: claude --resume {talk}" in done.err
    assert [start["argv"] for start in desk.office.starts()] == [["--session-id", talk], ["--resume", talk]]


def test_a_shell_that_was_used_since_is_somebodys(desk: Desk) -> None:
    desk.begin().leave()
    desk.run("echo mine")
    desk.tmux.until_shows(desk.pane, "mine")
    desk.until_prompt()
    done = desk.ready("--recover")
    assert (done.code, steps(done)) == (7, []), done
    assert "something was run there since" in told(done)["reason"]
    assert len(desk.office.starts()) == 1


def test_a_conversation_that_another_has_open_is_not_resumed(desk: Desk) -> None:
    desk.begin().leave()
    holder = desk.office.home / "bin" / "holder"
    holder.write_text("#!/bin/bash\nexec -a claude bash -c 'read -r' \"$@\"\n")
    holder.chmod(0o755)
    desk.tmux.start(f"{holder} --resume {desk.office.conversation}", "other")
    until(lambda: bool(desk.office.box("ls", "--panes", *desk.tmux.server).out))
    done = desk.ready("--recover")
    assert (done.code, steps(done)) == (7, []), done
    assert "its conversation is open in another process" in told(done)["reason"]


def test_an_id_of_which_nothing_is_written_is_not_resumed(desk: Desk) -> None:
    """Anybody can print such words."""
    desk.run(f"clear; printf 'Resume this session with:\\nclaude --resume {uuid.uuid4()}\\n'")
    desk.tmux.until_shows(desk.pane, "claude --resume")
    desk.until_prompt()
    done = desk.ready("--recover")
    assert (done.code, steps(done)) == (7, []), done
    assert "is not to be found" in told(done)["reason"]
    assert desk.office.starts() == []


@pytest.mark.parametrize(("event", "resumes"), [("UserPromptSubmit", True), ("SessionEnd", False)])
def test_a_killed_agent_is_known_by_its_hooks_in_that_pane(desk: Desk, event: str, *, resumes: bool) -> None:
    """It says no last words. Who has told of his end has left, and only his last words can call him back."""
    talk, spool = desk.office.conversation, desk.office.home / "state" / "midwatch" / "hooks"
    spool.mkdir(parents=True)
    payload = json.dumps({"hook_event_name": event, "session_id": talk, "cwd": str(desk.office.cwd)})
    desk.run(shlex.join(["sh", str(HOOK), str(spool), "claude", payload]))
    until(lambda: bool(list(spool.glob("*.events"))), spool)
    desk.begin()
    os.kill(desk.agent, signal.SIGKILL)
    desk.tmux.until_shows(desk.pane, "Killed")
    desk.until_prompt()
    done = desk.ready("--recover")
    assert (done.code, steps(done)) == ((0, ["resume"]) if resumes else (7, [])), done
    assert len(desk.office.starts()) == (2 if resumes else 1)


def test_a_session_of_ours_whose_agent_was_killed_comes_back_in_its_pane(office: Office) -> None:
    before = office.spawned("api", prompt="say hello")
    os.kill(office.box.pids("api")[1], signal.SIGKILL)
    office.box("wait", "api")
    until(lambda: office.pane("#{pane_dead}") == "1")
    done = office.box("ready", "api", "--recover", "--json")
    assert (done.code, steps(done)) == (0, ["resume"]), done
    after = office.box.record("api")
    assert (after["pane"], after["conversation"]) == (before["pane"], before["conversation"])
    assert alive(office.box.pids("api")[1])


def test_a_session_of_ours_that_a_person_stopped_stays_stopped(office: Office) -> None:
    office.spawned("api", prompt="say hello")
    assert office.box("stop", "api").code == 0
    until(lambda: office.pane("#{pane_dead}") == "1")
    pane = office.box.record("api")["pane"]["id"]
    done = office.box("ready", pane, *office.tmux.server, "--recover", "--json")
    assert (done.code, steps(done)) == (7, []), done
    assert "`midwatch resume api` brings it back" in told(done)["reason"]
    assert len(office.starts()) == 1


# A person -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["draft", "suspended", "ended"])
def test_nothing_is_done_in_the_pane_that_a_person_is_in(desk: Desk, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    desk.begin()
    if how == "draft":
        desk.draft(MINE)
        desk.noted(MINE, monkeypatch)
    elif how == "suspended":
        suspend(desk)
    else:
        desk.leave()
    with attached(desk.tmux, "attach", "-t", "=desk"):
        until(lambda: bool(desk.rows))
        before = desk.rows
        done = desk.ready("--recover")
        assert (done.code, told(done)["outcome"], told(done)["person"], steps(done)) == (12, "person", True, []), done
        assert desk.rows == before


@pytest.mark.parametrize(
    ("case", "code", "outcome"),
    [
        ("permission-bash", 8, "waiting"),
        ("menu-model", 8, "waiting"),
        ("s100x30-limit-draft", 9, "limited"),
        ("nostatus-busy", 12, "working"),
    ],
)
def test_questions_menus_limits_and_turns_are_left_alone(
    office: Office, tmp_path: Path, case: str, code: int, outcome: str
) -> None:
    (tmp_path / "screens").mkdir()
    pane = show(office.tmux, tmp_path / "screens", "claude", case)
    before = office.tmux.screen(pane)
    done = office.box("ready", pane, *office.tmux.server, "--recover", "--json")
    assert (done.code, told(done)["outcome"], steps(done)) == (code, outcome, []), done
    assert office.tmux.screen(pane) == before
