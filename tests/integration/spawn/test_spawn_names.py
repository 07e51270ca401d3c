"""Names of sessions: one runs under each, those of others are theirs, and no name stands for another."""

from __future__ import annotations

import os
import signal

from tests.conftest import kill, until, until_gone
from tests.integration.spawn.office import Office

REFUSED = 125


def test_a_name_is_refused_while_it_runs(office: Office) -> None:
    before = office.spawned()
    done = office.spawn()
    assert done.code == REFUSED
    assert "api is working already" in done.err
    assert office.box.record("api") == before
    assert (len(office.starts()), office.sessions()) == (1, ["api"])


def test_a_session_of_that_name_that_is_not_ours_is_left_alone(office: Office) -> None:
    pane = office.tmux.start("cat", "api")
    before = office.tmux("list-panes", "-a")
    done = office.spawn()
    assert done.code == REFUSED
    assert "duplicate session: api" in done.err
    assert office.tmux("list-panes", "-a") == before
    assert office.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}") == "cat\n"
    assert list(office.temporary.iterdir()) == []


def test_what_cannot_be_started_leaves_the_last_run_as_it_was(office: Office) -> None:
    office.tmux.start("cat", "others")
    office.begin("exit 3")
    before = office.spawned()
    office.box("wait", "api")
    office.tmux("kill-session", "-t", "=api")
    office.tmux.start("cat", "api")
    assert office.spawn().code == REFUSED
    assert office.box.record("api")["run"] == before["run"]
    assert office.listed() == {"api": "failed"}


def test_a_dead_pane_of_ours_is_used_again(office: Office) -> None:
    office.begin("exit 3")
    before = office.spawned()
    office.box("wait", "api")
    until(lambda: office.pane("#{pane_dead}") == "1")
    after = office.spawned()
    assert after["pane"] == before["pane"]
    assert after["run"] != before["run"]
    assert after["conversation"] != before["conversation"]
    assert office.sessions() == ["api"]
    assert office.state()["state"] in ("idle", "starting")


def test_a_pane_that_has_its_number_after_a_restart_of_tmux_is_not_ours(office: Office) -> None:
    office.begin("exit 3")
    before = office.spawned()
    office.box("wait", "api")
    office.tmux.stop()
    other = office.tmux.start("cat", "api")
    office.tmux("set-option", "-g", "remain-on-exit", "on")
    office.tmux("send-keys", "-t", other, "C-d")
    until(lambda: office.tmux("display-message", "-p", "-t", other, "#{pane_dead}") == "1\n")
    assert other == before["pane"]["id"]
    done = office.spawn()
    assert done.code == REFUSED
    assert len(office.starts()) == 1


def test_stopping_one_leaves_the_other_whose_name_begins_the_same(office: Office) -> None:
    """A defect of the original systems: `kill-session -t claude-a` ended `claude-ab`, a longer name."""
    office.spawned("api-2", prompt="say hello")
    office.spawned("api")
    assert office.box("stop", "api").code == 0
    assert office.listed() == {"api": "stopped", "api-2": "idle"}
    office.tmux("kill-session", "-t", "=api")
    assert office.box("stop", "api").code == 0
    assert office.listed() == {"api": "stopped", "api-2": "idle"}
    assert office.sessions() == ["api-2"]


def test_cleaning_up_one_leaves_the_other_whose_name_begins_the_same(office: Office) -> None:
    """The same defect, when a monitor closes a session that is gone already."""
    office.spawned("api-2", prompt="say hello")
    office.spawned("api", prompt="bye 0")
    office.box("wait", "api")
    office.tmux("kill-session", "-t", "=api")
    assert office.monitor("api", "--cleanup").end()["state"] == "completed"
    assert office.sessions() == ["api-2"]
    assert office.listed()["api-2"] == "idle"


def test_a_name_with_dots_and_colons_is_one_that_tmux_can_find(office: Office) -> None:
    record = office.spawned("v1.2", prompt="say something")
    assert (record["name"], record["pane"]["session"]) == ("v1.2", "v1_2")
    assert office.sessions() == ["v1_2"]
    assert office.monitor("v1.2", "--cleanup").end()["state"] == "completed"
    assert office.sessions() == []


def test_two_at_once_start_one(office: Office) -> None:
    words = ["spawn", "api", "--agent", "claude", "--socket", str(office.tmux.socket)]
    office.tmux.start("cat", "other")
    both = [office.box.start(*words) for _ in range(2)]
    codes = sorted(each.wait(60) for each in both)
    for each in both:
        each.communicate()
    assert codes == [0, REFUSED]
    assert office.start(1)["pid"] == office.box.pids("api")[1]
    assert office.sessions() == ["api", "other"]


def test_without_a_socket_it_is_the_server_that_we_run_in(office: Office) -> None:
    office.tmux.start("cat", "other")
    done = office.box("spawn", "api", "--agent", "claude", TMUX=f"{office.tmux.socket},1,0")
    assert done.code == 0
    assert office.sessions() == ["api", "other"]


def test_a_server_that_was_killed_ends_the_session_and_leaves_its_name_free(office: Office) -> None:
    office.spawned(prompt="work")
    shim, work = office.box.pids("api")
    kill(office.tmux.pid, signal.SIGKILL)
    for pid in (shim, work):
        until_gone(pid)
    assert office.listed() == {"api": "stopped"}
    os.unlink(office.tmux.socket)
    office.spawned(prompt="ask")
    assert office.listed() == {"api": "waiting"}
