"""Where a resume is typed, and where it is not."""

from __future__ import annotations

import os
import pty
import shlex
import shutil
from pathlib import Path

import pytest

from midwatch.core.foreign_text import NOTHING
from midwatch.taskdir.model import WrapperPane
from midwatch.tmux.sessions import TmuxSessions
from tests.conftest import alive, tool, until
from tests.integration.adopt.elsewhere import switches
from tests.integration.panes.agent import SCREENS
from tests.integration.three_layer_monitor.conftest import Make
from tests.integration.three_layer_monitor.tasks import QUICK, Task, outcome
from tests.integration.three_layer_monitor.test_task_defects import crash


def test_a_resume_goes_to_the_pane_of_the_task_and_to_no_other(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    other = task.private("split-window", "-P", "-F", "#{pane_id}", "-t", task.pane, "cat").strip()
    with task.watched() as process:
        crash(task, agent)
        assert outcome(process)["state"] == "completed"
    assert not any("wrapper" in row for row in task.private.screen(other))


def test_a_resume_waits_until_the_pane_is_at_its_shell_again(task: Task) -> None:
    """A person has started something there; it is not typed into."""
    task.plan("", "exit 0")
    agent = task.begin()
    task.private("send-keys", "-t", task.pane, "cat", "Enter")  # typed ahead: it runs when the agent is gone
    with task.watched() as process:
        crash(task, agent)
        until(lambda: task.has("midwatch.json") and task.notes()["phase"] == "ready", task.dir)
        until(lambda: task.private("display-message", "-p", "-t", task.pane, "#{pane_current_command}") == "cat\n")
        looked = switches(process.pid)
        until(lambda: switches(process.pid) > looked + 30)  # it has had every opportunity
        assert (task.notes()["phase"], task.modes()) == ("ready", ["fresh"])
        task.private("send-keys", "-t", task.pane, "C-d")
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


def test_a_wrapper_that_alone_was_told_the_directory_is_told_it_again(task: Task) -> None:
    task.plan("", "exit 0")
    task.open(variable=False)
    agent = task.dispatch(f"TASK_TMPDIR={shlex.quote(str(task.dir))} ")
    with task.watched() as process:
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


def test_a_wrapper_that_was_run_by_a_relative_path_is_found_from_anywhere(task: Task) -> None:
    task.plan("", "exit 0")
    task.open()
    where = shlex.quote(str(task.wrapper.parent))
    task.private("send-keys", "-t", task.pane, f"cd {where} && bash wrapper.sh ; cd /", "Enter")
    agent = task.until_run(1)
    with task.watched() as process:
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


def test_a_session_that_was_renamed_is_known_by_its_pane(task: Task) -> None:
    task.plan("", "exit 0")
    agent = task.begin()
    with task.watched() as process:
        task.private("rename-session", "-t", f"={task.name}", "another")
        crash(task, agent)
        found = outcome(process)
    assert (found["state"], task.modes()) == ("completed", ["fresh", "resumed"])


def test_a_directory_of_another_session_is_refused(make: Make) -> None:
    task, other = make("claude-a"), make("claude-b")
    task.open()
    other.open()
    with task.start(name="claude-b") as process:
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, "is of the session claude-a, not of claude-b" in errors) == (2, True), errors
    assert "is of the session claude-a, not of claude-b" in errors


def test_a_task_whose_pane_runs_the_wrapper_itself_is_not_ended_for_it_could_not_be_resumed(task: Task) -> None:
    task.open(shell=f"exec bash {shlex.quote(str(task.wrapper))}")
    agent = task.until_run(1)
    found = task.verdict(QUICK)
    assert (found["state"], found["final"]) == ("stuck", False)
    assert "not resumed: its pane has no shell" in found["reason"]
    assert alive(agent)


def test_cleanup_closes_the_capture_and_kills_the_session_at_the_end(make: Make) -> None:
    other, task = make("claude-other"), make()
    bystander = other.begin()
    task.plan("exit 3")
    task.begin()
    found = task.verdict(cleanup=True)
    assert (found["state"], task.sessions()) == ("failed", ["claude-other"])
    assert alive(bystander)


def test_without_cleanup_the_session_outlives_its_monitor(task: Task) -> None:
    task.plan("exit 0")
    task.begin()
    assert task.verdict()["state"] == "completed"
    assert task.sessions() == [task.name]


@pytest.mark.parametrize(("case", "state", "code"), [("permission-bash", "waiting", 8)])
def test_an_agent_that_waits_for_a_person_is_told_and_never_stuck(task: Task, case: str, state: str, code: int) -> None:
    program, text = task.home / "claude", task.home / "screen.txt"
    shutil.copy(tool("sleep"), program)
    rows = (SCREENS / "claude" / case / "screen.txt").read_text().rstrip("\n")
    text.write_text(rows)
    shown = f"stty -echo; cat {shlex.quote(str(text))}; exec {shlex.quote(str(program))} 1000"
    pane = task.private.start(shown, task.name, size=(120, 40))
    pid = int(task.private("display-message", "-p", "-t", pane, "#{pane_pid}"))
    until(lambda: task.private("display-message", "-p", "-t", pane, "#{pane_current_command}") == "claude\n")
    (task.dir / "pid").write_text(f"{pid}\n")
    found = task.verdict(QUICK._replace(base_s=2.0))
    assert (found["state"], found["code"], found["final"]) == (state, code, False)
    assert alive(pid)


# The hand


@pytest.fixture
def shell(task: Task) -> WrapperPane:
    pane = task.open(capture=False)
    until(lambda: any(row.strip() for row in task.private.screen(pane)))
    return WrapperPane(pane, int(task.private("display-message", "-p", "-t", pane, "#{pane_pid}")), NOTHING)


@pytest.mark.parametrize("text", ["echo 'a; b' #{pane_id} $HOME", "true ~/x \\\\", "echo -n ümlaut '%1' \"{}\""])
def test_a_command_is_typed_as_it_stands_and_leaves_nothing_behind(task: Task, shell: WrapperPane, text: str) -> None:
    assert TmuxSessions(task.private.server).type_line(shell.id, shell.pid, text) == ""
    task.private.until_shows(shell.id, text)
    assert task.private("list-buffers") == ""


def test_nothing_is_typed_into_a_pane_that_is_in_a_mode_or_another_by_now(task: Task, shell: WrapperPane) -> None:
    hand = TmuxSessions(task.private.server)
    assert hand.type_line(shell.id, 1, "echo typed") != ""
    task.private("copy-mode", "-t", shell.id)
    assert hand.type_line(shell.id, shell.pid, "echo typed") == "it is in copy mode"
    assert hand.type_line("%99", shell.pid, "echo typed") != ""
    task.private("send-keys", "-t", shell.id, "-X", "cancel")
    assert not any("typed" in row for row in task.private.screen(shell.id))
    assert task.private("list-buffers") == ""


def test_only_the_session_of_exactly_that_name_is_cleared_away(make: Make) -> None:
    longer = make("claude-ab")
    longer.open()
    assert TmuxSessions(longer.private.server).end_session("claude-a", "") == ""
    assert longer.sessions() == ["claude-ab"]


def test_a_server_that_is_gone_before_it_answers_has_ended_the_session(task: Task, tmp_path: Path) -> None:
    """Tmux ends with its last session. Its client may then see only that the server has gone."""
    unlucky = tmp_path / "tmux"
    unlucky.write_text(
        f'#!/bin/sh\n{tool("tmux")} "$@"\n'
        'case "$*" in *kill-session*) echo "server exited unexpectedly" >&2; exit 1;; esac\n'
    )
    unlucky.chmod(0o755)
    task.private.start("cat", "other")
    assert TmuxSessions(task.private.server, str(unlucky)).end_session("other", "") == ""


def test_nothing_is_typed_while_somebody_who_is_attached_types(task: Task, shell: WrapperPane) -> None:
    hand = TmuxSessions(task.private.server)
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "screen"
        os.execv(tool("tmux"), ["tmux", *task.private.server, "attach", "-t", shell.id])
    try:
        until(lambda: task.private("list-clients") != "")
        assert hand.type_line(shell.id, shell.pid, "echo typed") == "somebody is typing there"
        task.private("detach-client", "-s", f"={task.name}")
        until(lambda: task.private("list-clients") == "")
        assert hand.type_line(shell.id, shell.pid, "echo typed") == ""
    finally:
        os.close(terminal)
        os.waitpid(pid, 0)
