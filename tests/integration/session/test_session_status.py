"""`midwatch session list` and `status`: the rows, and where they differ from what there is."""

from __future__ import annotations

import signal

from tests.conftest import kill, until
from tests.integration.session.desk import Desk
from tests.integration.spawn.office import Office


def test_the_list_is_shown_as_it_stands(desk: Desk) -> None:
    old = desk.past("old")
    desk.write(old, {"name": "bare", "status": "archived"})
    done = desk("list")
    assert done.code == 0
    title, *rows = [line.split() for line in done.out.splitlines()]
    assert title == ["NAME", "STATUS", "AGENT", "PANE", "ID"]
    assert rows == [
        ["old", "stopped", "claude", "-", old["claude_session_id_own"]], ["bare", "archived", "-", "-", "-"],
    ]  # fmt: skip


def test_status_tells_what_differs(desk: Desk, office: Office) -> None:
    desk.create("well", "--prompt", "say hello")
    row = desk.opened("gone")
    desk.write(*desk.rows(), row)
    kill(desk.agent(2), signal.SIGKILL)
    until(lambda: office.sessions() == ["well"])
    done = desk("status")
    assert done.code == 0
    title, well, gone, *said = [line.split() for line in done.out.splitlines()]
    assert title[-1] == "DRIFT"
    assert (well[-1], gone[-1]) == ("-", "A")
    assert said[0][:2] == ["A:", "gone:"]
    assert desk.row("gone")["status"] == "running"


def test_one_row_is_told_as_json(desk: Desk) -> None:
    old = desk.past("old")
    desk.write(old, desk.past("other"))
    desk.transcript(old["claude_session_id_own"]).unlink()
    found = desk.lines("status", "old")
    assert list(found) == ["old"]
    assert [drift["class"] for drift in found["old"]["drift"]] == ["D"]
    assert desk("status", "nobody").code == 7


def test_a_server_that_cannot_be_asked_is_told(desk: Desk, office: Office) -> None:
    desk.write(desk.opened())
    server = office.tmux.pid
    kill(server, signal.SIGSTOP)
    try:
        done = desk("status")
    finally:
        kill(server, signal.SIGCONT)
    assert done.code == 12
    assert "did not answer" in done.err
    assert done.out.splitlines()[1].split()[-1] == "-"


def test_where_there_is_no_list_it_is_told_how_to_get_one(desk: Desk) -> None:
    done = desk("list")
    assert done.code == 12
    assert "`midwatch session create` makes one" in done.err
