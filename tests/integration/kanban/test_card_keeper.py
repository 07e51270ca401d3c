"""A loop's card on a real board: what it is told, when, and what happens when it cannot be."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from midwatch.integrations import hermes_kanban
from midwatch.integrations.hermes_kanban import KanbanCard
from midwatch.registry.kanban_card import FIRST_RETRY, HEARTBEAT, KEPT, LAST_RETRY, LOOK, CardUpdater
from midwatch.registry.model import Drift
from tests.conftest import alive, kill, until_gone
from tests.integration.kanban.conftest import Board


def drift(name: str) -> Drift:
    return Drift("A", name, f"{name}: tmux gone (was pane 7, cmd claude). Marked terminated.")


def attend(keeper: CardUpdater, now: float) -> str:
    """All that is due."""
    while keeper.due() <= now:
        if reason := keeper.tend(now):
            return reason
    return ""


def test_each_new_drift_is_a_comment_and_a_heartbeat_says_how_many(board: Board) -> None:
    card = board.new()
    keeper = CardUpdater(card, now=0.0)
    assert attend(keeper, 0.0) == ""
    assert keeper.due() == LOOK
    keeper.add_drifts([drift("api"), drift("web")], 1.0)
    keeper.add_drifts([], 2.0)
    assert keeper.due() == 1.0
    assert attend(keeper, 1.0) == ""
    assert attend(keeper, HEARTBEAT) == ""
    assert board.comments(card) == [
        ("midwatch", "api: tmux gone (was pane 7, cmd claude). Marked terminated."),
        ("midwatch", "web: tmux gone (was pane 7, cmd claude). Marked terminated."),
    ]
    first, second = board.notes(card)
    assert first == "alive, 0 drifts"
    assert second.startswith("alive, 2 drifts, last at 20")


def test_one_call_is_made_at_a_time(board: Board) -> None:
    card = board.new()
    card.status()
    keeper = CardUpdater(card, now=0.0)
    keeper.add_drifts([drift("api")], 0.0)
    done = [len(board.asked())]
    while keeper.due() <= 0.0:
        keeper.tend(0.0)
        done.append(len(board.asked()))
    # A look, a comment, and a heartbeat that has to claim the card first: it was refused, asked why, and came again.
    assert [after - before for before, after in pairwise(done)] == [1, 1, 4]
    keeper.tend(0.0)
    assert len(board.asked()) == done[-1]


def test_many_drifts_share_a_comment_of_a_bounded_length_and_no_key_gets_onto_the_board(board: Board) -> None:
    card = board.new()
    keeper = CardUpdater(card, now=0.0)
    long = [drift(f"s{number}")._replace(message=f"s{number}: {'x' * 5_000}") for number in range(30)]
    secret = drift("k")._replace(message="k: token=abcdefghijkl\x1b[31m\0")
    keeper.add_drifts([secret, *long], 0.0)
    keeper.close(0.0)
    bodies = [body for _, body in board.comments(card)]
    assert len(bodies) == 2
    assert all(len(body) < 21_000 for body in bodies)
    assert "abcdefghijkl" not in bodies[0]
    lines = [line for body in bodies for line in body.splitlines() if line.startswith("- ")]
    assert [line.split(":")[0] for line in lines] == ["- k", *(f"- s{number}" for number in range(30))]


def test_a_persons_stop_blocks_the_card_and_ends_the_loop(board: Board) -> None:
    card = board.new()
    keeper = CardUpdater(card, now=0.0)
    assert attend(keeper, 0.0) == ""
    board("comment", card.task, "--author", "ann", "stop monitoring")
    assert keeper.tend(LOOK - 1.0) == ""
    reason = attend(keeper, LOOK)
    assert reason.startswith("stop-requested by ann at 20")
    assert board.status(card) == "blocked"
    assert board.comments(card)[-1] == ("midwatch", f"BLOCKED: {reason}")


def test_a_stop_ends_the_loop_though_somebody_has_blocked_the_card_already(board: Board) -> None:
    card = board.new()
    keeper = CardUpdater(card, now=0.0)
    attend(keeper, 0.0)
    board("comment", card.task, "stop")
    board("block", card.task, "mine")
    assert attend(keeper, LOOK).startswith("stop-requested by default at 20")
    assert [body for _, body in board.comments(card)] == ["stop", "BLOCKED: mine"]


def test_a_card_that_is_gone_is_said_once_and_nothing_ends(board: Board, capsys: pytest.CaptureFixture[str]) -> None:
    keeper = CardUpdater(board.card("t_nowhere"), now=0.0)
    keeper.add_drifts([drift("api")], 0.0)
    assert attend(keeper, 0.0) == ""
    said = capsys.readouterr().err.splitlines()
    assert said
    assert len(said) == len(set(said))
    assert all("no such task: t_nowhere" in line or "unknown task t_nowhere" in line for line in said)
    assert attend(keeper, LOOK * 3) == ""
    assert capsys.readouterr().err == ""


def test_what_could_not_be_told_is_told_when_the_board_is_back(
    board: Board, capsys: pytest.CaptureFixture[str]
) -> None:
    card = board.new()
    keeper = CardUpdater(card, now=0.0)
    attend(keeper, 0.0)
    os.rename(board.program, f"{board.program}.away")
    keeper.add_drifts([drift("api")], 1.0)
    for now in (1.0, 100.0, 300.0):
        assert attend(keeper, now) == ""
    keeper.add_drifts([drift("web")], 301.0)
    assert capsys.readouterr().err.count("cannot be run: No such file or directory; install hermes-agent") == 1
    os.rename(f"{board.program}.away", board.program)
    attend(keeper, 301.0 + LAST_RETRY)
    assert [body.split(":")[0] for _, body in board.comments(card)] == ["api", "web"]


def test_a_comment_that_arrived_unconfirmed_is_not_made_again(board: Board) -> None:
    card = board.new()
    keeper = CardUpdater(card, now=0.0)
    attend(keeper, 0.0)
    mute = f"{board.program}.mute"
    os.rename(board.program, mute)
    with open(board.program, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\n{mute} "$@" >/dev/null\n')  # what it did, it did
    os.chmod(board.program, 0o755)
    keeper.add_drifts([drift("api")], 1.0)
    keeper.tend(1.0)
    os.rename(mute, board.program)
    keeper.add_drifts([drift("web")], 2.0)
    attend(keeper, HEARTBEAT)
    assert [body.split(":")[0] for _, body in board.comments(card)] == ["api", "web"]


# Programs that are broken


def test_a_call_that_hangs_is_ended_with_what_it_started(
    stand_in: Callable[[str], KanbanCard],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(hermes_kanban, "LIMIT", 2.0)
    keeper = CardUpdater(stand_in('sleep 1000 & echo $! > "$0.pid"; wait'), now=0.0)
    assert keeper.tend(0.0) == ""
    assert "took longer than 2s and was ended" in capsys.readouterr().err
    until_gone(int((tmp_path / "broken.pid").read_text()))
    # What it took has passed: the next try comes after the pause, not in the middle of it.
    assert keeper._looks.at >= 2.0 + FIRST_RETRY


def test_output_that_is_kept_open_by_what_hermes_left_is_not_waited_for(
    stand_in: Callable[[str], KanbanCard], tmp_path: Path
) -> None:
    card = stand_in(
        'echo "Kanban DB initialized at /nowhere"; echo "Comment added to t_1"; sleep 1000 & echo $! >> "$0.pids"'
    )
    try:
        card.comment("x")
    finally:
        left = [int(pid) for pid in (tmp_path / "broken.pids").read_text().split()]
        still = [alive(pid) for pid in left]
        for pid in left:
            kill(pid, signal.SIGKILL)
    assert still == [True, True]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("exit 0", "`hermes kanban init` said: nothing"),
        ("echo 'Error: not today' >&2", "said: Error: not today; set MIDWATCH_HERMES"),
        ('[ "$2" = init ] && echo "Kanban DB initialized at /nowhere" || echo "[1, 2"', "said: [1, 2"),
        ('[ "$2" = init ] && echo "Kanban DB initialized at /nowhere" || echo "{}"', "said: {}"),
    ],
)
def test_what_is_no_answer_is_trouble(
    stand_in: Callable[[str], KanbanCard], capsys: pytest.CaptureFixture[str], script: str, words: str
) -> None:
    keeper = CardUpdater(stand_in(script), now=0.0)
    assert attend(keeper, 0.0) == ""
    assert words in capsys.readouterr().err


def test_a_card_that_stays_away_costs_no_more_than_it_may(
    stand_in: Callable[[str], KanbanCard], capsys: pytest.CaptureFixture[str]
) -> None:
    keeper = CardUpdater(stand_in("exit 0"), now=0.0)
    for number in range(3):
        keeper.add_drifts([drift(f"s{number}.{other}") for other in range(KEPT)], 0.0)
    now = 0.0
    for _ in range(30):
        keeper.tend(now)
        now = max(now, keeper.due())
    assert keeper._looks._wait == LAST_RETRY
    assert now > LAST_RETRY  # and not thirty calls in a row
    assert capsys.readouterr().err.count("said: nothing") == 1
    assert len(keeper._waiting) <= KEPT
