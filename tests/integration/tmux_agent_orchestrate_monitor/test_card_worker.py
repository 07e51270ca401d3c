"""tmux-agent-orchestrate-monitor's worker, without a model: drifts become comments on a real card; `stop` ends it."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import until
from tests.integration.kanban.conftest import Board
from tests.integration.reconcile.staying import Stays
from tests.integration.reconcile.workspace import BEFORE, Workspace

NAME = "lab-landing-page-creator-claude"
Start = Callable[..., Stays]


def test_drifts_are_commented_once_a_heartbeat_is_there_and_stop_blocks_the_card(
    workspace: Workspace, board: Board, stays: Start
) -> None:
    pane = f"{{pid: 4194304, cmd: claude, {BEFORE}}}"
    workspace.write(f"sessions:\n  - {{name: {NAME}, status: running, pane: {pane}}}\n")
    watch = stays("--kanban-new", "--interval", "0.5", MIDWATCH_HERMES=board.program)
    task = watch.complains("the card is").split()[-1]
    card = board.card(task)
    assert watch.drift()["class"] == "A"
    said = f"{NAME}: tmux gone (was pane 4194304, cmd claude). Marked terminated."
    until(lambda: ("midwatch", said) in board.comments(card))
    until(lambda: board.notes(card) != [])
    assert board.notes(card)[0].startswith("alive, ")
    board("comment", task, "--author", "someone", "--", "it should not stop here")
    board("comment", task, "--author", "someone", "--", "Stop monitoring")
    assert watch.ended() == 0
    watch.complains("stop-requested by")
    assert board.status(card) == "blocked"
    assert [text for who, text in board.comments(card) if who == "midwatch" and NAME in text] == [said]


def test_every_class_of_drift_is_told_on_the_card_that_the_environment_names(
    workspace: Workspace, board: Board, stays: Start
) -> None:
    card = board.new()
    board("claim", card.task)
    where = workspace.directory("c")
    pid = workspace.session("c-creator-claude", cwd=where)
    talk, stale = workspace.conversation(where), "87dc548e-0000-4000-8000-000000000000"
    workspace.session("b-creator-agy", "agy", workspace.directory("b"))
    workspace.write(
        f"sessions:\n  - {{name: a-creator-claude, status: running, pane: {{{BEFORE}}}}}\n"
        f"  - {{name: c-creator-claude, status: running, pane: {{pid: {pid}, cmd: claude, cwd: {where}}}}}\n"
        f"  - {{name: d-creator-claude, status: stopped, claude_session_id_own: {stale}}}\n"
    )
    stays("--watch", "--interval", "0.5", MIDWATCH_HERMES=board.program, HERMES_KANBAN_TASK=card.task)
    wanted = (
        "a-creator-claude: tmux gone. Marked terminated.",
        "b-creator-agy: tmux found but not in the list. Auto-registered.",
        f"c-creator-claude: session id materialized {talk}. Noted.",
        f"d-creator-claude: its conversation {stale} is not on the disk any more",
    )
    until(lambda: all(any(text in body for _, body in board.comments(card)) for text in wanted))
