"""A board of the real Hermes as a tracker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midwatch.integrations import hermes_kanban
from midwatch.trackers import select
from midwatch.trackers.hermes import STATUSES, HermesTracker
from midwatch.trackers.model import TrackerError
from tests.conftest import PATIENCE
from tests.integration.kanban.conftest import Board


def made(board: Board, *words: str) -> str:
    return str(json.loads(board("create", "--json", *words))["id"])


def test_cards_are_tasks_with_the_words_of_their_columns(board: Board) -> None:
    ready = made(board, "ready OPEN")
    urgent = made(board, "--priority=5", "urgent")
    waits = made(board, f"--parent={ready}", "after it")
    triage = made(board, "--triage", "unclear")
    running, blocked, done = made(board, "runs"), made(board, "blocked"), made(board, "done")
    board("claim", running)
    board("block", blocked, "wait for me")
    board("complete", done, "--summary", "x")
    work = HermesTracker(program=board.program).read(limit=PATIENCE)
    assert {own: (task.status, task.said.raw) for own, task in work.tasks.items()} == {
        ready: ("open", "ready"), urgent: ("open", "ready"), waits: ("blocked", "todo"), triage: ("deferred", "triage"),
        running: ("in_progress", "running"), blocked: ("blocked", "blocked"), done: ("closed", "done"),
    }  # fmt: skip
    assert [task.id for task in work.ready()] == [urgent, ready]
    assert [task.id for task in work.urgent()] == [urgent], "a card of the usual priority is not urgent"
    listed = [card["id"] for card in json.loads(board("list", "--json", "--status=ready"))]
    assert listed == [urgent, ready]
    assert work.tasks[done].closed == board.task(board.card(done))["completed_at"]
    assert work.tasks[ready].title.raw == "ready OPEN"


def test_every_column_that_hermes_has_is_known(board: Board) -> None:
    told = board("list", "--help").partition("--status {")[2].partition("}")[0]
    assert set("".join(told.split()).split(",")) == STATUSES.keys()


def test_a_board_that_is_not_there_is_an_error_in_words(board: Board) -> None:
    with pytest.raises(TrackerError, match="nowhere"):
        HermesTracker("nowhere", board.program).read(limit=PATIENCE)


def test_the_settings_name_the_board_and_nothing_is_written_there(
    board: Board, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIDWATCH_HERMES", board.program)
    (tmp_path / "midwatch.toml").write_text('[tracker]\nkind = "kanban"\n')
    tracker = select.find_tracker(str(tmp_path))
    assert tracker.read(limit=PATIENCE).tasks == {}
    with pytest.raises(TrackerError, match="the Hermes board is not written by us"):
        tracker.add("x")


@pytest.mark.parametrize(("script", "words"), [
    ("echo Kanban DB initialized at /nowhere/k.db; echo '[{'", r"`hermes kanban list` said: \[\{"),
    ("echo Kanban DB initialized at /nowhere/k.db; echo '[7]'", r"`hermes kanban list` said"),
    ("echo oh no >&2", "oh no"),
    ("exec sleep 1000", "took longer than"),
], ids=["half an answer", "no cards", "an error", "it hangs"])  # fmt: skip
def test_a_program_that_fails_is_an_error_in_words(tmp_path: Path, script: str, words: str) -> None:
    path = tmp_path / "broken"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    with pytest.raises(TrackerError, match=words):
        HermesTracker(program=str(path)).read(limit=2.0 if "sleep" in script else PATIENCE)
    assert hermes_kanban.LIMIT == 30.0
