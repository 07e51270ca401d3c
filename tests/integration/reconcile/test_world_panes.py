"""What is found in tmux: every pane as it is now, and why where that cannot be said."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from midwatch.registry.model import RowPane, TmuxPane
from midwatch.system import procfs
from tests.conftest import kill, letter, until, until_gone
from tests.integration.panes import agent as golden
from tests.integration.reconcile.lookout import NAME, Lookout


def test_a_pane_is_told_with_its_agent_its_process_and_where_it_is(lookout: Lookout) -> None:
    where = lookout.workspace.directory("landing-page")
    pid = lookout.session(cwd=where)
    found = lookout.found()
    assert (found.server, found.session, found.pid) == (lookout.workspace.tmux.server, NAME, pid)
    assert (found.agent, found.command, found.cwd, found.dead) == ("claude", "claude", str(where), False)
    assert found.start == procfs.start_time(pid)


def test_a_pane_without_an_agent_is_told_too(lookout: Lookout) -> None:
    lookout.workspace.tmux.start("cat", "notes")
    until(lambda: lookout.found("notes").command == "cat")
    found = lookout.found("notes")
    assert (found.agent, found.turn, found.conversation) == ("", "", "")


def test_an_agent_below_a_shell_is_the_panes(lookout: Lookout) -> None:
    lookout.workspace.tmux.start(f"{lookout.workspace.agents / 'codex'} 1000; cat", NAME)
    until(lambda: lookout.found().agent == "codex")
    assert procfs.command_name(lookout.found().pid) != "codex"


def test_the_end_of_an_agent_is_noticed_although_the_list_says_nothing_of_it(lookout: Lookout) -> None:
    """The shell that started it was in front all the time, and prints nothing."""
    command = f"exec 2>/dev/null; {lookout.workspace.agents / 'claude'} 1000; read -r line"
    lookout.workspace.tmux.start(command, NAME)
    until(lambda: lookout.found().agent == "claude")
    (before,) = still(lookout)
    (child,) = procfs.children(before.pid)
    kill(child, signal.SIGKILL)
    until(lambda: lookout.found().agent == "")
    assert lookout.found() == before._replace(agent="", turn=lookout.found().turn)


@pytest.mark.parametrize(
    ("case", "turn"), [("narrow-idle", "idle"), ("fullscreen-permission", "waiting for permission")]
)
def test_what_the_agent_is_at_is_told_in_words(lookout: Lookout, case: str, turn: str, tmp_path: Path) -> None:
    place = tmp_path / "shown"
    place.mkdir()
    golden.show(lookout.workspace.tmux, place, "claude", case)
    until(lambda: [pane.turn for pane in lookout.observe().panes] == [turn])


def test_a_dead_pane_is_told_as_dead(lookout: Lookout) -> None:
    lookout.workspace.tmux.start("cat", "other")
    lookout.workspace.tmux("set-option", "-g", "remain-on-exit", "on")
    pid = lookout.session()
    kill(pid, signal.SIGKILL)
    until(lambda: lookout.found().dead)
    assert (lookout.found().agent, lookout.found().start) == ("", 0)


def test_a_window_of_two_sessions_is_told_by_the_name_that_a_row_has(lookout: Lookout) -> None:
    lookout.session("first")
    lookout.workspace.tmux("new-session", "-d", "-t", "=first", "-s", "second")
    assert [pane.session for pane in lookout.observe().panes] == ["first"]
    assert [pane.session for pane in lookout.observe(lookout.row("second")).panes] == ["second"]


# Looking again ----------------------------------------------------------------------------------------------------


def still(lookout: Lookout) -> tuple[TmuxPane, ...]:
    """Look until no pane is looked at closely any more; what is then kept."""
    kept: list[tuple[TmuxPane, ...]] = [()]

    def same() -> bool:
        kept.insert(0, lookout.observe().panes)
        return len(kept[0]) == len(kept[1]) and all(a is b for a, b in zip(*kept[:2], strict=True))

    until(same)
    return kept[0]


def test_a_pane_in_which_nothing_happens_is_not_looked_at_closely_again(lookout: Lookout) -> None:
    lookout.session()
    before = still(lookout)
    (server,) = lookout.world._servers.values()
    forks = server.panes.tmux.forks
    assert lookout.observe().panes[0] is before[0]
    assert server.panes.tmux.forks == forks + 1


def test_after_a_while_everything_is_looked_at_closely(lookout: Lookout) -> None:
    lookout.session()
    before = still(lookout)
    (server,) = lookout.world._servers.values()
    server.kept = {name: kept._replace(due=server._now) for name, kept in server.kept.items()}
    again = lookout.observe().panes
    assert again == before
    assert again[0] is not before[0]


def test_what_the_agent_writes_down_is_seen_although_nothing_was_printed(lookout: Lookout) -> None:
    pid = lookout.session()
    still(lookout)
    talk = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"
    lookout.state(pid, talk)
    assert lookout.found().conversation == talk


def test_what_an_agent_has_said_of_itself_holds_while_it_says_nothing(lookout: Lookout) -> None:
    """Some tell it only while they work."""
    pid = lookout.session()
    talk = "b03dceae-438c-4405-b9d9-df6e5f8ef6cf"
    lookout.state(pid, talk)
    assert lookout.found().conversation == talk
    (lookout.home / f".claude/sessions/{pid}.json").unlink()
    assert lookout.found().conversation == talk


@pytest.mark.parametrize("name", ["lab.v2", "a:b.c"])
def test_a_name_that_tmux_writes_otherwise_is_told_as_the_row_has_it(lookout: Lookout, name: str) -> None:
    pane = lookout.workspace.tmux.start("cat", name)
    row = lookout.row(name)
    assert [(found.id, found.session) for found in lookout.observe(row).panes] == [(pane, name)]
    assert lookout.observe().panes[0].session not in (name, "")


def test_rows_that_make_no_sense_are_no_harm(lookout: Lookout) -> None:
    lookout.session()
    bad = "a\0b"
    panes = (RowPane(-1), RowPane(1 << 40, bad, bad, bad), RowPane(cwd="\ud800"))
    rows = [
        lookout.row(name, at, pane=pane, conversation=talk, agent=agent, server=server)
        for at, (name, pane, talk, agent, server) in enumerate(
            (name, pane, talk, agent, server)
            for name in (NAME, bad, "")
            for pane in panes
            for talk in ("", bad, "\ud800")
            for agent in ("claude", bad)
            for server in (None, ("-S", bad), ("-L", ""))
        )
    ]
    sight = lookout.observe(*rows)
    assert [pane.session for pane in sight.panes] == [NAME]
    assert sight.appeared == {}


# Servers ----------------------------------------------------------------------------------------------------------


def test_rows_may_name_other_servers(lookout: Lookout) -> None:
    other = lookout.workspace.server("other")
    lookout.session("here")
    lookout.workspace.session("there", tmux=other)
    by_name, by_path = lookout.row("there", server=("-L", "other")), lookout.row("there", server=other.server)
    assert {pane.session for pane in lookout.observe().panes} == {"here"}
    for row in (by_name, by_path):
        until(lambda row=row: {pane.session for pane in lookout.observe(row).panes} == {"here", "there"})  # type: ignore[misc]
        assert lookout.found("there", row).server == row.server
    assert len(lookout.observe(by_name, by_path._replace(at=1)).panes) == 2, "one server, named in two ways"
    assert lookout.world.place(by_path.server) == lookout.world.place(by_name.server)


def test_no_server_is_an_answer_and_none_is_started(lookout: Lookout) -> None:
    sight = lookout.observe(lookout.row(), lookout.row("there", 1, server=("-L", "other")))
    assert (sight.panes, sight.troubles) == ((), {})
    assert not lookout.workspace.tmux.socket.exists()


def test_a_server_that_has_ended_and_left_its_socket_is_an_answer(lookout: Lookout) -> None:
    lookout.session()
    lookout.workspace.tmux.stop()
    assert lookout.workspace.tmux.socket.is_socket()
    sight = lookout.observe(lookout.row())
    assert (sight.panes, sight.troubles) == ((), {})


def test_a_server_without_sessions_is_an_answer(lookout: Lookout) -> None:
    lookout.workspace.tmux.start("cat", "last")
    lookout.workspace.tmux("set-option", "-s", "exit-empty", "off")
    lookout.workspace.tmux("kill-session", "-t", "=last")
    sight = lookout.observe(lookout.row())
    assert (sight.panes, sight.troubles) == ((), {})


def test_a_socket_that_refuses_is_a_trouble_of_those_who_name_it(lookout: Lookout) -> None:
    lookout.session("there")
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(str(lookout.workspace.sockets / f"tmux-{os.getuid()}" / "other"))
        row = lookout.row(server=("-L", "other"))
        sight = lookout.observe(row, lookout.row("there", 1))
        assert [*sight.troubles] == [row.server]
        assert str(lookout.workspace.sockets) in sight.troubles[row.server]
        assert [pane.session for pane in sight.panes] == ["there"]


def test_a_server_that_hangs_is_a_trouble_and_its_panes_are_unknown(lookout: Lookout) -> None:
    lookout.session()
    pid = lookout.workspace.tmux.pid
    kill(pid, signal.SIGSTOP)
    try:
        until(lambda: letter(pid) == "T")
        sight = lookout.observe(lookout.row())
    finally:
        kill(pid, signal.SIGCONT)
    assert sight.panes == ()
    assert [*sight.troubles] == [None]
    until(lambda: lookout.observe(lookout.row()).troubles == {})
    assert lookout.found().agent == "claude"


@pytest.mark.parametrize("script", ["echo rubbish", "exit 1", "echo lost >&2; exit 1"])
def test_a_client_that_talks_rubbish_is_a_trouble(
    lookout: Lookout, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lookout.session()
    stub = lookout.home / "odd" / "tmux"
    stub.parent.mkdir()
    stub.write_text(f"#!/bin/sh\n{script}\n")
    stub.chmod(0o755)
    with monkeypatch.context() as odd:
        odd.setenv("PATH", f"{stub.parent}:{os.environ['PATH']}")
        sight = lookout.observe(lookout.row())
    assert sight.panes == ()
    assert [*sight.troubles] == [None]
    assert lookout.found().agent == "claude"


def test_a_pane_that_is_gone_is_not_told(lookout: Lookout) -> None:
    lookout.workspace.tmux.start("cat", "other")
    pid = lookout.session()
    lookout.workspace.tmux("kill-session", "-t", f"={NAME}")
    until_gone(pid)
    assert [pane.session for pane in lookout.observe().panes] == ["other"]
