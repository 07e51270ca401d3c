"""`story-automator` itself: what it says where it is called wrongly."""

from __future__ import annotations

import pytest

from tests.integration.compat.automator import Automator

NO_STORIES = ["../../etc", "5", "", "5.3;rm", "5.3 ", "5.3\n", "a.b", "5-3-", "5.3/x", "$(id)", "-5.3", "\u0665.\u0663"]
NO_SESSIONS = ["", "a b", "a:1", "a.0", "=a", "-t", "$1", "a\n", "x" * 161, "../a"]


def test_its_commands_are_listed(automator: Automator) -> None:
    done = automator("--help")
    assert done.code == 0
    assert {"tmux-wrapper", "monitor-session", "orchestrator-helper", "validate-story-creation"} <= {*done.out.split()}


@pytest.mark.parametrize("command", ["orchestrator-helper", "validate-story-creation", "tmux-wrapper"])
def test_each_says_what_it_takes(automator: Automator, command: str) -> None:
    done = automator(command, "--help")
    assert (done.code, done.err, done.out.startswith(f"Usage: {command}")) == (0, "", True)
    assert f"Usage: {command}" in automator.refuses(command)
    assert "'nonsense'" in automator.refuses(command, "nonsense")


@pytest.mark.parametrize("words", [[], ["nonsense"], ["nonsense", "--json"], ["stop-hook"], [""]])
def test_an_unknown_command_is_refused_with_those_that_there_are(automator: Automator, words: list[str]) -> None:
    assert "orchestrator-helper" in automator.refuses(*words)


@pytest.mark.parametrize(
    "words",
    [
        ["orchestrator-helper", "sprint-status"],
        ["orchestrator-helper", "sprint-status", "nonsense"],
        ["orchestrator-helper", "sprint-status", "get"],
        ["orchestrator-helper", "sprint-status", "check-epic"],
        ["orchestrator-helper", "marker"],
        ["orchestrator-helper", "marker", "nonsense"],
        ["orchestrator-helper", "marker", "create"],
        ["orchestrator-helper", "marker", "create", "--epic", "5", "--story", "5.3"],
        ["orchestrator-helper", "marker", "create", "--epic", "5", "--story", "5.3", "--remaining"],
        ["orchestrator-helper", "escalate"],
        ["orchestrator-helper", "escalate", "review-loop"],
        ["orchestrator-helper", "escalate", "review-loop", "5"],
        ["validate-story-creation", "count"],
        ["validate-story-creation", "list"],
        ["validate-story-creation", "prefix"],
        ["tmux-wrapper", "build-cmd"],
        ["tmux-wrapper", "build-cmd", "create"],
        ["tmux-wrapper", "build-cmd", "create", "5.3", "--agent"],
        ["tmux-wrapper", "build-cmd", "create", "5.3", "--state-file"],
        ["tmux-wrapper", "story-suffix"],
    ],
    ids=" ".join,
)
def test_a_missing_argument_is_named(automator: Automator, words: list[str]) -> None:
    assert len(automator.refuses(*words).splitlines()) == 1


@pytest.mark.parametrize("story", NO_STORIES)
def test_what_is_no_story_is_refused(automator: Automator, story: str) -> None:
    automator.story("5-3-login")
    for words in (
        ["orchestrator-helper", "sprint-status", "get", story],
        ["orchestrator-helper", "marker", "create", "--epic", "5", "--story", story, "--remaining", "1"],
        ["validate-story-creation", "count", story],
        ["validate-story-creation", "list", story],
        ["validate-story-creation", "prefix", story],
        ["tmux-wrapper", "build-cmd", "create", story],
        ["tmux-wrapper", "story-suffix", story],
    ):
        automator.refuses(*words)
    said = automator.says("validate-story-creation", "check", story, code=1)
    assert (said["valid"], said["action"]) == (False, "escalate")
    assert not (automator.root / ".claude").exists()


@pytest.mark.parametrize("session", NO_SESSIONS)
def test_what_is_no_session_is_refused(automator: Automator, session: str) -> None:
    for command in (["tmux-wrapper", "kill"], ["tmux-wrapper", "exists"], ["monitor-session"], ["tmux-status-check"]):
        automator.refuses(*command, session)


@pytest.mark.parametrize("session", ["sa-x.1", "sa-x:1"])
def test_a_session_with_a_dot_or_a_colon_is_told_how_tmux_spells_it(automator: Automator, session: str) -> None:
    assert "sa-x_1" in automator.refuses("tmux-wrapper", "kill", session)


def test_a_project_that_is_not_there_is_refused(automator: Automator) -> None:
    assert "/nowhere" in automator.refuses("tmux-wrapper", "project-slug", PROJECT_ROOT="/nowhere")
