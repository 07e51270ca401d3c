"""`midwatch session stop`: the row first, then the session, whoever has started it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest
import yaml

from tests.conftest import PATIENCE, alive, kill, until, until_gone
from tests.integration.session.desk import Desk
from tests.integration.spawn.office import Office


def test_a_session_of_ours_is_ended_and_its_pane_closed(desk: Desk, office: Office) -> None:
    desk.create("api", "--prompt", "work")
    office.tmux.start("cat", "others")
    done = desk("stop", "api", "--reason", "it is late")
    assert (done.code, done.out) == (0, "api: stopped\n")
    row = desk.row()
    assert (row["status"], row["termination_mode"], row["reason"]) == ("stopped", "forced", "it is late")
    assert row["resumable"] is True
    assert row["stopped_at"]
    until_gone(desk.agent())
    assert office.sessions() == ["others"]
    assert office.listed() == {"api": "stopped"}


def test_twice_is_not_an_error(desk: Desk) -> None:
    desk.create()
    assert desk("stop", "api").code == 0
    before = desk.path.read_text()
    done = desk("stop", "api")
    assert done.code == 0
    assert "stopped already" in done.out
    assert desk.path.read_text() == before


def test_the_row_says_so_before_anything_ends(desk: Desk, office: Office) -> None:
    office.begin("deaf")
    desk.create()
    stopping = office.box.start("session", "stop", "api")
    until(lambda: desk.row()["status"] == "stopped", office.cwd)
    assert alive(desk.agent())
    assert stopping.wait(PATIENCE) == 0
    stopping.communicate()
    assert not alive(desk.agent())


@pytest.mark.parametrize(("begins", "mode"), [("", "graceful"), ("deaf", "forced")])
def test_graceful_is_told_only_of_who_left_by_himself(desk: Desk, office: Office, begins: str, mode: str) -> None:
    office.begin(begins)
    desk.create()
    assert desk("stop", "api", "--graceful").code == 0
    assert desk.row()["termination_mode"] == mode


def test_its_id_is_captured(desk: Desk) -> None:
    talk = desk.create()["claude_session_id_own"]
    desk.edit("api", claude_session_id_own=None)
    assert desk("stop", "api", "--capture-id").code == 0
    row = desk.row()
    assert (row["claude_session_id_own"], row["resumable"]) == (talk, True)


def test_who_has_begun_anew_is_captured_with_his_new_conversation(desk: Desk, office: Office) -> None:
    office.begin("anew")
    desk.create()
    first = desk.argv(1)[1]
    office.until_state("idle")
    desk.edit("api", claude_session_id_own=first)
    assert desk("stop", "api", "--capture-id").code == 0
    second = desk.row()["claude_session_id_own"]
    assert second != first
    assert desk.transcript(second).exists()


def test_without_an_id_it_cannot_be_resumed_and_its_row_says_so(desk: Desk) -> None:
    desk.create()
    desk.edit("api", claude_session_id_own=None)
    assert desk("stop", "api").code == 0
    assert desk.row()["resumable"] is False


def test_nothing_is_stopped_where_no_id_can_be_captured(desk: Desk, office: Office) -> None:
    pane = office.tmux.start("sh", "work")
    desk.write(desk.listing("work", pane, None))
    done = desk("stop", "work", "--capture-id")
    assert done.code == 12
    assert "nothing was stopped" in done.err
    assert (desk.row("work")["status"], office.sessions()) == ("running", ["work"])


def test_there_may_be_no_such_session(desk: Desk) -> None:
    desk.write(desk.past())
    assert desk("stop", "nobody").code == 7


def test_a_session_that_could_not_be_ended_runs_in_the_list_as_before(desk: Desk, office: Office) -> None:
    before = desk.create()
    office.box.dir.chmod(0o777)  # nothing that others could have written is acted upon
    done = desk("stop", "api", "--reason", "why not")
    office.box.dir.chmod(0o700)
    assert done.code == 12
    after = desk.row()
    assert {key: after[key] for key in before} == before
    assert (after["stopped_at"], after["reason"], after["termination_mode"]) == (None, None, None)
    assert alive(desk.agent())


def test_a_session_that_somebody_has_renamed_is_ended_and_not_closed(desk: Desk, office: Office) -> None:
    desk.create()
    office.tmux("rename-session", "-t", "=api", "mine")
    done = desk("stop", "api")
    assert done.code == 0
    assert "which is not ours" in done.err
    assert (desk.row()["status"], office.sessions()) == ("stopped", ["mine"])
    until_gone(desk.agent())


# Sessions of others


@pytest.mark.parametrize("shell", [True, False])
@pytest.mark.parametrize("graceful", [True, False])
def test_a_session_that_we_never_spawned_is_ended_with_its_pane(
    desk: Desk, office: Office, *, shell: bool, graceful: bool
) -> None:
    row = desk.opened(shell=shell)
    office.tmux.start("cat", "others")
    desk.write(row)
    done = desk("stop", "work", *(["--graceful"] if graceful else []))
    assert done.code == 0, done
    until_gone(desk.agent())
    until_gone(row["pane"]["pid"])
    assert office.sessions() == ["others"]
    assert desk.row("work")["termination_mode"] == ("graceful" if graceful else "forced")


def test_another_pane_of_that_session_is_left(desk: Desk, office: Office) -> None:
    row = desk.opened()
    other = office.tmux("split-window", "-d", "-t", row["pane"]["id"], "-P", "-F", "#{pane_id}", "cat").strip()
    desk.write(row)
    assert desk("stop", "work").code == 0
    until_gone(desk.agent())
    assert office.tmux("list-panes", "-a", "-F", "#{pane_id}").split() == [other]


def test_a_session_that_only_has_its_name_is_left_alone(desk: Desk, office: Office) -> None:
    pane = office.tmux.start("cat", "work")
    row = desk.listing("work", pane, None)
    desk.write(row | {"pane": {"pid": 1, "start": 1, "boot": "another", "cmd": "claude"}})
    before = desk.path.read_text()
    done = desk("stop", "work")
    assert done.code == 12
    assert "close it yourself" in done.err
    assert (desk.path.read_text(), office.sessions()) == (before, ["work"])


def test_a_process_is_ended_though_tmux_does_not_show_it(desk: Desk, office: Office) -> None:
    row = desk.opened()
    desk.write(row | {"tmux_socket": str(office.home / "elsewhere")})
    assert desk("stop", "work").code == 0
    until_gone(desk.agent())
    assert desk.row("work")["status"] == "stopped"


def test_what_has_ended_by_itself_is_stopped_in_the_list(desk: Desk, office: Office) -> None:
    row = desk.opened()
    office.tmux.start("cat", "others")
    desk.write(row)
    kill(desk.agent(), signal.SIGKILL)
    until(lambda: office.sessions() == ["others"])
    done = desk("stop", "work")
    assert done.code == 0
    assert "it had ended already" in done.out
    assert desk.row("work")["status"] == "stopped"
    assert "termination_mode" not in desk.row("work")


def test_where_tmux_cannot_be_asked_nothing_is_done(desk: Desk, office: Office) -> None:
    row = desk.opened()
    desk.write({key: value for key, value in row.items() if key != "pane"})
    server = office.tmux.pid
    kill(server, signal.SIGSTOP)
    try:
        done = desk("stop", "work")
    finally:
        kill(server, signal.SIGCONT)
    assert done.code == 12
    assert "cannot be told" in done.err
    assert desk.row("work")["status"] == "running"


# Purging


def test_its_conversation_is_removed_if_that_is_wanted(desk: Desk) -> None:
    talk = desk.create("api", "--prompt", "say hello")["claude_session_id_own"]
    other = desk.past()["claude_session_id_own"]
    beside = desk.transcript(talk).with_suffix("")
    (beside / "subagents").mkdir(parents=True)
    deep = "import os; [(os.mkdir('a'), os.chdir('a')) for _ in range(3000)]"
    subprocess.run([sys.executable, "-c", deep], cwd=beside / "subagents", check=True)
    done = desk("stop", "api", "--purge-conversation", "--yes")
    assert done.code == 0, done
    assert f"removed {desk.transcript(talk)}" in done.err
    assert not desk.transcript(talk).exists()
    assert not beside.exists()
    assert desk.transcript(other).exists()
    row = desk.row()
    assert (row["status"], row["claude_session_id_own"], row["resumable"]) == ("stopped", None, False)
    assert desk("stop", "api", "--purge-conversation", "--yes").code == 0


def test_without_a_yes_nothing_is_stopped_or_removed(desk: Desk) -> None:
    talk = desk.create("api", "--prompt", "say hello")["claude_session_id_own"]
    done = desk("stop", "api", "--purge-conversation")
    assert done.code == 12
    assert "say --yes" in done.err
    assert desk.transcript(talk).exists()
    assert (alive(desk.agent()), desk.row()["status"]) == (True, "running")


@pytest.mark.parametrize(("typed", "code"), [("api", 0), ("yes", 12)])
def test_at_a_terminal_its_name_is_asked_for(desk: Desk, office: Office, typed: str, code: int) -> None:
    talk = desk.create("api", "--prompt", "say hello")["claude_session_id_own"]
    leader, follower = pty.openpty()
    call = [sys.executable, "-m", "midwatch", "session", "stop", "api", "--purge-conversation"]
    with subprocess.Popen(call, env=office.box.env, cwd=office.cwd, stdin=follower, stdout=subprocess.PIPE) as asking:
        assert asking.stdout is not None
        assert b"Type its name" in os.read(asking.stdout.fileno(), 4096)
        os.write(leader, typed.encode() + b"\n")
        assert asking.wait(PATIENCE) == code
    os.close(leader)
    os.close(follower)
    assert desk.transcript(talk).exists() == bool(code)


def test_a_conversation_that_another_has_open_is_not_removed(desk: Desk) -> None:
    row = desk.opened()
    desk.write(row, desk.past("old", row["claude_session_id_own"]))
    done = desk("stop", "old", "--purge-conversation", "--yes")
    assert done.code == 12
    assert "is open in another process" in done.err
    assert desk.transcript(row["claude_session_id_own"]).exists()
    assert yaml.safe_load(desk.path.read_text())["sessions"][1]["claude_session_id_own"]


def test_an_id_by_which_no_file_can_be_told_removes_none(desk: Desk) -> None:
    desk.write(desk.past("old", "../../precious"))
    done = desk("stop", "old", "--purge-conversation", "--yes")
    assert done.code == 12
    assert "nothing is removed" in done.err
    assert desk.transcript("../../precious").exists()
