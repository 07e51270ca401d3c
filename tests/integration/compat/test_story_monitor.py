"""`monitor-session`: one call, six final states, and 0 for each of them."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.conftest import kill, until
from tests.integration.compat.stories import SOON, Stories

PLANTED = '{"schemaVersion":1,"session":"x","lifecycle":"finished","result":"success","exitCode":0}'


def told(found: dict[str, object]) -> tuple[object, object, object]:
    return found["final_state"], found["exit_reason"], found["output_verified"]


# The decision table -----------------------------------------------------------------------------------------------


def test_completed_the_turn_has_ended_and_the_story_is_there(stories: Stories) -> None:
    session = stories.agent("work", step="create")
    watch = stories.begin("monitor-session", session, "--json")
    stories.until_status(session, "in_progress")
    stories.story()
    stories.office.go()
    found = json.loads(stories.finish(watch)[0])
    assert told(found) == ("completed", "verified_complete", True)
    assert "● Fine." in Path(found["output_file"]).read_text()
    assert stories("tmux-wrapper", "exists", session).code == 0, "who asked for it closes it"


@pytest.mark.parametrize(
    ("step", "sprint", "expected"),
    [
        ("create", "ready-for-dev", ("incomplete", "unexpected_story_artifact_count", False)),
        ("dev", "in-progress", ("incomplete", "workflow_not_complete", False)),
        ("dev", "review", ("completed", "verified_complete", True)),
        ("review", "review", ("incomplete", "workflow_not_complete", False)),
        ("review", "done", ("completed", "verified_complete", True)),
        ("auto", "review", ("completed", "normal_completion", False)),
        ("retro", "review", ("incomplete", "epic_incomplete", False)),
        ("retro", "done", ("completed", "verified_complete", True)),
    ],
)
def test_idle_is_not_done(stories: Stories, step: str, sprint: str, expected: tuple[str, str, bool]) -> None:
    stories.sprint(f"5-3-login: {sprint}")
    assert told(stories.monitor(stories.agent("say", step=step))) == expected


def test_a_caller_may_say_which_workflow_and_story(stories: Stories) -> None:
    stories.sprint("5-3-login: review", "5-4-logout: done")
    session = stories.agent("say", step="auto")
    assert told(stories.monitor(session, "--workflow", "review"))[0] == "incomplete"
    assert told(stories.monitor(session, "--workflow", "review", "--story-key", "5.4"))[0] == "completed"


@pytest.mark.parametrize(
    ("does", "reason"),
    [("exit 3", "failed_exit_code_3"), ("die 9", "crashed_exit_code_137"), ("fail", "failed_turn")],
)
def test_crashed_what_failed_or_died(stories: Stories, does: str, reason: str) -> None:
    session = stories.agent(does, step="create")
    stories.story()
    found = stories.monitor(session)
    assert told(found) == ("crashed", reason, True), "the project's files are told of all the same"


def test_a_command_that_ends_well_is_completed(stories: Stories) -> None:
    found = stories.monitor(stories.spawn("echo 'all, \"done\"'"))
    assert told(found) == ("completed", "normal_completion", False)
    assert Path(str(found["output_file"])).read_text() == 'all, "done"\n'


def test_stuck_no_progress_through_threshold_and_grace(stories: Stories) -> None:
    session = stories.agent("still")
    found = stories.monitor(session, **SOON)
    assert told(found) == ("stuck", "stuck_stalled", False)
    assert "Pondering" in Path(str(found["output_file"])).read_text()
    assert stories("tmux-wrapper", "exists", session).code == 0


def test_a_command_that_hangs_is_stuck_too_though_it_shows_no_turn(stories: Stories) -> None:
    session = stories.spawn("echo begun; sleep 600", **SOON)
    assert told(stories.monitor(session, **SOON)) == ("stuck", "stuck_stalled", False)
    assert stories.status(session)[-1] == "stuck"


def test_an_agent_at_its_prompt_is_never_stuck_however_long(stories: Stories) -> None:
    session = stories.agent("say", **SOON)
    asked = stories.box.dir / f"{session}.seen"
    until(lambda: asked.exists() and json.loads(asked.read_text())["at"] > stories.record(session)["started_mono"] + 6)
    assert stories.status(session)[-1] == "completed"
    assert "stuck" not in [event["event"] for event in stories.box.events(session)]


def test_timeout_the_session_is_left_as_it_is_and_what_it_showed_is_told(stories: Stories) -> None:
    session = stories.agent("work")
    found = stories.monitor(session, "--timeout", "0.05")
    assert told(found) == ("timeout", "exceeded_0.05m", False)
    assert "Pondering" in Path(str(found["output_file"])).read_text()
    assert stories.status(session)[-1] == "in_progress"


@pytest.mark.parametrize(("does", "reason"), [("ask", "waiting_permission"), ("trust", "waiting_trust")])
def test_incomplete_it_waits_for_a_person(stories: Stories, does: str, reason: str) -> None:
    session = stories.agent(does, step="create")
    stories.story()
    assert told(stories.monitor(session)) == ("incomplete", reason, True)
    assert stories.status(session)[-1] == "idle"


def test_a_limit_is_looked_at_until_the_time_is_up(stories: Stories) -> None:
    session = stories.agent("limit 11pm")
    assert told(stories.monitor(session, "--timeout", "0.05")) == ("timeout", "exceeded_0.05m_limited", False)
    assert stories.status(session)[-1] == "in_progress"


def test_not_found_who_was_never_there_and_who_was_killed(stories: Stories) -> None:
    assert told(stories.monitor("sa-nobody")) == ("not_found", "session_gone", False)
    session = stories.agent("work")
    watch = stories.begin("monitor-session", session, "--json")
    stories.until_status(session, "in_progress")
    stories.wrapper("kill", session)
    assert told(json.loads(stories.finish(watch)[0])) == ("not_found", "stopped", False)


def test_a_session_that_somebody_killed_in_tmux_is_not_found(stories: Stories) -> None:
    session = stories.agent("work", step="create")
    stories.until_status(session, "in_progress")
    stories.story()
    stories.office.tmux("kill-session", "-t", f"={session}")
    found = stories.monitor(session)
    assert told(found) == ("not_found", "stopped", True), "its partial work is told of"
    assert "Pondering" in Path(str(found["output_file"])).read_text(), "what was captured of it is there"


def test_who_sits_at_its_prompt_and_never_begins_is_incomplete(stories: Stories) -> None:
    session = stories.agent("")
    stories.until_status(session, "idle")
    watch = stories.begin("monitor-session", session, "--timeout", "0.1")
    assert stories.finish(watch)[0].split(",")[-1].strip() == "exceeded_0.1m_idle"


def test_nothing_says_completed_of_a_step_whose_result_is_incomplete(stories: Stories) -> None:
    stories.sprint("5-3-login: in-progress")
    session = stories.spawn("true")
    assert told(stories.monitor(session))[0] == "incomplete"
    for found in (stories.midwatch("ls", "--json"), stories.midwatch("why", session, "--json")):
        assert (found.json["state"], found.json["cause"]) == ("incomplete", "not-verified"), found
    waited = stories.midwatch("wait", session, "--json")
    assert (waited.code, waited.json["state"]) == (6, "incomplete")
    events = map(json.loads, stories.midwatch("events", session, "--json").out.splitlines())
    assert [event["state"] for event in events if event["event"] == "watched"] == ["incomplete"]
    stories.sprint("5-3-login: review")
    assert told(stories.monitor(session)) == ("completed", "verified_complete", True)
    assert stories.midwatch("ls", "--json").json["state"] == "completed"


# As a program -----------------------------------------------------------------------------------------------------


def test_the_line_has_five_cells_and_the_json_six_keys(stories: Stories) -> None:
    session = stories.spawn("true")
    done = stories("monitor-session", session, "--max-polls", "1", "--initial-wait", "600", "--state-file", "/nowhere")
    assert (done.code, done.out, done.err) == (0, "completed,0,0,,normal_completion\n", "")
    assert list(stories.monitor(session)) == [
        "final_state", "todos_done", "todos_total", "output_file", "exit_reason", "output_verified",
    ]  # fmt: skip


def test_progress_is_told_on_standard_error_where_it_is_wanted(stories: Stories) -> None:
    session = stories.agent("work")
    watch = stories.begin("monitor-session", session, "--json", "--verbose")
    stories.until_status(session, "in_progress")
    stories.office.go()
    out, err = stories.finish(watch)
    assert json.loads(out)["final_state"] == "completed"
    assert "completed: its turn has ended" in err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "Usage: monitor-session"),
        (["a", "b"], "Usage: monitor-session"),
        (["a.b"], "say a_b"),
        (["sa-x", "--timeout", "soon"], "--timeout is a number above 0"),
        (["sa-x", "--timeout", "-1"], "--timeout is a number above 0"),
        (["sa-x", "--timeout"], "--timeout requires a value"),
    ],
)
def test_bad_words_are_refused(stories: Stories, words: list[str], says: str) -> None:
    done = stories("monitor-session", *words)
    assert (done.code, done.out) == (1, ""), done
    assert says in done.err


def test_of_a_long_log_the_end_is_kept(stories: Stories) -> None:
    session = stories.spawn("seq 100000; echo 'Story done.'")
    lines = Path(str(stories.monitor(session)["output_file"])).read_text().splitlines()
    assert (len(lines), lines[-2:]) == (200, ["100000", "Story done."])


# When monitoring itself fails -------------------------------------------------------------------------------------


def test_a_dead_monitor_is_not_a_failed_step(stories: Stories) -> None:
    session = stories.agent("work", step="create")
    watch = stories.begin("monitor-session", session, "--json")
    stories.office.until_watched("working", session)
    kill(watch.pid, signal.SIGKILL)
    stories.finish(watch)
    stories.story()
    stories.office.go()
    stories.until_status(session, "completed")
    assert told(stories.monitor(session)) == ("completed", "verified_complete", True)


def test_each_call_has_its_own_time_whatever_one_that_was_killed_has_used(stories: Stories) -> None:
    session = stories.agent("work")
    watch = stories.begin("monitor-session", session, "--json")
    stories.office.until_watched("working", session)
    kill(watch.pid, signal.SIGKILL)
    stories.finish(watch)
    notes = stories.box.path(f"{session}.watch")
    notes.write_text(json.dumps(json.loads(notes.read_text()) | {"began": 0.0, "at": 36000.0}))
    watch = stories.begin("monitor-session", session, "--json")
    stories.office.until_watched("working", session, left=False, verdict=None)
    until(lambda: stories.office.watch(session)["monitor"][0] == watch.pid)
    stories.office.go()
    assert told(json.loads(stories.finish(watch)[0]))[0] == "completed"


def test_who_is_told_to_end_says_nothing_of_the_step(stories: Stories) -> None:
    session = stories.agent("work")
    watch = stories.begin("monitor-session", session, "--json")
    stories.office.until_watched("working", session)
    kill(watch.pid, signal.SIGTERM)
    out, err = stories.finish(watch)
    assert (out, watch.returncode) == ("", 128 + signal.SIGTERM)
    assert "the session goes on" in err
    assert stories.status(session)[-1] == "in_progress"


@pytest.mark.parametrize(
    ("there", "written", "expected"),
    [
        (True, True, ("completed", "monitor_failed_verified_complete", True)),
        (True, False, ("incomplete", "monitor_failed_session_there", False)),
        (False, True, ("completed", "monitor_failed_verified_complete", True)),
        (False, False, ("not_found", "monitor_failed_session_gone", False)),
    ],
)
def test_when_monitoring_fails_the_session_and_the_project_are_asked(
    stories: Stories, there: bool, written: bool, expected: tuple[str, str, bool]
) -> None:
    session = stories.agent("work", step="create")
    stories.until_status(session, "in_progress")
    if not there:
        stories.office.tmux("kill-session", "-t", f"={session}")
        until(lambda: session not in stories.office.sessions())
    if written:
        stories.story()
    broken = stories.office.home / "config" / "midwatch" / "agents"
    broken.mkdir(parents=True)
    (broken / "claude.toml").write_text("agent = ")
    done = stories("monitor-session", session, "--json", XDG_CONFIG_HOME=str(stories.office.home / "config"))
    if not there:  # then nothing of its agent has to be known
        assert told(json.loads(done.out))[0] == "not_found"
        return
    assert told(json.loads(done.out)) == expected
    assert "monitoring failed (FormatError" in done.err


# Sessions that are not ours ---------------------------------------------------------------------------------------


def test_a_session_of_the_published_program_is_watched_too(stories: Stories) -> None:
    name = "sa-project-250101-101010-e5-s5-3-dev"
    pane = stories.office.tmux.start("sleep 600", name, cwd=str(stories.root))
    stories.office.tmux("set-option", "-p", "-t", pane, "remain-on-exit", "on")
    watch = stories.begin("monitor-session", name, "--json")
    stories.office.tmux("respawn-pane", "-k", "-t", pane, "exit 3")
    assert told(json.loads(stories.finish(watch)[0])) == ("crashed", "failed_exit_code_3", False)
    assert stories.status(name)[0::5] == ["crashed", "crashed"]


def test_an_agent_that_a_person_started_there_is_watched_too(stories: Stories) -> None:
    name = "sa-project-250101-101010-e5-s5-3-create"
    stories.office.begin("say")
    env = " ".join(f"{key}={value}" for key, value in stories.box.env.items() if key != "TMUX")
    command = f"env -i {env} claude --session-id {stories.office.conversation}"
    stories.office.tmux.start(command, name, size=(120, 40), cwd=str(stories.root))
    stories.story()
    assert told(stories.monitor(name)) == ("completed", "verified_complete", True)


def test_state_files_of_the_published_programs_do_no_harm(stories: Stories) -> None:
    session = stories.agent("work")
    stories.until_status(session, "in_progress")
    state = next(path for path in stories.temporary.iterdir() if path.name.endswith("-state.json"))
    for planted in (PLANTED, '{"pollCount":9,"hasEverBeenActive":true,"lastStatuslineTime":"10:00:00"}', "{", "[]", ""):
        state.write_text(planted)
        assert stories.status(session)[-1] == "in_progress", planted
    os.unlink(state)
    os.symlink("/etc/passwd", state)
    assert stories.status(session)[-1] == "in_progress"
    assert Path("/etc/passwd").read_text()[0] != "{"
