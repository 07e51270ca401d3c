"""A task directory with the real Claude Code, started as its skill starts it, through a crash."""

from __future__ import annotations

import json
import os
import shlex
import signal
import sys
from datetime import UTC, datetime

import pytest

from midwatch.system import procfs
from midwatch.taskdir.resume import CONTINUE
from tests.agents.conftest import need
from tests.agents.sessions import SLOW
from tests.conftest import tool, until, until_gone
from tests.integration.three_layer_monitor.skill import LINE, PERL
from tests.lab.homes import Wish
from tests.lab.lab import Lab

MODEL = "claude-sonnet-4-6"


@pytest.mark.claude
def test_a_task_that_crashed_goes_on_with_its_conversation_in_its_session(lab: Lab) -> None:
    need("claude")
    for program in ("jq", "perl"):
        tool(program)
    place, _, env = lab.settle("claude", Wish(), lab.root / "claude-home")
    task = lab.root / "task"
    task.mkdir(mode=0o700)
    (task / "prompt").write_text("go [[slow 60]]+[[text all done]]\n")
    fields = {
        "task_name": "fix", "model": MODEL, "project_dir": str(place.cwd), "session_name": "claude-fix", "pid": 0,
        "tmpdir": str(task), "started_at": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "status": "running",
    }  # fmt: skip
    (task / "manifest.json").write_text(json.dumps(fields))
    given = shlex.join(f"{key}={value}" for key, value in {**env, "TASK_TMPDIR": str(task)}.items())
    lab.tmux("new-session", "-d", "-s", "claude-fix", f"exec env {given} bash --norc --noprofile")
    lab.tmux("pipe-pane", "-t", "claude-fix", "-O", f"perl -pe '{PERL}' >> {task}/output.log")
    lab.tmux("send-keys", "-t", "claude-fix", "-l", LINE.format(project=place.cwd, model=MODEL))
    lab.tmux("send-keys", "-t", "claude-fix", "Enter")
    talks = place.home / ".claude" / "projects"
    until(lambda: any("slow 60" in talk.read_text() for talk in talks.glob("*/*.jsonl")))
    pid = int((task / "pid").read_text())
    call = [sys.executable, "-m", "midwatch", "monitor", "claude-fix", "--task-dir", str(task), "--json"]
    with lab.begin([*call, *lab.tmux.arguments], **env) as monitor:
        until((task / "midwatch.json").exists)
        for each in (pid, *procfs.descendants(pid)):
            os.kill(each, signal.SIGKILL)
        until_gone(pid)
        said, told = monitor.communicate(timeout=SLOW)
    assert json.loads(said)["state"] == "completed", (said, told, (task / "output.log").read_text())
    (talk,) = talks.glob("*/*.jsonl")
    assert CONTINUE in talk.read_text()
    manifest = json.loads((task / "manifest.json").read_text())
    assert (manifest["status"], manifest["exit_code"], manifest["retry_count"]) == ("completed", 0, 1)
    assert ((task / "exit_code").read_text(), (task / "done").exists()) == ("0\n", True)
    assert "claude-fix" in lab.tmux("list-sessions", "-F", "#{session_name}").split()
