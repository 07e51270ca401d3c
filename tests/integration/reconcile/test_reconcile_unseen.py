"""When it cannot see, it does no harm: an error is not an answer, and one look is not two."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Done
from tests.integration.reconcile.workspace import BEFORE, Workspace

NAME = "lab-creator-claude"
GONE = f"""\
sessions:
  - name: {NAME}
    status: running
    pane: {{pid: 4194304, cmd: claude, {BEFORE}}}
"""


def refuses(workspace: Workspace, done: Done, *, says: str = "") -> None:
    """Nothing was ended, and the exit code says that nobody knows."""
    assert done.code == 12, done
    assert done.json["drifts"] == []
    assert says in done.err
    assert workspace.registry.read_text() == GONE


def test_no_server_is_an_answer(workspace: Workspace) -> None:
    workspace.write(GONE)
    (drift,) = workspace.drifts()
    assert drift["class"] == "A"


def test_a_server_that_has_ended_leaves_its_socket_and_is_an_answer_all_the_same(workspace: Workspace) -> None:
    workspace.write(GONE)
    workspace.tmux.start("cat", "last")
    workspace.tmux.stop()
    assert workspace.tmux.socket.is_socket()
    (drift,) = workspace.drifts()
    assert drift["class"] == "A"


def test_a_server_without_this_session_is_an_answer(workspace: Workspace) -> None:
    workspace.write(GONE)
    workspace.tmux.start("cat", "somebody-elses")
    (drift,) = workspace.drifts()
    assert drift["class"] == "A"


def test_a_socket_that_refuses_is_no_answer(workspace: Workspace) -> None:
    """Somebody has it, and does not let us in; tmux says the same of it as of one that nobody has any more."""
    workspace.write(GONE)
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(workspace.tmux.socket))
        refuses(workspace, workspace("--once", "--emit-diff"), says=str(workspace.tmux.socket))


@pytest.mark.parametrize(
    ("program", "says"),
    [("exec sleep 1000", "tmux"), ("echo rubbish", "tmux"), ("exit 1", "tmux"), ("echo lost >&2; exit 1", "lost")],
    ids=["hangs", "rubbish", "nothing", "an error"],
)
def test_a_tmux_that_hangs_or_talks_rubbish_is_no_answer(workspace: Workspace, program: str, says: str) -> None:
    workspace.write(GONE)
    workspace.tmux.start()
    stand_in = workspace.home / "odd"
    stand_in.mkdir()
    (stand_in / "tmux").write_text(f"#!/bin/sh\n{program}\n")
    (stand_in / "tmux").chmod(0o755)
    path = f"{stand_in}:{workspace.box.env['PATH']}"
    refuses(workspace, workspace("--once", "--emit-diff", PATH=path), says=says)


def test_without_tmux_nothing_is_known(workspace: Workspace) -> None:
    workspace.write(GONE)
    workspace.tmux.start()
    refuses(workspace, workspace("--once", "--emit-diff", PATH=str(workspace.agents)), says="install tmux")


def test_the_trouble_of_one_server_does_not_hide_what_another_says(workspace: Workspace) -> None:
    other = f"{{name: elsewhere-creator-claude, status: running, tmux_socket: other, pane: {{{BEFORE}}}}}"
    workspace.write(f"{GONE}  - {other}\n")
    with socket.socket(socket.AF_UNIX) as nobody:
        nobody.bind(str(workspace.tmux.socket))
        done = workspace("--once", "--emit-diff")
    assert done.code == 12
    assert [drift["session"] for drift in done.json["drifts"]] == ["elsewhere-creator-claude"]
    rows = workspace.rows()
    assert (rows[NAME]["status"], rows["elsewhere-creator-claude"]["status"]) == ("running", "terminated")


def test_a_session_on_another_server_is_not_terminated_while_its_process_lives(workspace: Workspace) -> None:
    pid = workspace.session(NAME, tmux=workspace.server("other"))
    workspace.write(f"sessions:\n  - name: {NAME}\n    status: running\n    pane: {{pid: {pid}, cmd: claude}}\n", age=0)
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["applied"]) == ("elsewhere", False)
    assert "tmux_socket" in drift["message"]
    assert workspace.rows()[NAME]["status"] == "running"


def test_a_row_may_name_its_server(workspace: Workspace) -> None:
    pid = workspace.session(NAME, tmux=workspace.server("other"))
    workspace.write(
        f"sessions:\n  - name: {NAME}\n    status: running\n    tmux_socket: other\n"
        f"    pane: {{pid: {pid}, cmd: claude}}\n"
    )
    assert workspace.drifts() == []
    workspace.servers[1].stop()
    workspace.missed(NAME)
    (drift,) = workspace.drifts()
    assert drift["class"] == "A"


def test_a_server_may_be_named_in_two_ways(workspace: Workspace) -> None:
    other = workspace.server("other")
    second = "second-creator-claude"
    workspace.session(NAME, tmux=other)
    workspace.session(second, tmux=other)
    workspace.write(
        f"sessions:\n  - {{name: {NAME}, status: running, tmux_socket: other}}\n"
        f"  - {{name: {second}, status: running, tmux_socket: {other.socket}}}\n"
    )
    assert workspace.drifts() == []
    other.stop()
    workspace.missed(NAME, second)
    assert [drift["class"] for drift in workspace.drifts()] == ["A", "A"]


def test_a_pid_that_another_process_has_by_now_proves_nothing(workspace: Workspace) -> None:
    with subprocess.Popen(["sleep", "1000"], cwd="/") as stranger, contextlib.ExitStack() as undo:
        undo.callback(stranger.kill)
        workspace.write(
            f"sessions:\n  - name: {NAME}\n    status: running\n"
            f"    pane: {{pid: {stranger.pid}, cmd: claude, cwd: {workspace.root}}}\n"
        )
        workspace.missed(NAME)
        (drift,) = workspace.drifts()
    assert drift["class"] == "A"


def test_after_a_reboot_no_pid_of_the_list_is_still_its_own(workspace: Workspace) -> None:
    """A process with the right name in the right directory, but younger than the list."""
    command = [str(workspace.agents / "claude"), "1000"]
    with subprocess.Popen(command, cwd=workspace.root) as stranger, contextlib.ExitStack() as undo:
        undo.callback(stranger.kill)
        row = f"sessions:\n  - name: {NAME}\n    status: running\n    pane: {{pid: {stranger.pid}, cmd: claude}}\n"
        workspace.write(row, age=0)
        assert [drift["class"] for drift in workspace.drifts("--dry-run")] == ["elsewhere"]
        workspace.write(row)
        workspace.missed(NAME)
        assert [drift["class"] for drift in workspace.drifts()] == ["A"]


# The list itself ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("sessions:\n  - name: x\n    status: running\n   bad: indent\n", 4),
        (f"sessions:\n  - name: {NAME}\n    status: sleeping\n", 3),
        (f"sessions:\n  - name: {NAME}\n    status: running\n    status: stopped\n", 4),
    ],
    ids=["no YAML", "no such status", "a key twice"],
)
def test_a_broken_list_is_reported_with_its_line_and_left_as_it_is(workspace: Workspace, text: str, line: int) -> None:
    workspace.write(text)
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    assert f"agent-sessions.yaml:{line}:" in done.err
    assert workspace.registry.read_text() == text
    assert not workspace.registry.with_name("agent-sessions.yaml.bak").exists()


def test_no_list_at_all_says_what_to_do(workspace: Workspace) -> None:
    done = workspace("--once", "--emit-diff")
    assert done.code == 12
    assert "midwatch session create" in done.err or "--registry" in done.err


def test_a_list_that_is_not_there_is_not_made(workspace: Workspace) -> None:
    done = workspace("--once", "--registry", str(workspace.home / "nowhere.yaml"))
    assert done.code == 12
    assert not Path(workspace.home / "nowhere.yaml").exists()
