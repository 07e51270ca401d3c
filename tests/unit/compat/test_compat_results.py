"""Our verdicts in the six words of `monitor-session`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from midwatch.compat.story_automator import screen_fields
from midwatch.compat.story_automator.result_mapping import StoryResult, map_result, map_timeout
from midwatch.compat.story_automator.story_verification import StoryVerification
from midwatch.core.states import VerdictState
from midwatch.core.verdict import FINAL, LIVE, Verdict

OVER = Verdict("sa-x", "session", "completed", True, "its turn has ended", "alive", "unknown", turn="idle")
NOTHING = StoryVerification(done=None, reason="normal_completion", says="nothing tells")
THERE = StoryVerification(done=True, reason="verified_complete", says="it is there")
MISSING = StoryVerification(done=False, reason="workflow_not_complete", says="it is not there")
SIX = ("completed", "crashed", "stuck", "timeout", "incomplete", "not_found")


@pytest.mark.parametrize(
    ("changes", "truth", "expected"),
    [
        ({}, THERE, ("completed", "verified_complete", True)),
        ({}, NOTHING, ("completed", "normal_completion", False)),
        ({}, MISSING, ("incomplete", "workflow_not_complete", False)),
        ({"state": "incomplete"}, NOTHING, ("incomplete", "idle_no_activity", False)),
        ({"state": "incomplete"}, THERE, ("completed", "verified_complete", True)),
        ({"state": "waiting", "turn": "waiting", "detail": "permission"}, THERE,
         ("incomplete", "waiting_permission", True)),
        ({"state": "waiting", "turn": "waiting", "detail": "startup-dialog"}, NOTHING,
         ("incomplete", "waiting_startup_dialog", False)),
        ({"state": "waiting", "detail": "interrupted"}, THERE, ("completed", "verified_complete", True)),
        ({"state": "waiting", "detail": "interrupted"}, MISSING, ("incomplete", "waiting_interrupted", False)),
        ({"state": "failed", "exit_code": 3}, MISSING, ("crashed", "failed_exit_code_3", False)),
        ({"state": "failed", "exit_code": None}, MISSING, ("crashed", "failed_turn", False)),
        ({"state": "crashed", "signal": 9}, THERE, ("crashed", "crashed_exit_code_137", True)),
        ({"state": "crashed", "turn": ""}, NOTHING, ("crashed", "crashed", False)),
        ({"state": "unknown", "cause": "exit-unseen"}, THERE, ("completed", "verified_complete", True)),
        ({"state": "unknown", "cause": "exit-unseen"}, MISSING, ("crashed", "exit_unseen", False)),
        ({"state": "unknown", "cause": "exit-unseen"}, NOTHING, ("crashed", "exit_unseen", False)),
        ({"state": "stuck", "progress": "frozen"}, NOTHING, ("stuck", "stuck_frozen", False)),
        ({"state": "stopped"}, THERE, ("not_found", "stopped", True)),
        ({"state": "not_found"}, NOTHING, ("not_found", "session_gone", False)),
        ({"state": "timeout"}, NOTHING, ("timeout", "timeout", False)),
    ],
)  # fmt: skip
def test_each_verdict_has_its_word_and_the_reason_names_ours(
    changes: dict[str, Any], truth: StoryVerification, expected: tuple[str, str, bool]
) -> None:
    found = map_result(OVER._replace(**changes), truth)
    assert (found.final_state, found.exit_reason, found.output_verified) == expected


@pytest.mark.parametrize("truth", [THERE, NOTHING, MISSING])
@pytest.mark.parametrize("state", [*LIVE, *FINAL])
def test_there_are_six_final_states_and_no_other(state: VerdictState, truth: StoryVerification) -> None:
    found = map_result(OVER._replace(state=state, detail='odd, "words"\n'), truth)
    assert found.final_state in SIX
    assert len(found.as_csv().split(",")) == 5


@pytest.mark.parametrize(
    ("state", "reason"),
    [("working", "exceeded_60m"), ("limited", "exceeded_60m_limited"), ("unknown", "exceeded_60m_unknown")],
)
def test_when_the_time_is_up_the_reason_says_what_it_was(state: VerdictState, reason: str) -> None:
    found = map_timeout(OVER._replace(state=state), 60.0, NOTHING)
    assert (found.final_state, found.exit_reason) == ("timeout", reason)


def test_the_json_has_its_keys_in_their_order() -> None:
    told = StoryResult("completed", "verified_complete", True, 1, 2, "/tmp/x").as_json()
    assert json.loads(told) == {
        "final_state": "completed", "todos_done": 1, "todos_total": 2, "output_file": "/tmp/x",
        "exit_reason": "verified_complete", "output_verified": True,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  ⎿  ☒ one\n     ☐ two\n", (1, 2)),
        ("     ✔ one\n     ◻ two\n     ◼ three\n", (1, 3)),
        ("prose with ☒ and ☐ in it\n", (0, 0)),
        ("", (0, 0)),
    ],
)
def test_todos_are_rows_of_a_list(text: str, expected: tuple[int, int]) -> None:
    assert screen_fields.count_todos(text) == expected


GOLDENS = Path(__file__).parents[2] / "goldens"
CLAUDE = "agents/screens/claude/{}/screen.txt"


@pytest.mark.parametrize(
    ("screen", "expected"),
    [
        (CLAUDE.format("s80x24-tasks-busy"), (0, 2)),
        (CLAUDE.format("s80x24-tasks-idle"), (0, 2)),
        (CLAUDE.format("previous-s80x24-tasks-busy"), (0, 2)),
        (CLAUDE.format("2.1.325-s80x24-tasks-busy"), (0, 2)),
        (CLAUDE.format("s60x15-many-tasks-busy"), (0, 12)),
        (CLAUDE.format("s60x15-many-tasks-idle"), (0, 12)),
        ("todos/claude-2.1.326-80x24-busy.txt", (1, 4)),
        ("todos/claude-2.1.326-80x24-idle.txt", (1, 4)),
        ("todos/claude-2.1.326-60x15-busy.txt", (2, 12)),
        ("todos/claude-2.1.326-60x15-idle.txt", (2, 12)),
        (CLAUDE.format("question"), (0, 0)),
        (CLAUDE.format("2.1.325-question-own-words"), (0, 0)),
        ("agents/screens/codex-nodaemon/interrupted/screen.txt", (0, 0)),
    ],
)
def test_todos_are_counted_on_screens_of_real_agents(screen: str, expected: tuple[int, int]) -> None:
    assert screen_fields.count_todos((GOLDENS / screen).read_text(encoding="utf-8")) == expected


def test_no_other_screen_of_an_agent_has_todos() -> None:
    others = [path for path in sorted((GOLDENS / "agents").rglob("screen.txt")) if "task" not in path.parent.name]
    assert {str(path) for path in others if screen_fields.count_todos(path.read_text(encoding="utf-8"))[1]} == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  ⎿ \xa0☒ one\n     ☐ two that goes\n       on below\n     ☐ three\n", (1, 3)),
        ("  ⎿  ☐ one\n     ☐ two\n● Bash(x)\n  ⎿  ☒ one\n     ☐ two\n", (1, 2)),
        ("  ⎿ \xa0✔\ufe0e one\n     ◻ two\n      … +2 pending, 3 completed\n", (4, 7)),
        ("● All is well:\n  ✔ the tests\n  ✔ the build\n", (0, 0)),
        ("• Updated Plan\n  └ ✔ one\n    □ two\n", (1, 2)),
    ],
)
def test_the_last_list_counts_with_what_it_leaves_out(text: str, expected: tuple[int, int]) -> None:
    assert screen_fields.count_todos(text) == expected


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ('✻ Running tests, "all"… (3s · esc to interrupt)\n', "Running tests all…"),
        ("· Musing…\n✻ Writing files… (1m)\n", "Writing files…"),
        ("I will ✻ wait… for it\n", "the model answers"),
        ("✻\xa0Writing files… (1m)\n", "Writing files…"),
        ("", "the model answers"),
    ],
)
def test_a_task_is_one_cell(text: str, task: str) -> None:
    assert screen_fields.find_task(text, "the model, answers") == task


@pytest.mark.parametrize(
    ("task", "done", "total", "seconds"),
    [
        ("Running tests", 0, 0, 120), ("reading a file", 0, 0, 30), ("Waiting for it", 0, 0, 15), ("Writing", 0, 0, 60),
        ("Musing", 0, 4, 90), ("Musing", 1, 4, 75), ("Musing", 2, 4, 60), ("Musing", 4, 4, 30), ("Musing", 0, 0, 60),
    ],
)  # fmt: skip
def test_the_wait_is_guessed_from_the_task_else_from_the_todos(task: str, done: int, total: int, seconds: int) -> None:
    assert screen_fields.wait_estimate(task, done, total) == seconds
