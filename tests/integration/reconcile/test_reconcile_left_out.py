"""A session with one of our names whose directory is elsewhere: the plan and `why` say that it is left out, and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.integration.reconcile.workspace import Workspace

NAME = "out-creator-claude"


@pytest.fixture
def outside(workspace: Workspace) -> Path:
    """A session that is in no row, in a directory beside the workspace."""
    found = workspace.home / "outside"
    found.mkdir()
    workspace.write("sessions: []\n")
    workspace.session(NAME, cwd=found)
    return found


def pane_of(workspace: Workspace, session: str = NAME) -> str:
    return workspace.tmux("display-message", "-p", "-t", f"={session}:", "#{pane_id}").strip()


def test_plan_json_and_why_say_the_same_of_a_session_elsewhere(workspace: Workspace, outside: Path) -> None:
    pane, why = pane_of(workspace), f"its directory {outside} is not in the workspace {workspace.root}"
    line = f"{NAME} (pane {pane}): not registered, {why}"
    plan = workspace("--dry-run")
    assert (plan.code, plan.out.splitlines()) == (0, [f"left out  {line}"])
    left = {"session": NAME, "pane": pane, "directory": str(outside), "cause": "outside", "why": why}
    for arguments in (("--dry-run",), ()):
        found = workspace.diff(*arguments)
        assert (found["drifts"], found["standing"], found["left_out"]) == ([], 0, [left])
    for target in (pane, f"={NAME}"):
        assert f"  registry: {line}" in workspace.box("why", target).out.splitlines()
        assert workspace.box("why", target, "--json").json["left_out"] == left
    assert workspace("--once").out == "", "it is no drift"
    assert workspace.rows() == {}


def test_why_says_nothing_of_a_session_that_the_list_has_or_will_have(workspace: Workspace) -> None:
    workspace.write("sessions: []\n")
    workspace.session(NAME)
    for _ in range(2):
        assert "registry:" not in workspace.box("why", f"={NAME}").out
        assert "left_out" not in workspace.box("why", f"={NAME}", "--json").json
        workspace.diff()
    assert list(workspace.rows()) == [NAME]


def test_why_answers_although_the_list_cannot_be_read(workspace: Workspace, outside: Path) -> None:
    assert outside.is_dir()
    workspace.write("sessions: [")
    done = workspace.box("why", pane_of(workspace))
    assert done.code == 0
    assert "registry:" not in done.out
    assert "agent-sessions.yaml:2: no YAML" in done.err
    assert "whether the list has this pane is not known" in done.err


def test_why_of_a_session_without_an_agent_says_so(workspace: Workspace) -> None:
    workspace.tmux.start("cat", "plain")
    done = workspace.box("why", "=plain")
    assert done.code == 7
    assert "no agent in a session 'plain' there" in done.err


def test_a_directory_that_is_no_text_is_told_as_json_can_tell_it(workspace: Workspace) -> None:
    odd = os.fsdecode(os.fsencode(workspace.home) + b"/odd\xff")
    os.mkdir(odd)
    workspace.write("sessions: []\n")
    workspace.session(NAME, cwd=Path(odd))
    (left,) = workspace.diff("--dry-run")["left_out"]
    assert left["directory"] == odd
    assert workspace.box("why", f"={NAME}", "--json").json["left_out"] == left
