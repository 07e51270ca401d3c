"""Seed 3's worker, without a model: drifts become comments on a real card, and `stop` ends it."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import until
from tests.integration.kanban.conftest import Board
from tests.integration.reconcile.staying import Stays
from tests.integration.reconcile.workspace import Workspace

NAME = "lab-landing-page-creator-claude"
Start = Callable[..., Stays]


def test_drifts_are_commented_once_a_heartbeat_is_there_and_stop_blocks_the_card(
    workspace: Workspace, board: Board, stays: Start
) -> None:
    workspace.write(f"sessions:\n  - {{name: {NAME}, status: running, pane: {{pid: 4194304, cmd: claude}}}}\n")
    watch = stays("--kanban-new", "--interval", "0.5", DOGWATCH_HERMES=board.program)
    task = watch.complains("the card is").split()[-1]
    card = board.card(task)
    assert watch.drift()["class"] == "A"
    said = f"{NAME}: tmux gone (was pane 4194304, cmd claude). Marked terminated."
    until(lambda: ("dogwatch", said) in board.comments(card))
    until(lambda: board.notes(card) != [])
    assert board.notes(card)[0].startswith("alive, ")
    board("comment", task, "--author", "someone", "--", "it should not stop here")
    board("comment", task, "--author", "someone", "--", "Stop monitoring")
    assert watch.ended() == 0
    watch.complains("stop-requested by")
    assert board.status(card) == "blocked"
    assert [text for who, text in board.comments(card) if who == "dogwatch" and NAME in text] == [said]


def test_the_card_that_the_environment_names_is_kept(workspace: Workspace, board: Board, stays: Start) -> None:
    card = board.new()
    board("claim", card.task)
    workspace.write("sessions: []\n")
    watch = stays("--watch", "--interval", "0.5", DOGWATCH_HERMES=board.program, HERMES_KANBAN_TASK=card.task)
    workspace.session(NAME)
    assert watch.drift()["class"] == "B"
    said = f"{NAME}: tmux found but not in the list. Auto-registered."
    until(lambda: ("dogwatch", said) in board.comments(card))
