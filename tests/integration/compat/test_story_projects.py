"""The files of a session's own project decide about its work, wherever a call is made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import until
from tests.integration.compat.stories import ARTIFACTS, Stories

DONE, OPEN = "development_status:\n  5-3-login: done\n", "development_status:\n  5-3-login: in-progress\n"


@pytest.fixture
def other(stories: Stories) -> Path:
    """Another project, from which calls are made."""
    found = stories.root.parent / "other"
    found.mkdir()
    return found


def sprint(project: Path, text: str) -> None:
    (project / ARTIFACTS).mkdir(parents=True)
    (project / ARTIFACTS / "sprint-status.yaml").write_text(text)


def told(found: dict[str, object]) -> tuple[object, object, object]:
    return found["final_state"], found["exit_reason"], found["output_verified"]


@pytest.mark.parametrize(
    ("own", "others", "expected"),
    [
        (OPEN, DONE, ("incomplete", "workflow_not_complete", False)),
        (DONE, OPEN, ("completed", "verified_complete", True)),
    ],
)
@pytest.mark.parametrize("said", [False, True])
def test_a_session_is_verified_by_its_own_project_and_the_output_says_so(
    stories: Stories, other: Path, own: str, others: str, expected: tuple[str, str, bool], *, said: bool
) -> None:
    sprint(stories.root, own)
    sprint(other, others)
    session = stories.spawn("echo shown")
    words = ["monitor-session", session, "--json", *(["--project-root", str(other)] if said else [])]
    done = stories(*words, PROJECT_ROOT=str(stories.root if said else other))
    found = json.loads(done.out)
    assert told(found) == expected
    assert (found["project"], found["caller_project"]) == (str(stories.root), str(other))
    assert f"its own project is {stories.root}" in done.err
    assert str(other) in done.err
    line = stories("monitor-session", session, PROJECT_ROOT=str(other))
    assert len(line.out.split(",")) == len(("state", "done", "total", "file", "reason"))
    assert str(other) in line.err


def test_a_session_that_tmux_has_no_more_keeps_its_project(stories: Stories, other: Path) -> None:
    sprint(stories.root, OPEN)
    sprint(other, DONE)
    session = stories.spawn("sleep 600", MIDWATCH_HOME="")
    stories.office.tmux("kill-session", "-t", f"={session}")
    until(lambda: session not in stories.office.sessions())
    found = stories.monitor(session, PROJECT_ROOT=str(other), MIDWATCH_HOME="")
    assert told(found) == ("not_found", "stopped", False)
    assert found["project"] == str(stories.root)


@pytest.mark.parametrize("below", ["", "src"])
def test_a_session_that_is_not_ours_is_of_the_project_around_it(stories: Stories, other: Path, below: str) -> None:
    sprint(stories.root, OPEN)
    sprint(other, DONE)
    where = stories.root / below
    where.mkdir(exist_ok=True)
    name = "sa-project-250101-101010-e5-s5-3-dev"
    pane = stories.office.tmux.start("sleep 600", name, cwd=str(where))
    stories.office.tmux("set-option", "-p", "-t", pane, "remain-on-exit", "on")
    stories.office.tmux("respawn-pane", "-k", "-t", pane, "-c", str(where), "exit 0")
    found = stories.monitor(name, PROJECT_ROOT=str(other))
    assert told(found) == ("incomplete", "workflow_not_complete", False)
    assert found["project"] == str(stories.root)


def test_other_commands_find_a_session_from_another_project_too(stories: Stories, other: Path) -> None:
    session = stories.spawn("exit 3", MIDWATCH_HOME="")
    elsewhere = {"PROJECT_ROOT": str(other), "MIDWATCH_HOME": ""}
    stories.until_status(session, "crashed", **elsewhere)
    assert stories("heartbeat-check", session, **elsewhere).out == "dead,0.0,,false\n"
    assert stories.monitor(session, **elsewhere)["exit_reason"] == "failed_exit_code_3"
    stories.wrapper("kill", session, **elsewhere)
    assert not [path.name for path in stories.temporary.iterdir() if session in path.name]
