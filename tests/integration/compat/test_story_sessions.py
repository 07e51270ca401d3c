"""`tmux-wrapper`: sessions for steps, by names that mean one session and no other."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import until, until_gone
from tests.integration.compat.stories import Stories


def test_a_session_runs_its_command_in_the_project_and_is_named_for_its_step(stories: Stories) -> None:
    session = stories.spawn("env > seen.tmp; pwd >> seen.tmp; mv seen.tmp seen; sleep 600", "review", CLAUDECODE="1")
    assert re.fullmatch(r"sa-project-\d{6}-\d{6}-e5-s5-3-review", session)
    seen = stories.root / "seen"
    until(seen.exists, stories.root)
    lines = seen.read_text().splitlines()
    assert {"STORY_AUTOMATOR_CHILD=true", "AI_AGENT=claude", "CLAUDECODE=", str(stories.root)} <= set(lines)
    size = stories.office.tmux("display-message", "-p", "-t", f"={session}:", "#{pane_width}x#{pane_height}")
    assert size == "200x50\n"


def test_without_a_command_there_is_a_shell(stories: Stories) -> None:
    session = stories.wrapper("spawn", "dev", "5", "5.3")
    pane = stories.record(session)["pane"]["id"]
    stories.office.tmux.type(pane, "echo from-$((40 + 2))")
    stories.office.tmux.until_shows(pane, "from-42")


@pytest.mark.parametrize("shell", ["/bin/false", "/nowhere/fish"])
def test_whatever_shell_the_user_has_the_command_runs(stories: Stories, shell: str) -> None:
    session = stories.spawn("unset CLAUDECODE && echo 'it runs' && exit 4", SHELL=shell)
    assert stories.monitor(session)["exit_reason"] == "failed_exit_code_4"


def test_sessions_of_one_second_have_names_of_their_own(stories: Stories) -> None:
    calls = [
        stories.begin("tmux-wrapper", "spawn", "dev", "5", "5.3", "--command", f"echo {n}; sleep 600") for n in range(5)
    ]
    names = [stories.finish(call)[0].strip() for call in calls]
    assert len(set(names)) == len(names), names
    assert stories.office.sessions() == sorted(names)


def test_a_name_is_never_given_twice_though_its_session_is_gone(stories: Stories) -> None:
    first = stories.spawn("true")
    stories.wrapper("kill", first)
    assert first not in (stories.wrapper("name", "dev", "5", "5.3"), stories.spawn("true"))


def test_the_name_of_a_session_can_be_had_alone(stories: Stories) -> None:
    assert stories.wrapper("name", "review", "5", "5.3", "--cycle", "2").endswith("-e5-s5-3-review-r2")
    assert stories.wrapper("name", "review", "5", "5.3", "2").endswith("-e5-s5-3-review-r2")
    assert stories.wrapper("name", "dev", "5", "5-3-login").endswith("-e5-s5-3-login-dev")


def test_kill_ends_exactly_that_session_and_all_that_it_started(stories: Stories) -> None:
    session = stories.spawn("sleep 601 & echo $! > child; wait")
    until((stories.root / "child").exists, stories.root)
    child = int((stories.root / "child").read_text() or "0")
    other = f"{session}-r2"
    stories.office.tmux.start("sleep 602", other)
    stories.monitor(session, "--timeout", "0.01")
    assert stories.wrapper("kill", session) == ""
    until_gone(child)
    assert stories.office.sessions() == [other]
    assert not [name for name in os.listdir(stories.temporary) if session in name], "nor is anything left of it on disk"
    assert stories.wrapper("kill", session) == "", "whoever cleans up twice is not told off"


def test_a_name_is_not_matched_by_its_beginning(stories: Stories) -> None:
    session = stories.spawn("sleep 600")
    assert stories("tmux-wrapper", "exists", session).out == "true\n"
    gone = stories("tmux-wrapper", "exists", session[:-1])
    assert (gone.code, gone.out) == (1, "false\n")
    assert stories.status(session[:-1]) == ["not_found", "0", "0", "", "0", "not_found"]
    stories.wrapper("kill", session[:-1])
    assert stories.office.sessions() == [session]


def test_kill_all_of_a_project_spares_those_of_another_with_the_same_name(stories: Stories) -> None:
    twin = stories.root.parent / "twin" / stories.root.name
    twin.mkdir(parents=True)
    there = stories.wrapper("spawn", "dev", "5", "5.3", "--command", "sleep 600", PROJECT_ROOT=str(twin))
    here = [stories.spawn("sleep 600"), stories.spawn("true", "review")]
    stories.office.tmux.start("sleep 600", "mine")
    stories.office.tmux.start("sleep 600", "sa-project-250101-101010-e1-s1-1-dev", cwd=str(stories.root))
    stories.office.tmux.start("sleep 600", "sa-project-250101-101011-e1-s1-1-dev", cwd=str(twin))
    assert set(stories.wrapper("list", "--project-only").split()) == {*here, "sa-project-250101-101010-e1-s1-1-dev"}
    assert stories.wrapper("kill-all", "--project-only") == "Killed 3 sessions"
    assert stories.office.sessions() == sorted([there, "mine", "sa-project-250101-101011-e1-s1-1-dev"])
    assert stories.wrapper("kill-all") == "Killed 2 sessions"
    assert stories.office.sessions() == ["mine"]


def test_where_no_server_runs_nothing_is_listed_and_nothing_started(stories: Stories) -> None:
    assert stories.wrapper("list") == ""
    assert stories.wrapper("kill-all", "--project-only") == "Killed 0 sessions"
    assert stories("tmux-wrapper", "exists", "sa-x").code == 1
    assert not stories.office.tmux.socket.exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["spawn", "dev", "5"], "a session needs <step> <epic> <story_id>"),
        (["spawn", "strange", "5", "5.3", "--command", "true"], "'strange' is no step"),
        (["spawn", "dev", "5", "../../etc", "--command", "true"], "is no story"),
        (["spawn", "dev", "5", "5.3", "--command", " "], "--command is empty"),
        (["spawn", "dev", "5", "5.3", "--command"], "--command requires a value"),
        (["spawn", "dev", "5", "5.3", "--command", "true", "--cycle", "x"], "--cycle is a number"),
        (["spawn", "dev", "5", "5.3", "--command", "true", "--agent", "strange"], "'strange'; "),
        (["kill"], "needs one <session_name>"),
        (["kill", "a.b"], "tmux writes `.` and `:` as `_`; say a_b"),
        (["exists", "a:1"], "say a_1"),
        (["kill", ""], "is no session"),
        (["strange"], "Unknown action: 'strange'"),
        ([], "Usage: tmux-wrapper"),
    ],
)
def test_what_cannot_be_done_is_said_and_nothing_is_started(stories: Stories, words: list[str], says: str) -> None:
    done = stories("tmux-wrapper", *words)
    assert (done.code, done.out) == (1, ""), done
    assert says in done.err
    assert "Traceback" not in done.err
    assert not stories.office.tmux.socket.exists()


def test_what_sessions_left_a_day_ago_is_taken_away(stories: Stories) -> None:
    session = stories.spawn("echo done")
    old = Path(stories.monitor(session)["output_file"])
    other = stories.temporary / "sa-00000000-output-x.txt"
    other.write_text("another project's")
    for path in (old, other):
        os.utime(path, (0, 0))
    stories.spawn("true")
    assert (old.exists(), other.exists()) == (False, True)


def test_a_session_is_one_of_midwatch_too(stories: Stories) -> None:
    session = stories.agent("work")
    stories.until_status(session, "in_progress")
    assert stories.midwatch("why", session, "--json").json["state"] == "working"
