"""Defects of the published story-automators that concern sessions, each by its name.

Those that only a real screen shows are in tests/agents/test_story.py.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from tests.integration.compat.stories import SOON, Stories


def test_defect_an_idle_shell_was_stuck_and_never_active_within_a_second(stories: Stories) -> None:
    session = stories.wrapper("spawn", "dev", "5", "5.3")
    stories.until_status(session, "idle")
    for _ in range(12):  # of its eleven polls each was answered at once
        assert stories.status(session)[-1] == "idle"
    found = stories.monitor(session, "--timeout", "0.03")
    assert (found["final_state"], found["exit_reason"]) == ("incomplete", "idle_no_activity")


def test_defect_a_codex_command_that_failed_was_completed(stories: Stories) -> None:
    session = stories.wrapper("spawn", "dev", "5", "5.3", "--agent", "codex", "--command", "false")
    found = stories.monitor(session)
    assert (found["final_state"], found["exit_reason"]) == ("crashed", "failed_exit_code_1")
    assert stories.status(session) == ["crashed", "0", "0", "", "1", "crashed"]


def test_defect_a_crash_was_not_found_because_its_pane_was_gone(stories: Stories) -> None:
    session = stories.spawn("exit 7")
    assert stories.until_status(session, "crashed")[4] == "7"
    stories.office.tmux("kill-session", "-t", f"={session}")
    assert stories.status(session)[4:] == ["7", "crashed"], "how it ended is known though tmux has forgotten it"


def test_defect_two_polls_within_a_second_flipped_to_stuck(stories: Stories) -> None:
    (stories.office.notes / "clock").write_text("10:00:00")
    session = stories.agent("still")
    stories.until_status(session, "in_progress")
    assert [stories.status(session)[-1] for _ in range(4)] == ["in_progress"] * 4


def test_defect_a_clock_was_looked_at_only_in_sessions_never_active(stories: Stories) -> None:
    """The gate is the final authority, its document says; the code asked it after ten polls without activity."""
    (stories.office.notes / "clock").write_text("10:00:00")
    session = stories.agent("still")
    stories.until_status(session, "in_progress", **SOON)
    stories.until_status(session, "stuck", **SOON)
    (stories.office.notes / "clock").write_text("10:00:09")
    stories.until_status(session, "just_started", **SOON)


def test_defect_a_timeout_told_no_output_file(stories: Stories) -> None:
    session = stories.spawn("echo working on it; sleep 600")
    found = stories.monitor(session, "--timeout", "0.02")
    assert Path(found["output_file"]).read_text() == "working on it\n"


def test_defect_an_agent_below_other_processes_was_never_active(stories: Stories) -> None:
    stories.office.begin("work")
    deep = f"sh -c 'sh -c \"claude --session-id {uuid.uuid4()}; true\"; true'; true"
    session = stories.spawn(deep)
    assert stories.until_status(session, "in_progress")[3] == "Pondering…"
    stories.office.go()
    assert stories.monitor(session)["final_state"] == "completed"


def test_defect_an_agent_that_stays_open_at_its_prompt_was_in_progress_for_ever(stories: Stories) -> None:
    session = stories.agent("say")
    assert stories.monitor(session)["final_state"] == "completed"
    assert stories("heartbeat-check", session).out.endswith(",true\n"), "it is still there"


def test_defect_a_task_with_a_comma_broke_the_table(stories: Stories) -> None:
    session = stories.spawn("printf '\\342\\234\\273 Reading \"a, b\", then c\\342\\200\\246 (3s)\\n'; sleep 600")
    stories.office.tmux.until_shows(stories.record(session)["pane"]["id"], "then c")
    assert stories.status(session)[3] == "Reading a b then c…"


def test_defect_without_a_story_the_verifier_passed(stories: Stories) -> None:
    """It must fail closed: a session whose name tells no story cannot be verified."""
    session = stories.agent("say", step="review")
    found = stories.monitor(session, "--story-key", "no-story")
    assert (found["final_state"], found["exit_reason"]) == ("incomplete", "story_key_required")
