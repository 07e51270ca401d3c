"""The four examples that tmux-agent-orchestrate-monitor prints, with real tmux and real files.

What is written, and what is printed.
"""

from __future__ import annotations

from tests.integration.reconcile.workspace import BEFORE, Workspace

CLAUDE, AGY = "lab-landing-page-creator-claude", "lab-paper-pdf2md-creator-agy"


def test_a_tmux_dead_yaml_says_running_auto_terminate(workspace: Workspace) -> None:
    workspace.write(f"""\
# sessions of the lab
sessions:
  - name: {CLAUDE}   # the landing page
    status: running
    pane:
      pid: 4194304   # no pid is as high
      cmd: claude
      {BEFORE}
""")
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["session"], drift["applied"]) == ("A", CLAUDE, True)
    assert drift["message"] == f"{CLAUDE}: tmux gone (was pane 4194304, cmd claude). Marked terminated."
    row = workspace.rows()[CLAUDE]
    assert (row["status"], row["termination_mode"]) == ("terminated", "auto-detected")
    assert str(row["terminated_at"]) == drift["after"]["terminated_at"]
    text = workspace.registry.read_text()
    assert "# the landing page" in text
    assert "# no pid is as high" in text
    assert workspace.drifts() == []


def test_a_stopped_row_keeps_its_resumable_and_its_id(workspace: Workspace) -> None:
    talk = workspace.conversation(workspace.root)
    text = f"""\
sessions:
  - name: {CLAUDE}
    status: stopped
    resumable: true
    claude_session_id_own: {talk}
  - name: old-creator-claude
    status: archived
  - name: dead-creator-claude
    status: terminated
    termination_mode: "by hand"
"""
    workspace.write(text)
    assert workspace.drifts() == []
    assert workspace.registry.read_text() == text


def test_b_tmux_alive_not_in_yaml_auto_register(workspace: Workspace) -> None:
    workspace.write("sessions: []\n")
    where = workspace.directory("paper-pdf2md")
    pid = workspace.session(AGY, "agy", where)
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["session"], drift["applied"]) == ("B", AGY, True)
    assert drift["message"] == f"{AGY}: tmux found but not in the list. Auto-registered."
    row = workspace.rows()[AGY]
    assert (row["status"], row["last_visible_status"]) == ("running", "auto-registered")
    assert (row["pane"]["pid"], row["pane"]["cmd"], row["pane"]["cwd"]) == (pid, "agy", str(where))
    assert workspace.drifts() == []


def test_c_a_new_session_id_materializes(workspace: Workspace) -> None:
    where = workspace.directory("landing-page")
    pid = workspace.session(CLAUDE, "claude", where)
    workspace.write(f"""\
sessions:
  - name: {CLAUDE}
    status: running
    pane: {{pid: {pid}, cmd: claude, cwd: {where}}}
    claude_session_id_own: null   # placeholder
""")
    assert workspace.drifts() == []
    talk = workspace.conversation(where)
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["after"]) == ("C", {"claude_session_id_own": talk})
    assert drift["message"].startswith(f"{CLAUDE}: session id materialized {talk}")
    assert workspace.rows()[CLAUDE]["claude_session_id_own"] == talk
    assert "# placeholder" in workspace.registry.read_text()
    assert workspace.drifts() == []


def test_d_a_stale_uuid_is_flagged_and_stays(workspace: Workspace) -> None:
    where = workspace.directory("landing-page")
    pid = workspace.session(CLAUDE, "claude", where)
    text = f"""\
sessions:
  - name: {CLAUDE}
    status: running
    pane: {{pid: {pid}, cmd: claude, cwd: {where}}}
    agent_identities:
      claude:
        session_id: 87dc548e-0000-4000-8000-000000000000
"""
    (workspace.home / ".claude" / "projects").mkdir(parents=True)
    workspace.write(text)
    (drift,) = workspace.drifts()
    assert (drift["class"], drift["applied"], drift["after"]) == ("D", False, {})
    assert "87dc548e-0000-4000-8000-000000000000" in drift["message"]
    assert workspace.registry.read_text() == text
    assert workspace.drifts() == [], "told once until it changes"
