"""The workflow that story-automator prints, unchanged, with real agents: spawn, monitor, parse, act, clean up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.agents.conftest import need
from tests.lab.homes import Wish
from tests.lab.lab import REPOSITORY, Lab

SLOW = 240.0
ARTIFACTS = "_bmad-output/implementation-artifacts"
STORY = f"{ARTIFACTS}/5-3-login.md"
WRITTEN = f"[[write {STORY} # Story 5.3\\nStatus: ready-for-dev\\n]] [[text Created the story file.]]"
JSON = json.dumps(
    {
        "status": "SUCCESS",
        "summary": "It is there.",
        "story_created": True,
        "story_file": None,
        "next_action": "proceed",
    }
)
TWO = pytest.mark.parametrize(
    "agent",
    [pytest.param("claude", marks=pytest.mark.claude), pytest.param("codex", marks=[pytest.mark.codex])],
)


class Desk:
    """Where stories are worked at: a project, both agents (Claude Code parses for either), and the program."""

    def __init__(self, lab: Lab, agent: str, **wish: Any) -> None:
        need("claude")
        need(agent)
        self.lab, self.agent = lab, agent
        home = lab.root / "desk"
        env = {"IS_SANDBOX": "1", **wish.pop("env", {})}
        place, _, environment = lab.settle("claude", Wish(env=env, **wish), home)
        self.cwd = place.cwd
        subprocess.run(["git", "init", "-q", str(self.cwd)], check=True)
        path = environment["PATH"]
        if agent == "codex":
            _, _, more = lab.settle("codex", Wish(), home)
            environment = more | environment
            path = f"{path}:{more['PATH']}"
        (home / ".claude.json").write_text(
            json.dumps(json.loads((home / ".claude.json").read_text()) | {"bypassPermissionsModeAccepted": True})
        )
        self.program = lab.root / "story-automator"
        self.program.write_text(f'#!/bin/sh\nexec {sys.executable} -m midwatch.compat.story_automator "$@"\n')
        self.program.chmod(0o755)
        self.env = environment | {
            "PATH": path, "AI_AGENT": agent, "TMUX": f"{lab.root / 'tmux'},0,0", "PROJECT_ROOT": str(self.cwd),
            "XDG_STATE_HOME": str(lab.root / "state"), "scripts": str(self.program),
        }  # fmt: skip

    def shell(self, script: str) -> subprocess.CompletedProcess[str]:
        return self.lab.run(["bash", "-c", script], timeout=SLOW, **self.env)

    def __call__(self, *words: str) -> str:
        called = self.lab.run([str(self.program), *words], timeout=SLOW, **self.env)
        assert called.returncode == 0, called
        return called.stdout.strip()

    def spawn(self, step: str, extra: str = "") -> str:
        command = self("tmux-wrapper", "build-cmd", step, "5.3", *((extra,) if extra else ()))
        return self("tmux-wrapper", "spawn", step, "5", "5.3", "--command", command)

    def monitor(self, session: str, *words: str) -> dict[str, Any]:
        return dict(json.loads(self("monitor-session", session, "--json", *words)))


def workflow() -> str:
    """As story-automator prints it, and as docs/reference/story-automator.md shows it."""
    page = (REPOSITORY / "docs/reference/story-automator.md").read_text()
    found = re.search(r"^```bash needs=agent\n(# STEP 1.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


@TWO
def test_the_workflow_of_story_automator_runs_unchanged(lab: Lab, agent: str) -> None:
    desk = Desk(lab, agent)
    lab.otherwise("next_action", f"[[text {JSON}]]")
    lab.otherwise("story 5.3", WRITTEN)
    done = desk.shell(
        workflow() + '\nprintf "%s\\n" "$session_name" "$result" "$parsed" "$next_action"; '
        '"$scripts" tmux-wrapper exists "$session_name"'
    )
    said = done.stdout.splitlines()
    assert len(said) == 5, (done.stdout, done.stderr)
    session, result, parsed, action, there = said
    assert re.fullmatch(r"sa-proj-\d{6}-\d{6}-e5-s5-3-create", session)
    found = json.loads(result)
    assert (found["final_state"], found["exit_reason"], found["output_verified"]) == (
        "completed", "verified_complete", True
    ), (result, done.stderr)  # fmt: skip
    assert Path(found["output_file"]).parent == Path(desk.env["TMPDIR"])
    assert json.loads(parsed)["status"] == "SUCCESS", (parsed, done.stderr)
    assert (action, there) == ("proceed", "false")
    assert (desk.cwd / STORY).read_text().startswith("# Story 5.3")
    assert not os.listdir(desk.env["TMPDIR"]) or not Path(found["output_file"]).exists(), "it was cleaned up"


# The decision table -----------------------------------------------------------------------------------------------

SOON = {"MIDWATCH_STALE": "5s", "MIDWATCH_GRACE": "2s"}
"""Patience for what hangs, so that a test need not wait for ten minutes."""


def told(found: dict[str, Any]) -> tuple[Any, Any, Any]:
    return found["final_state"], found["exit_reason"], found["output_verified"]


def at_work(desk: Desk, session: str) -> None:
    """Wait until the model has been asked."""
    deadline = time.monotonic() + SLOW
    while not any(event["event"] == "began" and event["main"] for event in desk.lab.journal()):
        assert time.monotonic() < deadline, desk.lab.tmux("capture-pane", "-p", "-t", f"={session}:")
        time.sleep(0.1)


@TWO
def test_incomplete_the_turn_has_ended_and_no_story_is_there(lab: Lab, agent: str) -> None:
    desk = Desk(lab, agent)
    session = desk.spawn("create", "[[text I would rather ask first: which login do you mean?]]")
    found = desk.monitor(session)
    assert told(found) == ("incomplete", "unexpected_story_artifact_count", False)
    assert "which login do you mean?" in Path(found["output_file"]).read_text()


@TWO
def test_crashed_the_agent_was_killed(lab: Lab, agent: str) -> None:
    desk = Desk(lab, agent)
    session = desk.spawn("create", "[[slow 600]]")
    at_work(desk, session)
    work = json.loads(next((lab.root / "state/midwatch").glob(f"*/{session}.json")).read_text())["work"]["pid"]
    os.kill(work, signal.SIGKILL)
    assert told(desk.monitor(session)) == ("crashed", "crashed_exit_code_137", False)


@TWO
def test_stuck_the_model_never_answers(lab: Lab, agent: str) -> None:
    desk = Desk(lab, agent, env=SOON)
    session = desk.spawn("create", "[[bash echo begun]] [[hang]]")
    found = desk.monitor(session)
    assert found["final_state"] == "stuck", found
    assert found["exit_reason"] in ("stuck_stalled", "stuck_frozen")
    assert desk("tmux-status-check", session).endswith(",stuck")
    desk("tmux-wrapper", "kill", session)


@TWO
def test_timeout_the_output_is_told_and_the_session_goes_on(lab: Lab, agent: str) -> None:
    desk = Desk(lab, agent)
    session = desk.spawn("create", "[[slow 600]]")
    at_work(desk, session)
    found = desk.monitor(session, "--timeout", "0.05")
    assert told(found) == ("timeout", "exceeded_0.05m", False)
    assert "story 5.3" in Path(found["output_file"]).read_text()
    assert desk("tmux-status-check", session).endswith(",in_progress")
    desk("tmux-wrapper", "kill", session)


@TWO
def test_not_found_the_session_was_killed(lab: Lab, agent: str) -> None:
    desk = Desk(lab, agent)
    session = desk.spawn("create", "[[slow 600]]")
    at_work(desk, session)
    lab.tmux("kill-session", "-t", f"={session}")
    assert told(desk.monitor(session)) == ("not_found", "stopped", False)


@TWO
def test_a_turn_that_failed_is_crashed_and_not_completed(lab: Lab, agent: str) -> None:
    desk = Desk(lab, agent)
    found = desk.monitor(desk.spawn("auto", "[[status 400]]"))
    assert found["final_state"] == "crashed", found
    assert found["exit_reason"] in ("failed_turn", "failed_exit_code_1")


# What the published programs misread on real screens --------------------------------------------------------------


@pytest.mark.claude
def test_a_finished_turn_with_its_summary_row_is_completed(lab: Lab) -> None:
    """Defect: `✻ Cooked for 45s` above a prompt was in progress for ever, as was a prompt above blank rows."""
    desk = Desk(lab, "claude")
    session = desk.spawn("auto", "[[think 2]] [[text All done.]]")
    assert told(desk.monitor(session)) == ("completed", "normal_completion", False)
    assert desk("tmux-status-check", session) == "idle,0,0,,0,completed"
    assert desk("heartbeat-check", session).endswith(",true")


@pytest.mark.claude
def test_prose_about_waiting_is_no_completion_while_it_works(lab: Lab) -> None:
    """Defect: the words `for 3m 10s` anywhere on the screen were a completion, though a spinner was live."""
    desk = Desk(lab, "claude")
    session = desk.spawn("dev", "[[text I waited for 3m 10s.]]+[[bash perl -e 'sleep 600']]")
    at_work(desk, session)
    found = desk.monitor(session, "--timeout", "0.05")
    assert "waited for 3m 10s" in Path(found["output_file"]).read_text()
    assert found["final_state"] == "timeout"
    assert desk("tmux-status-check", session).endswith(",in_progress")
    desk("tmux-wrapper", "kill", session)


@pytest.mark.claude
def test_a_question_is_seen_and_told(lab: Lab) -> None:
    """Defect: dialogs were read as work, or as nothing."""
    desk = Desk(lab, "claude")
    session = desk.spawn("dev", "[[ask Which one? | red | blue]]")
    assert told(desk.monitor(session)) == ("incomplete", "waiting_question", False)
    assert desk("tmux-status-check", session).endswith(",idle")


@pytest.mark.claude
def test_the_question_for_trust_is_seen_and_told(lab: Lab) -> None:
    desk = Desk(lab, "claude", trusted=False)
    session = desk.spawn("dev", "[[text never said]]")
    assert told(desk.monitor(session)) == ("incomplete", "waiting_trust", False)


@pytest.mark.claude
def test_a_limit_is_looked_at_until_the_time_is_up(lab: Lab) -> None:
    desk = Desk(lab, "claude", oauth=True)
    session = desk.spawn("dev", "[[limit 3600]]")
    at_work(desk, session)
    found = desk.monitor(session, "--timeout", "0.2")
    assert told(found) == ("timeout", "exceeded_0.2m_limited", False), Path(found["output_file"]).read_text()


# The statusline time gate -----------------------------------------------------------------------------------------


@pytest.mark.claude
@pytest.mark.parametrize(
    ("statusline", "state"),
    [
        ("date +'proj | ctx(12%) | %H:%M:%S'", "timeout"),
        ("echo 'proj | ctx(12%) | 10:00:00'", "stuck"),
        ("", "stuck"),
    ],
    ids=["advances", "stands", "none"],
)
def test_the_time_gate_has_the_last_word(lab: Lab, statusline: str, state: str) -> None:
    desk = Desk(lab, "claude", env=SOON, statusline=statusline, refresh=1 if statusline else 0)
    session = desk.spawn("dev", "[[bash echo begun]] [[hang]]")
    at_work(desk, session)
    found = desk.monitor(session, "--timeout", "0.4")
    assert found["final_state"] == state, (found, Path(found["output_file"]).read_text())
    seen = desk("tmux-status-check", session).rpartition(",")[2]
    # By the clock it is never stuck; whether its screen has also moved just now, the machine's load decides.
    assert seen in {"timeout": ("just_started", "in_progress"), "stuck": ("stuck",)}[state]
    desk("tmux-wrapper", "kill", session)


@pytest.mark.claude
def test_the_first_time_that_a_clock_is_seen_it_saves_the_session(lab: Lab) -> None:
    clock = lab.root / "clock"
    desk = Desk(lab, "claude", env=SOON, statusline=f"cat {clock} 2>/dev/null || echo 'proj | up 0:00'", refresh=1)
    session = desk.spawn("dev", "[[bash echo begun]] [[hang]]")
    assert desk.monitor(session, "--timeout", "1")["final_state"] == "stuck"
    clock.write_text("proj | ctx(12%) | 10:00:00\n")
    deadline = time.monotonic() + SLOW
    while not (seen := desk("tmux-status-check", session)).endswith("just_started"):
        assert time.monotonic() < deadline, seen
    desk("tmux-wrapper", "kill", session)


@pytest.mark.claude
@pytest.mark.parametrize("script", ["[[think 3]] [[text done]]", "[[text done]]"], ids=["long", "short"])
def test_an_agent_without_a_prompt_to_stay_at_is_completed_when_it_is_done(lab: Lab, script: str) -> None:
    desk = Desk(lab, "claude")
    session = desk("tmux-wrapper", "spawn", "auto", "5", "5.3", "--command", f"claude -p 'go {script}'")
    assert told(desk.monitor(session)) == ("completed", "normal_completion", False)
