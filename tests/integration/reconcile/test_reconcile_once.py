"""One pass: what is written, what is said, and what is remembered of it."""

from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

from tests.conftest import until
from tests.integration.reconcile.workspace import BEFORE, Workspace

NAME = "lab-creator-claude"


LOST = f"    pane: {{{BEFORE}}}\n"


def row(name: str = NAME, status: str = "running", more: str = LOST) -> str:
    return f"  - name: {name}\n    status: {status}\n{more}"


def test_a_list_that_is_true_is_not_written(workspace: Workspace) -> None:
    pid = workspace.session(NAME)
    workspace.write("sessions:\n" + row(more=f"    pane: {{pid: {pid}, cmd: claude, cwd: {workspace.root}}}\n"))
    before = workspace.registry.stat()
    found = workspace.diff()
    assert (found["schema"], found["checked"], found["drifts"]) == (1, 1, [])
    after = workspace.registry.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_dry_run_shows_everything_and_writes_nothing(workspace: Workspace) -> None:
    workspace.write("sessions:\n" + row())
    text = workspace.registry.read_text()
    for _ in range(2):
        (drift,) = workspace.drifts("--dry-run")
        assert (drift["class"], drift["applied"]) == ("A", False)
        assert "Marked" not in drift["message"]
    assert workspace.registry.read_text() == text
    assert [path.name for path in workspace.root.rglob("*") if path.is_file()] == ["agent-sessions.yaml"]


def test_what_was_there_before_is_kept_beside_it(workspace: Workspace) -> None:
    workspace.write("sessions:\n" + row())
    text = workspace.registry.read_text()
    workspace.registry.chmod(0o640)
    workspace.drifts()
    assert workspace.registry.with_name("agent-sessions.yaml.bak").read_text() == text
    assert stat.S_IMODE(workspace.registry.stat().st_mode) == 0o640


def test_each_drift_is_told_once_until_it_changes(workspace: Workspace) -> None:
    workspace.session(NAME)
    ended = datetime.now(UTC) - timedelta(hours=1)
    workspace.write("sessions:\n" + row(status="stopped", more=f"    stopped_at: {ended.isoformat()}\n"))
    assert [drift["class"] for drift in workspace.drifts()] == ["alive"]
    again = workspace.diff()
    assert (again["drifts"], again["standing"]) == ([], 1)
    workspace.tmux("kill-session", "-t", f"={NAME}")
    assert workspace.diff()["standing"] == 0
    workspace.session(NAME)
    assert [drift["class"] for drift in workspace.drifts()] == ["alive"], "it went away and came back"


def test_what_was_told_is_remembered_in_the_workspace(workspace: Workspace) -> None:
    workspace.write("sessions:\n" + row())
    workspace.drifts()
    state = workspace.root / ".cache" / "tmux-agent-orchestrate-monitor" / "workspace.state"
    assert json.loads(state.read_text())["schema"] == 1


def test_the_state_directory_can_be_elsewhere(workspace: Workspace) -> None:
    workspace.write("sessions:\n" + row())
    workspace.drifts(AGENT_SESSIONS_STATE_DIR=str(workspace.home / "states"))
    assert (workspace.home / "states" / "workspace.state").exists()
    assert not (workspace.root / ".cache").exists()


def test_a_person_who_acts_within_five_seconds_has_the_last_word(workspace: Workspace) -> None:
    """A row that was just written is not judged at once; what its owner writes then stands."""
    workspace.write("sessions:\n" + row(), age=0)
    with workspace.box.start("reconcile", "--once", "--emit-diff") as running:
        workspace.write("sessions:\n" + row(status="stopped", more="    resumable: true\n"), age=0)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, json.loads(out)["drifts"]) == (0, []), err
    assert workspace.rows()[NAME] == {"name": NAME, "status": "stopped", "resumable": True}


def test_the_list_is_found_upwards_and_workspace_root_is_honoured(workspace: Workspace) -> None:
    workspace.write("sessions:\n" + row())
    workspace.box.cwd = workspace.directory("deep")
    assert [drift["class"] for drift in workspace.drifts()] == ["A"]
    workspace.write("sessions:\n" + row())
    workspace.box.cwd = workspace.home
    assert [drift["class"] for drift in workspace.drifts(WORKSPACE_ROOT=str(workspace.root))] == ["A"]


def test_a_list_of_our_own_name_serves_where_there_is_no_hermes(workspace: Workspace) -> None:
    workspace.registry = workspace.root / "midwatch-sessions.yaml"
    workspace.write("sessions:\n" + row())
    assert [drift["class"] for drift in workspace.drifts()] == ["A"]


def test_a_session_goes_to_the_list_whose_workspace_it_is_in(workspace: Workspace) -> None:
    inner = workspace.directory("inner")
    (inner / "midwatch-sessions.yaml").write_text("sessions: []\n")
    outside = workspace.home / "outside"
    outside.mkdir()
    workspace.write("sessions: []\n")
    for name, where in (
        ("own-creator-claude", workspace.root),
        ("in-creator-claude", inner),
        ("out-creator-claude", outside),
    ):
        workspace.session(name, cwd=where)
    assert [drift["session"] for drift in workspace.drifts()] == ["own-creator-claude"]
    os.utime(inner / "midwatch-sessions.yaml", (1, 1))
    found = workspace.drifts("--registry", str(inner / "midwatch-sessions.yaml"))
    assert [drift["session"] for drift in found] == ["in-creator-claude"]


def test_the_naming_can_be_configured(workspace: Workspace) -> None:
    (workspace.root / "midwatch.toml").write_text('[registry]\nnaming = ["agent-*"]\n')
    workspace.write("sessions: []\n")
    workspace.session("agent-7")
    workspace.session("lab-creator-claude")
    assert [drift["session"] for drift in workspace.drifts()] == ["agent-7"]


def test_an_agent_that_exited_to_a_shell_is_told(workspace: Workspace) -> None:
    pane = workspace.tmux.start("sh", NAME, cwd=str(workspace.root))

    def runs(command: str) -> bool:
        return workspace.tmux("display-message", "-p", "-t", pane, "#{pane_current_command}").strip() == command

    until(lambda: runs("sh"))
    shell = workspace.tmux("display-message", "-p", "-t", pane, "#{pane_pid}").strip()
    workspace.tmux("send-keys", "-t", pane, f"{workspace.agents / 'claude'} 1000", "Enter")
    until(lambda: runs("claude"))
    workspace.write("sessions:\n" + row(more=f"    pane: {{pid: {shell}, cmd: claude, cwd: {workspace.root}}}\n"))
    assert workspace.drifts() == []
    workspace.tmux("send-keys", "-t", pane, "C-c")
    until(lambda: runs("sh"))
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["applied"]) == ("exited", False)
    assert workspace.rows()[NAME]["status"] == "running"


def test_a_dead_pane_that_tmux_keeps_is_no_running_agent(workspace: Workspace) -> None:
    pid = workspace.session(NAME)
    workspace.tmux("set-option", "-t", f"={NAME}:", "remain-on-exit", "on")
    workspace.write("sessions:\n" + row(more=f"    pane: {{pid: {pid}, cmd: claude, cwd: {workspace.root}}}\n"))
    os.kill(pid, 9)
    until(lambda: workspace.tmux("display-message", "-p", "-t", f"={NAME}:", "#{pane_dead}").strip() == "1")
    (drift,) = workspace.drifts()
    assert drift["class"] == "exited"


def test_a_session_that_was_made_anew_is_noted(workspace: Workspace) -> None:
    workspace.write("sessions:\n" + row(more="    pane: {pid: 4194304, cmd: claude}\n"))
    pid = workspace.session(NAME)
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["applied"], drift["after"]["pane.pid"]) == ("moved", True, pid)
    assert workspace.rows()[NAME]["pane"]["pid"] == pid
    assert workspace.drifts() == []


def test_a_session_that_was_renamed_is_told(workspace: Workspace) -> None:
    pid = workspace.session(NAME)
    pane = workspace.tmux("display-message", "-p", "-t", f"={NAME}:", "#{pane_id}").strip()
    workspace.write("sessions:\n" + row(more=f"    pane: {{pid: {pid}, cmd: claude, id: '{pane}'}}\n"))
    workspace.tmux("rename-session", "-t", f"={NAME}", "other")
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["applied"]) == ("moved", False)
    assert "other" in drift["message"]


def test_rows_that_ended_long_ago_are_pruned_only_on_demand(workspace: Workspace) -> None:
    old = row("old-creator-claude", "terminated", "    terminated_at: 2020-01-01T00:00:00Z  # long ago\n")
    workspace.write("# mine\nsessions:\n" + old + row("new-creator-claude", "stopped", "    note: mine  # kept\n"))
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["applied"]) == ("old", False)
    workspace.age()
    (drift,) = workspace.drifts("--prune")
    assert (drift["class"], drift["applied"]) == ("old", True)
    assert list(workspace.rows()) == ["new-creator-claude"]
    assert "# mine" in workspace.registry.read_text()
    assert "# kept" in workspace.registry.read_text()


def test_a_new_drift_is_an_event_and_a_notice(workspace: Workspace) -> None:
    told = workspace.home / "told"
    (workspace.root / "midwatch.toml").write_text(
        f'[notify]\ncommand = ["sh", "-c", "echo \\"$1\\" >> {told}", "-", "{{text}}"]\n'
    )
    assert workspace.box("trust", "--yes").code == 0
    workspace.write("sessions:\n" + row())
    workspace.drifts()
    events = [json.loads(line) for line in workspace.box("events", "--json").out.splitlines()]
    (event,) = [each for each in events if each["event"] == "drift"]
    assert (event["name"], event["class"], event["applied"]) == (NAME, "A", True)
    until(lambda: told.exists() and told.read_text() != "", workspace.home)
    assert told.read_text() == f"{NAME}: tmux gone. Marked terminated.\n"


@pytest.mark.parametrize("flags", [("--emit-diff",), ("--once", "--emit-diff"), ("--once",)], ids=" ".join)
def test_a_worker_of_a_board_that_asks_for_a_diff_gets_it_and_no_more(
    workspace: Workspace, flags: tuple[str, ...]
) -> None:
    workspace.write("sessions: []\n")
    assert workspace(*flags, HERMES_KANBAN_TASK="t_12345678").code == 0


def test_people_get_lines(workspace: Workspace) -> None:
    workspace.write("sessions:\n" + row())
    done = workspace()
    assert (done.code, done.out) == (0, f"A         {NAME}: tmux gone. Marked terminated.\n")
    done = workspace()
    assert (done.code, done.out) == (0, "")
    assert "no drift" in done.err
