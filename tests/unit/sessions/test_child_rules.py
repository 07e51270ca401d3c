"""The verdicts on sub-agents and on shells of an agent."""

from __future__ import annotations

import pytest

from midwatch.agents.turn_model import SubAgentReading
from midwatch.core.pane_model import ProcessInfo
from midwatch.core.verdict import Verdict
from midwatch.sessions.rules.child import find_shells, judge_shell, judge_sub_agent

PARENT = Verdict("api", "session", "working", False, "a tool runs", "alive", "unknown", turn="working")
DEAD = PARENT._replace(state="crashed", final=True, process="gone", turn="exited")


def task(pid: int, name: str = "bash", parent: int = 1, letter: str = "S") -> ProcessInfo:
    return ProcessInfo(pid, parent, letter, name, (name, "-c", "make"), 77)


@pytest.mark.parametrize(
    ("event", "tools", "parent", "state", "cause"),
    [
        ("prompt", "", PARENT, "working", "model"),
        ("tool-call", "Bash", PARENT, "working", "tool"),
        ("", "", PARENT, "working", "model"),
        ("turn-ended", "", PARENT, "completed", "turn-ended"),
        ("turn-ended", "", DEAD, "completed", "turn-ended"),
        ("turn-failed", "", PARENT, "failed", "turn-failed"),
        ("interrupted", "", PARENT, "stopped", "interrupted"),
        ("limit", "", PARENT, "limited", "limit"),
        ("tool-call", "Bash", DEAD, "unknown", "exit-unseen"),
    ],
)
def test_a_sub_agent_is_judged_by_its_last_line(
    event: str, tools: str, parent: Verdict, state: str, cause: str
) -> None:
    child = judge_sub_agent(SubAgentReading("a1", event, tools, 90.0), parent, 100.0)
    assert (child.id, child.verdict.name, child.verdict.kind) == ("sub-agent/a1", "api/a1", "sub-agent")
    assert (child.verdict.state, child.verdict.cause) == (state, cause)
    assert child.verdict.final is (state in ("completed", "failed", "stopped", "unknown"))
    assert child.verdict.evidence[0].age_s == 10.0


def test_only_shells_that_the_agent_started_itself_are_its_shells() -> None:
    tools = [task(2), task(3, parent=2), task(4, "node"), task(5, "zsh"), task(6, letter="Z")]
    assert [each.pid for each in find_shells(tools)] == [2, 5]


def test_a_shell_while_the_turn_goes_on_may_be_the_open_tool_call() -> None:
    child = judge_shell(task(7), PARENT)
    assert (child.id, child.verdict.state, child.verdict.cause, child.pid) == ("shell/7-77", "working", "tool", 7)
    assert child.verdict.reason == "it runs: bash -c make"


def test_a_shell_after_the_turn_is_background_work() -> None:
    child = judge_shell(task(7), PARENT._replace(turn="idle"))
    assert (child.verdict.cause, child.verdict.reason) == ("background-work", "it runs in the background: bash -c make")


def test_a_suspended_shell_waits() -> None:
    assert judge_shell(task(7, letter="T"), PARENT).verdict.cause == "suspended"
