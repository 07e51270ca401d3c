"""`midwatch parse` with a real Claude Code, as the command that is asked unless another is named."""

from __future__ import annotations

import json
import sys

import pytest

from tests.agents.conftest import PREVIOUS, need
from tests.lab.homes import Wish
from tests.lab.lab import Lab
from tests.lab.pane import PATIENCE

GOOD = {"status": "SUCCESS", "summary": "done", "next_action": "proceed", "tests_passed": True, "build_passed": True}
AGES = [
    pytest.param("current", marks=pytest.mark.claude),
    pytest.param("previous", marks=[pytest.mark.claude, getattr(pytest.mark, PREVIOUS)]),
]


@pytest.mark.parametrize("age", AGES)
@pytest.mark.parametrize("oauth", [False, True], ids=["key", "token"])
def test_a_real_claude_is_asked_from_within_another(lab: Lab, age: str, *, oauth: bool) -> None:
    need("claude", age)
    place, _, env = lab.settle("claude", Wish(oauth=oauth), lab.root / "home", version=age)
    (place.cwd / "log").write_text("Bash(make test)\n40 passed in 2s\n")
    lab.otherwise("asked to implement a story", f"[[text Here it is:\\n\\n```json\\n{json.dumps(GOOD)}\\n```]]")
    env |= {"MIDWATCH_HOME": str(lab.root / "jobs"), "CLAUDECODE": "1", "CLAUDE_CODE_ENTRYPOINT": "cli"}
    command = [sys.executable, "-m", "midwatch", "parse", str(place.cwd / "log"), "--step", "dev"]
    done = lab.run(command, timeout=PATIENCE, **env)
    assert (done.returncode, done.stderr) == (0, ""), done
    assert json.loads(done.stdout) == {"schema": 1, "step": "dev", "by": "model", **GOOD}
    (began,) = [entry for entry in lab.journal() if entry["event"] == "began" and entry["main"]]
    assert "haiku" in began["model"]
    assert began["prompt"].rstrip().endswith("| 40 passed in 2s")
