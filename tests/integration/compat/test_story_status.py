"""`tmux-status-check` and `heartbeat-check`: one look, one line; what the last look saw is remembered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import until
from tests.integration.compat.stories import SOON, Stories


def test_an_agent_at_work_is_in_progress_in_words_that_break_no_table(stories: Stories) -> None:
    session = stories.agent("work")
    status, done, total, task, wait, state = stories.until_status(session, "in_progress")
    assert (status, done, total, wait, state) == ("active", "0", "0", "60", "in_progress")
    assert task == "Pondering…"


def test_a_turn_that_has_ended_is_completed(stories: Stories) -> None:
    assert stories.until_status(stories.agent("say"), "completed")[:3] == ["idle", "0", "0"]


def test_how_a_command_ended_is_told(stories: Stories) -> None:
    session = stories.spawn("echo 'oh, \"no\"'; exit 3")
    assert stories.until_status(session, "crashed") == ["crashed", "0", "0", "", "3", "crashed"]
    path = stories.status(session, "--full")[3]
    assert path.startswith(str(stories.temporary))
    assert Path(path).read_text() == 'oh, "no"\n'


def test_who_is_killed_is_not_found(stories: Stories) -> None:
    session = stories.spawn("sleep 600")
    stories.wrapper("kill", session)
    assert stories.status(session) == ["not_found", "0", "0", "", "0", "not_found"]


@pytest.mark.parametrize("words", [[], ["--full"], ["a", "b"]])
def test_without_a_session_there_is_an_error(stories: Stories, words: list[str]) -> None:
    done = stories("tmux-status-check", *words)
    assert (done.code, done.out) == (1, "error,0,0,no_session,30,error\n")


def test_todos_are_counted_while_claude_works_whose_list_begins_with_a_hard_blank(stories: Stories) -> None:
    session = stories.spawn(
        "printf '  ⎿ \u00a0☒ one\\n     ☐ two, \"2\"\\n     ☐ three\\nprose with a ☒ in it\\n'; sleep 600"
    )
    until(lambda: "three" in stories.office.shown(session))
    assert stories.status(session)[1:3] == ["1", "3"]
    found = stories.monitor(session, "--timeout", "0.02")
    assert (found["todos_done"], found["todos_total"]) == (1, 3)
    assert "⎿  ☒ one" in Path(found["output_file"]).read_text(), "as the log has it, too"


# A shell and no agent ----------------------------------------------------------------------------------------------


def told(found: dict[str, object]) -> tuple[object, object]:
    return found["final_state"], found["exit_reason"]


@pytest.mark.parametrize("step", ["dev", "create"])
def test_an_idle_shell_is_idle_and_its_step_incomplete(stories: Stories, step: str) -> None:
    session = stories.wrapper("spawn", step, "5", "5.3", SHELL="/bin/bash")
    cells = stories.until_status(session, "idle")
    assert cells[0::4] == ["idle", "30"]
    assert cells[3] == "bash is at its prompt; no agent is to be seen in it"
    assert stories("heartbeat-check", session).out.split(",")[0::3] == ["idle", "true\n"]
    assert told(stories.monitor(session, "--timeout", "0.02")) == ("incomplete", "idle_no_activity")
    stories.office.tmux.type(stories.record(session)["pane"]["id"], "sleep 600")
    stories.until_status(session, "just_started")


def test_a_shell_whose_story_is_done_is_completed(stories: Stories) -> None:
    stories.sprint("5-3-login: review")
    session = stories.wrapper("spawn", "dev", "5", "5.3", SHELL="/bin/bash")
    stories.until_status(session, "idle")
    assert told(stories.monitor(session, "--timeout", "0.02")) == ("completed", "verified_complete")


def test_an_idle_shell_that_is_not_ours_is_idle_too(stories: Stories) -> None:
    name = "sa-project-250101-101010-e5-s5-3-dev"
    stories.office.tmux.start("/bin/sh", name, cwd=str(stories.root))
    assert stories.until_status(name, "idle")[0] == "idle"
    assert told(stories.monitor(name, "--timeout", "0.02")) == ("incomplete", "idle_no_activity")


@pytest.mark.parametrize(("does", "state"), [("exit 0", "not_found"), ("die 9", "crashed")])
def test_an_agent_that_left_its_shell_is_judged_by_how_it_ended(stories: Stories, does: str, state: str) -> None:
    session = stories.wrapper("spawn", "auto", "5", "5.3", SHELL="/bin/bash")
    stories.until_status(session, "idle")
    stories.office.begin("work")
    watch = stories.begin("monitor-session", session, "--json")
    pane = stories.record(session)["pane"]["id"]
    stories.office.tmux.type(pane, f"claude --session-id {stories.office.conversation}")
    stories.office.until_watched("working", session)
    stories.office.go(does)
    assert json.loads(stories.finish(watch)[0])["final_state"] == state


# The statusline time gate, poll by poll ---------------------------------------------------------------------------


def stuck_but_for_its_clock(stories: Stories, clock: str) -> str:
    """A session of which all else says `stuck`."""
    if clock:
        (stories.office.notes / "clock").write_text(clock)
    session = stories.agent("still")
    stories.until_status(session, "stuck", **SOON)
    return session


def test_gate_time_advanced_is_alive(stories: Stories) -> None:
    session = stuck_but_for_its_clock(stories, "10:00:00")
    (stories.office.notes / "clock").write_text("10:01:00")
    assert stories.until_status(session, "just_started", **SOON)[0] == "active"
    kept = json.loads(next(stories.temporary.glob(".sa-*-state.json")).read_text())
    assert kept["lastStatuslineTime"] == "10:01:00"


def test_gate_time_unchanged_is_stuck(stories: Stories) -> None:
    session = stuck_but_for_its_clock(stories, "10:00:00")
    assert stories.status(session, **SOON)[-1] == "stuck"


def test_gate_first_observation_is_alive(stories: Stories) -> None:
    session = stuck_but_for_its_clock(stories, "")
    (stories.office.notes / "clock").write_text("10:00:00")
    assert stories.until_status(session, "just_started", **SOON)[0] == "active"


def test_gate_no_statusline_is_stuck(stories: Stories) -> None:
    session = stuck_but_for_its_clock(stories, "")
    assert stories.status(session, **SOON)[-1] == "stuck"


def test_gate_an_older_time_redrawn_is_stuck(stories: Stories) -> None:
    session = stuck_but_for_its_clock(stories, "10:00:30")
    (stories.office.notes / "clock").write_text("10:00:29")
    until(lambda: "10:00:29" in stories.office.shown(session))
    assert stories.status(session, **SOON)[-1] == "stuck"


# Heartbeat --------------------------------------------------------------------------------------------------------


def test_the_heartbeat_tells_work_prompt_and_end_apart(stories: Stories) -> None:
    session = stories.agent("work")
    stories.until_status(session, "in_progress")
    pid = str(stories.office.starts()[0]["pid"])
    status, _, agent, prompt = stories("heartbeat-check", session).out.strip().split(",")
    assert (status, agent, prompt) == ("alive", pid, "false")
    stories.office.go()
    stories.until_status(session, "completed")
    status, _, agent, prompt = stories("heartbeat-check", session).out.strip().split(",")
    assert (status, agent, prompt) == ("idle", pid, "true")
    ended = stories.spawn("true")
    stories.until_status(ended, "completed")
    assert stories("heartbeat-check", ended).out == "completed,0.0,,false\n"
    failed = stories.spawn("exit 3")
    stories.until_status(failed, "crashed")
    assert stories("heartbeat-check", failed).out == "dead,0.0,,false\n"


def test_cpu_is_that_of_now(stories: Stories) -> None:
    session = stories.spawn("while :; do :; done")
    status, share, _, _ = stories("heartbeat-check", session).out.strip().split(",")
    assert status == "alive"
    assert float(share) > 0


def test_the_heartbeat_of_nobody_is_an_error(stories: Stories) -> None:
    assert stories("heartbeat-check").out == "error,0.0,,no_session\n"
    assert stories("heartbeat-check", "sa-nobody", "--agent", "codex").out == "error,0.0,,session_not_found\n"


@pytest.mark.parametrize("command", ["tmux-status-check", "codex-status-check", "heartbeat-check", "monitor-session"])
def test_help_says_how_it_is_called(stories: Stories, command: str) -> None:
    done = stories(command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: ")
