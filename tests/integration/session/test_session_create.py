"""`midwatch session create`: an agent, and its row in the list."""

from __future__ import annotations

import pytest

from midwatch.system import procfs
from tests.conftest import alive
from tests.integration.session.desk import Desk
from tests.integration.spawn.office import Office


def test_a_session_gets_a_row_that_tells_all_of_it(desk: Desk, office: Office) -> None:
    row = desk.create()
    shim, _ = office.box.pids("api")
    seen = office.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_id} #{pane_pid}").split()
    assert seen == ["api", row["pane"]["id"], str(shim)]
    assert row["pane"] == {
        "pid": shim, "cmd": "claude", "cwd": str(office.cwd), "id": seen[1], "start": procfs.start_time(shim),
        "boot": procfs.boot_id(),
    }  # fmt: skip
    assert (row["status"], row["agent"], row["resumable"]) == ("running", "claude", True)
    assert row["tmux_socket"] == desk.socket
    assert desk.argv(1) == ["--session-id", row["claude_session_id_own"]]
    assert row["created_at"]
    assert "# Agent sessions" in desk.path.read_text()


def test_where_there_is_hermes_the_list_is_his(desk: Desk, office: Office) -> None:
    (office.cwd / ".hermes").mkdir()
    desk.path = office.cwd / ".hermes" / "agent-sessions.yaml"
    assert desk.create()["status"] == "running"
    assert not (office.cwd / "midwatch-sessions.yaml").exists()


def test_a_list_that_is_named_is_used_from_everywhere(desk: Desk, office: Office) -> None:
    desk.path = office.home / "list.yaml"
    desk.create("api", "--registry", str(desk.path))
    assert list(desk.lines("list", "--registry", str(desk.path))) == ["api"]
    assert desk("list").code == 12


def test_its_prompt_arrives_and_what_it_is_at_is_noted(desk: Desk, office: Office) -> None:
    row = desk.create("api", "--prompt", "work", "--model", "opus")
    assert b"work" in office.typed()
    assert row["last_visible_status"] == "working"
    assert desk.argv(1)[2:] == ["--model", "opus"]


def test_what_follows_two_dashes_is_the_agents(desk: Desk) -> None:
    desk.create("api", "--", "--verbose")
    assert desk.argv(1)[-1] == "--verbose"


def test_a_name_that_runs_is_refused(desk: Desk, office: Office) -> None:
    desk.create()
    done = desk("create", "api", "--agent", "claude", "--socket", desk.socket)
    assert done.code == 12
    assert "stands in" in done.err
    assert len(office.starts()) == 1
    assert len(desk.rows()) == 1


def test_a_session_of_tmux_that_is_another_s_is_left_alone(desk: Desk, office: Office) -> None:
    office.tmux.start("cat", "api")
    done = desk("create", "api", "--agent", "claude", "--socket", desk.socket)
    assert done.code == 125
    assert not desk.path.exists()


def test_a_row_that_ended_is_brought_up_to_date(desk: Desk) -> None:
    old = desk.past("api", stopped_at="2026-01-01T00:00:00Z", termination_mode="forced", note="mine")
    desk.write(desk.past("first"), old)
    row = desk.create()
    assert [each["name"] for each in desk.rows()] == ["first", "api"]
    assert (row["status"], row["note"]) == ("running", "mine")
    assert row["claude_session_id_own"] not in (None, old["claude_session_id_own"])
    assert (row["stopped_at"], row["termination_mode"]) == (None, None)
    assert desk.path.read_text().startswith("# kept by hand\n")


def test_nothing_is_started_while_the_list_is_broken(desk: Desk, office: Office) -> None:
    desk.path.write_text("sessions:\n  - name: x\n    status: running\n  - name: [\n")
    before = desk.path.read_text()
    done = desk("create", "api", "--agent", "claude", "--socket", desk.socket)
    assert done.code == 12
    assert "midwatch-sessions.yaml:" in done.err
    assert (desk.path.read_text(), office.starts(), office.sessions()) == (before, [], [])


def test_an_agent_that_cannot_be_started_gets_no_row(desk: Desk, office: Office) -> None:
    (office.home / "bin" / "claude").unlink()
    done = desk("create", "api", "--agent", "claude", "--socket", desk.socket, PATH="/usr/bin:/bin")
    assert done.code == 127
    assert not desk.path.exists()
    assert office.sessions() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "a.b", "--agent", "claude"), "tmux would call it 'a_b'"),
        (("create", "api"), "--agent is one of"),
        (("create", "api", "--agent", "claude", "--graceful"), "session create has no option --graceful"),
        (("resume", "api", "--", "--verbose"), "session resume takes no arguments for an agent"),
        (("list", "api"), "session list takes no names"),
        (("stop",), "session stop needs the NAME of one session"),
        (("begin", "api"), "session takes one of create, resume, stop, status, list, delegate, restore"),
        ((), "session takes one of"),
        (("stop", "api", "--yes"), "--yes says yes to --purge-conversation"),
        (("delegate", "api"), "session delegate needs --prompt or --prompt-file"),
    ],
)
def test_what_cannot_be_meant_is_told(desk: Desk, words: tuple[str, ...], said: str) -> None:
    done = desk(*words)
    assert done.code == 2
    assert said in done.err


def test_as_json_it_is_one_line(desk: Desk, office: Office) -> None:
    done = desk("create", "api", "--agent", "claude", "--socket", desk.socket, "--json")
    row = desk.row()
    assert done.json["registry"] == str(desk.path)
    assert (done.json["status"], done.json["conversation"]) == ("running", row["claude_session_id_own"])
    assert (done.json["pane"], done.json["pid"]) == (row["pane"]["id"], row["pane"]["pid"])
    assert alive(office.box.pids("api")[0])


def test_spawn_writes_a_row_only_if_it_is_asked_to(desk: Desk, office: Office) -> None:
    office.spawned("plain")
    assert not desk.path.exists()
    done = office.box("spawn", "api", "--agent", "claude", "--socket", desk.socket, "--register", "--prompt", "work")
    assert (done.code, done.out) == (0, "api\n"), done
    assert desk.row()["status"] == "running"
    assert list(desk.lines("list")) == ["api"]


def test_a_session_that_is_registered_can_be_watched_as_well(desk: Desk, office: Office) -> None:
    kept = ("--register", "--watch")
    assert office.box("spawn", "api", "--agent", "claude", "--socket", desk.socket, "--prompt", "work", *kept).code == 0
    assert desk.row()["status"] == "running"
    assert office.box("why", "api.monitor", "--json").json["state"] == "working"
    office.box("stop", "api")
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"


def test_an_agent_without_a_terminal_has_no_row(office: Office) -> None:
    done = office.box("spawn", "api", "--agent", "claude", "--register", "--headless", "--prompt", "work")
    assert done.code == 2
    assert "needs no row" in done.err
