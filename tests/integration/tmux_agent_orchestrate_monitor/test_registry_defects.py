"""Defects of tmux-agent-orchestrate-monitor with the real tmux and the real Hermes, and what is done instead."""

from __future__ import annotations

import json
import time

from midwatch.integrations import hermes_kanban
from midwatch.registry.kanban_card import CardUpdater
from midwatch.registry.model import Drift
from tests.integration.kanban.conftest import Board
from tests.integration.reconcile.workspace import BEFORE, Workspace

NAME = "lab-creator-claude"


def row(name: str = NAME, more: str = "") -> str:
    return f"  - {{name: {name}, status: running{more}}}\n"


# The board ---------------------------------------------------------------------------------------------------------


def test_kanban_create_takes_no_title_option(board: Board) -> None:
    """The original says `create --title T`; the title is a word of its own."""
    assert board("create", "--title", "monitor") == ""
    card = hermes_kanban.find_or_create_card("monitor", "a body", program=board.program)
    assert json.loads(board("show", card.task, "--json"))["task"]["title"] == "monitor"


def test_a_heartbeat_has_a_note_and_no_progress_and_a_stop_is_blocked_as_needing_input(board: Board) -> None:
    """`kanban_heartbeat(progress=…)` has no such parameter; a block without a kind is refused of a goal."""
    card = hermes_kanban.find_or_create_card("monitor", "a body", program=board.program)
    card.heartbeat("alive, 0 drifts")
    assert board.notes(card) == ["alive, 0 drifts"]
    card.block("stop-requested by user")
    task = board.task(card)
    assert (task["status"], task["block_kind"]) == ("blocked", "needs_input")


def test_only_a_comment_of_somebody_else_since_the_start_that_says_so_stops_it(board: Board) -> None:
    """The original stops for any comment with "stop" in it: its own of a `stopped` row, and that of `block` itself."""
    card = hermes_kanban.find_or_create_card("monitor", "a body", program=board.program)
    board("comment", card.task, "--author", "ann", "--", "stop")
    began = time.time() + 2
    card.comment(f"{NAME}: stopped in the list, but its session goes on")
    board("comment", card.task, "--author", "ann", "--", "please do not stop")
    assert card.stop_asked(began) == ""


def test_many_drifts_at_once_are_one_comment(board: Board) -> None:
    """The original fears a rate limit; there is none, but a call takes a second and a reader has only two eyes."""
    card = hermes_kanban.find_or_create_card("monitor", "a body", program=board.program)
    keeper = CardUpdater(card, now=time.monotonic())
    keeper.add_drifts([Drift("A", f"s{number}", f"s{number}: tmux gone.") for number in range(50)], time.monotonic())
    keeper.close(time.monotonic())
    (comment,) = board.comments(card)
    assert comment[1].count("tmux gone.") == 50


# tmux --------------------------------------------------------------------------------------------------------------


def test_list_panes_without_a_shows_only_the_current_window(workspace: Workspace) -> None:
    workspace.tmux.start("cat", NAME, cwd=str(workspace.root))
    command = f"exec {workspace.agents / 'claude'} 1000"
    workspace.tmux("new-window", "-t", f"={NAME}:", "-c", str(workspace.root), command)
    workspace.tmux("new-window", "-t", f"={NAME}:", "cat")
    workspace.write("sessions: []\n")
    (drift,) = workspace.drifts()
    assert drift["after"]["pane"]["cmd"] == "claude"


def test_a_tmux_query_that_fails_is_not_a_session_that_is_missing(workspace: Workspace) -> None:
    """Nine live agents were once reaped by a tool of this kind because a query failed."""
    for number in range(9):
        workspace.session(f"s{number}-creator-claude")
    workspace.write("sessions:\n" + "".join(row(f"s{number}-creator-claude") for number in range(9)))
    failing = workspace.home / "failing"
    failing.mkdir()
    (failing / "tmux").write_text("#!/bin/sh\necho 'server busy' >&2\nexit 1\n")
    (failing / "tmux").chmod(0o755)
    done = workspace("--once", "--emit-diff", PATH=f"{failing}:{workspace.box.env['PATH']}")
    assert (done.code, done.json["drifts"]) == (12, [])
    assert {each["status"] for each in workspace.rows().values()} == {"running"}
    assert workspace.drifts() == []


def test_a_name_that_is_used_again_after_a_restart_of_tmux_is_another_session(workspace: Workspace) -> None:
    workspace.session(NAME)
    workspace.write("sessions: []\n")
    assert [drift["class"] for drift in workspace.drifts()] == ["B"]
    first = workspace.rows()[NAME]["pane"]
    workspace.tmux.stop()
    workspace.session(NAME)
    workspace.age()
    assert [drift["class"] for drift in workspace.drifts()] == ["moved"]
    assert workspace.rows()[NAME]["pane"]["start"] != first["start"]


def test_sessions_that_are_not_ours_are_never_touched_on_a_shared_socket(workspace: Workspace) -> None:
    for name in ("vim", "my-creator-notes", "creator-claude-x"):
        workspace.tmux.start("cat", name, cwd=str(workspace.root))
    workspace.write("sessions: []\n")
    assert workspace.drifts() == []
    assert workspace.tmux("list-sessions", "-F", "#{session_name}").split() == [
        "creator-claude-x", "my-creator-notes", "vim",
    ]  # fmt: skip


def test_the_two_lists_of_drifts_disagree_and_all_classes_are_found(workspace: Workspace) -> None:
    """The first list of the original lacks C, the second lacks what is left alone."""
    where = workspace.directory("c")
    pid = workspace.session("c-creator-claude", cwd=where)
    stale = "87dc548e-0000-4000-8000-000000000000"
    talk = workspace.conversation(where)
    workspace.session("b-creator-claude", cwd=workspace.directory("b"))
    workspace.write(
        "sessions:\n" + row("a-creator-claude", f", pane: {{{BEFORE}}}")
        + row("c-creator-claude", f", pane: {{pid: {pid}, cmd: claude, cwd: {where}}}, claude_session_id_own: null")
        + f"  - {{name: d-creator-claude, status: stopped, claude_session_id_own: {stale}}}\n"
    )  # fmt: skip
    found = {drift["class"]: drift for drift in workspace.drifts()}
    assert sorted(found) == ["A", "B", "C", "D"]
    assert found["C"]["after"] == {"claude_session_id_own": talk}
    assert workspace.rows()["d-creator-claude"]["status"] == "stopped"
