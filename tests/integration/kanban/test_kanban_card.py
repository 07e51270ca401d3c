"""Every call to a card of the real Hermes, and what it does when it fails, which is to say that all went well."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from midwatch.core.errors import UsageError
from midwatch.integrations.hermes_kanban import KanbanCard, KanbanError, find_or_create_card
from tests.integration.kanban.conftest import Board

KEY = "midwatch: sessions of /home/me/project"


def test_a_card_is_made_claimed_written_to_and_blocked(board: Board) -> None:
    card = find_or_create_card("watch", "- what\n- how", key=KEY, program=board.program)
    card.comment("--api: tmux gone (was pane 201132). Marked terminated. → ok")
    card.heartbeat("-alive, 1 drift")
    assert card.status() == "running"
    card.block("-stop-requested by me")
    task = board.task(card)
    assert (task["title"], task["body"]) == ("watch", "- what\n- how")
    assert (task["status"], task["created_by"]) == ("blocked", "midwatch")
    assert task["assignee"] is None  # else a dispatcher would start an agent on it
    assert board.comments(card) == [
        ("midwatch", "--api: tmux gone (was pane 201132). Marked terminated. → ok"),
        ("midwatch", "BLOCKED: -stop-requested by me"),
    ]
    assert board.notes(card) == ["-alive, 1 drift"]


def test_the_card_of_an_earlier_run_is_used_again_until_it_has_ended(board: Board) -> None:
    first = find_or_create_card("watch", "", program=board.program)
    again = find_or_create_card("watch", "", program=board.program)
    assert again.task == first.task
    again.block("enough")
    second = find_or_create_card("watch", "", program=board.program)
    third = find_or_create_card("watch", "", program=board.program)
    assert second.task != first.task
    assert third.task == second.task
    assert find_or_create_card("watch", "", program=board.program, key=KEY).task not in (first.task, second.task)
    assert [board.status(card) for card in (first, second)] == ["blocked", "running"]


def test_a_card_that_is_not_there_is_an_error_whatever_the_exit_code_says(board: Board) -> None:
    card = board.card("t_nowhere")
    calls: list[Callable[[], object]] = [
        lambda: card.comment("x"),
        lambda: card.heartbeat("x"),
        lambda: card.block("x"),
        lambda: card.stop_asked(0.0),
        card.claim,
        card.status,
    ]
    for call in calls:
        with pytest.raises(KanbanError, match=r"(unknown task|no such task:) t_nowhere"):
            call()


def test_a_card_that_nobody_has_claimed_is_claimed_by_the_first_heartbeat(board: Board) -> None:
    card = board.new()
    card.heartbeat("alive, 0 drifts")
    assert board.status(card) == "running"
    assert board.notes(card) == ["alive, 0 drifts"]


def test_a_card_of_another_run_of_a_dispatcher_is_not_claimed(board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    card = board.new()
    monkeypatch.setenv("HERMES_KANBAN_TASK", card.task)
    monkeypatch.setenv("HERMES_KANBAN_RUN_ID", "7")
    with pytest.raises(KanbanError, match="cannot heartbeat"):
        card.heartbeat("x")
    assert board.status(card) == "ready"


def test_a_blocked_card_takes_comments_but_no_heartbeat_and_is_not_blocked_twice(board: Board) -> None:
    card = board.new()
    board("block", card.task, "wait for me")
    with pytest.raises(KanbanError, match=r"cannot heartbeat .* \(not running\?\)"):
        card.heartbeat("x")
    card.block("again")
    card.comment("still here")
    assert board.comments(card) == [("default", "BLOCKED: wait for me"), ("midwatch", "still here")]


def test_a_card_that_is_blocked_a_second_time_is_stopped_though_hermes_says_it_in_other_words(board: Board) -> None:
    card = board.new()
    card.block("stop-requested")
    board("unblock", card.task)
    card.block("stop-requested")
    assert board.status(card) == "triage"


def test_a_card_stays_on_its_board_when_a_person_switches_to_another(board: Board) -> None:
    board("boards", "create", "side")
    card = board.new()
    card.comment("one")
    board("boards", "switch", "side")
    card.comment("two")
    assert [body for _, body in board.comments(card)] == ["one", "two"]
    with pytest.raises(KanbanError, match="board 'nowhere' does not exist"):
        board.card(card.task, board="nowhere").comment("x")


@pytest.mark.parametrize("task", ["", "-x"])
def test_what_is_no_id_is_not_given_to_hermes(task: str) -> None:
    with pytest.raises(UsageError, match="no id of a card"):
        KanbanCard(task)


# Stopping


def test_only_a_persons_new_comment_that_says_so_stops(board: Board) -> None:
    card = board.new()
    board("comment", card.task, "stop")  # of yesterday
    assert card.status() == "ready"
    began = time.time()
    board("comment", card.task, "please do not stop")
    board("comment", card.task, "api: stopped by hand")
    card.comment("stop")
    board("block", card.task, "stop")  # Hermes comments "BLOCKED: stop"
    assert card.stop_asked(began) == ""
    board("comment", card.task, "--author", "ann", "thanks, it is done\nstop, please")
    assert card.stop_asked(began).startswith("ann at 20")


def test_a_stop_in_the_second_of_the_start_counts_when_it_came_after_the_first_look(board: Board) -> None:
    """Hermes keeps whole seconds, so the time alone does not tell."""
    card = board.new()
    board("comment", card.task, "stop")
    second = board.second(card) + 0.9
    assert card.stop_asked(second) == ""
    other = board.new()
    assert other.stop_asked(0.0) == ""
    board("comment", other.task, "stop")
    second = board.second(other) + 0.9
    assert other.stop_asked(second).startswith("default at 20")


def test_hermes_is_asked_for_comments_only_when_something_was_written(board: Board) -> None:
    card = board.new()
    began = time.time()
    card.status()
    assert card.stop_asked(began) == ""
    before = board.asked()
    for _ in range(100):
        assert card.stop_asked(began) == ""
    assert board.asked() == before
    board("comment", card.task, "stop")
    assert card.stop_asked(began)


def test_after_a_call_of_our_own_comments_are_read_whatever_the_files_say(board: Board) -> None:
    """So a person is heard every five minutes at the latest, should Hermes keep its comments elsewhere one day."""
    card = board.new()
    began = time.time()
    card.status()
    card.hermes._database = board.program  # a file that does not change
    assert card.stop_asked(began) == ""
    assert card.stop_asked(began) == ""
    board("comment", card.task, "stop")
    assert card.stop_asked(began) == ""
    card.comment("x")
    assert card.stop_asked(began)
