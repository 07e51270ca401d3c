"""The watchdog with real agents: it starts, wakes a real controller once, hears of its workers, and stops."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from midwatch.swarm import watchdog_store
from tests.agents.conftest import need
from tests.agents.test_send import Sender
from tests.agents.test_smoke import SLOW
from tests.lab.lab import Lab
from tests.lab.pane import AgentPane

START_LINE = r"""
~/.agents/skills/controller-proxy-watchdog/scripts/start.sh \
--session project-session \
--project-dir /abs/path/to/project \
--controller-title-regex 'controller.*claude|controller.*codex|controller.*proxy' \
--epic bd-epic \
--beads bd-a,bd-b,bd-c \
--interval-seconds 420 \
--exit-mode confirm
"""
BEADS = (
    {"id": "bd-epic", "title": "All of it", "status": "open", "issue_type": "epic"},
    {"id": "bd-a", "title": "Handle OPEN files", "status": "in_progress", "issue_type": "task"},
    {"id": "bd-b", "title": "Second", "status": "open", "issue_type": "task"},
    {"id": "bd-c", "title": "Third", "status": "blocked", "issue_type": "task"},
    {"id": "bd-q1", "title": "Quality loops for bd-a", "status": "open", "issue_type": "task"},
)


class Project:
    """A session with a real controller in it, and a project kept by beads."""

    def __init__(self, lab: Lab, agent: str = "claude", **how: Any) -> None:
        self.lab = lab
        self.controller = lab.start(agent, env={"CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1"}, **how)
        self.place = self.controller.cwd
        (self.place / ".beads").mkdir()
        self.write(*BEADS)
        lab.tmux("rename-session", "-t", f"={self.controller.session}", "project-session")
        if agent == "claude":  # Codex writes its own title
            lab.tmux("select-pane", "-t", self.controller.pane_id, "-T", "controller claude")

    def write(self, *beads: dict[str, str]) -> None:
        text = "".join(json.dumps(bead) + "\n" for bead in beads)
        (self.place / ".beads" / "issues.jsonl").write_text(text)

    def __call__(self, line: str) -> subprocess.CompletedProcess[str]:
        """A line of controller-proxy-watchdog, with only the program's name changed, typed in a pane of that server."""
        script = "~/.agents/skills/controller-proxy-watchdog/scripts/"
        words = shlex.split(line.replace("\\\n", " ").replace("/abs/path/to/project", str(self.place)))
        verb = words[0].removeprefix(script).removesuffix(".sh")
        mine = {"HOME": str(self.lab.root), "XDG_STATE_HOME": str(self.lab.root / "state"), "PATH": os.environ["PATH"],
                "TMUX": f"{self.lab.root}/tmux,1,0", watchdog_store.LINKS: str(self.lab.root)}  # fmt: skip
        call = [sys.executable, "-m", "midwatch", "watchdog", verb, *words[1:]]
        return self.lab.run(call, timeout=2 * SLOW, **mine)

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self("status --session project-session --json").stdout)
        return found

    @property
    def log(self) -> str:
        path = Path(self.lab.root / "state" / "midwatch" / "project-session-watchdog.log")
        return path.read_text() if path.exists() else ""

    def prompts(self) -> list[str]:
        began = [entry for entry in self.controller.journal() if entry["event"] == "began" and entry.get("main")]
        return [entry["prompt"] for entry in began if not entry["step"]]

    def until_told(self, count: int, what: str) -> None:
        self.controller.until(lambda _: len(self.prompts()) == count, SLOW, what=what)


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_the_start_status_and_stop_lines_of_controller_proxy_watchdog(lab: Lab, agent: str) -> None:
    assert agent == "claude"
    project = Project(lab)
    Sender(lab, project.controller).idle()
    started = project(START_LINE.strip())
    log = lab.root / "state" / "midwatch" / "project-session-watchdog.log"
    assert (started.returncode, started.stderr) == (0, "")
    assert started.stdout == f"started project-session:project-session-controller-watchdog\nlog: {log}\n"

    project.until_told(1, "the tick at its model")
    (told,) = project.prompts()
    assert told.rstrip().endswith("<<<END WATCHDOG TICK>>>")
    project.controller.until(lambda _: "prompt-sent tick" in project.log, SLOW, what="that it was sent")
    assert "(its transcript tells of it)" in project.log
    tick = "tick epic=OPEN ready=bd-b in_progress=bd-a blocked=bd-c quality_due=bd-b, bd-c: first tick"
    assert tick in project.log

    shown = project("~/.agents/skills/controller-proxy-watchdog/scripts/status.sh --session project-session")
    assert shown.returncode == 0, shown
    for line in (
        "watchdog_window: project-session:project-session-controller-watchdog", "running: yes",
        f"controller: {project.controller.pane_id}", "open_companions: bd-q1 Quality loops for bd-a",
        f"log_file: {log}",
    ):  # fmt: skip
        assert line in shown.stdout.splitlines(), shown.stdout
    assert "delivered: its transcript tells of it" in shown.stdout

    stopped = project("~/.agents/skills/controller-proxy-watchdog/scripts/stop.sh --session project-session")
    assert stopped.stdout == "stopped project-session:project-session-controller-watchdog\n"
    assert project.status()["running"] is False
    assert project.log.splitlines()[-1].endswith("exit code=143 reason=signal 15")
    Sender(lab, project.controller).idle()
    assert len(project.prompts()) == 1


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_worker_that_crashes_wakes_a_controller_that_sleeps_and_no_turn_is_disturbed(lab: Lab, agent: str) -> None:
    """A real worker in another window is killed while the controller is in a turn: it is told right after that."""
    assert agent == "claude"
    project = Project(lab)
    worker: AgentPane = lab.start("claude", ready=True)
    lab.tmux("move-window", "-d", "-s", worker.pane_id, "-t", "=project-session:5")
    for pane in (project.controller, worker):
        Sender(lab, pane).idle()
    project(START_LINE.strip())
    project.until_told(1, "the first tick at its model")
    Sender(lab, project.controller).idle()
    project.controller.type("[[wait 20]] [[text that was long]]")
    project.until_told(2, "its own turn")
    shell, agent_line, *_ = worker.facts()["tree"]
    assert "bash" in shell
    os.kill(int(agent_line.split()[0]), 9)
    project.until_told(3, "the crash at its model")
    journal = project.controller.journal()
    turns = [at for at, entry in enumerate(journal) if entry["event"] == "began" and entry.get("main")]
    closed = {
        entry["seq"]: entry["event"] for entry in journal[: turns[2]] if entry["event"] in ("ended", "client-gone")
    }
    assert closed[journal[turns[1]]["seq"]] == "ended", "it was told before its own turn was over"
    assert project.prompts()[-1].rstrip().endswith("<<<END WATCHDOG TICK>>>")
    crashed = f"prompt-sent tick to {project.controller.pane_id}: {worker.pane_id} (claude) "
    project.controller.until(lambda _: crashed in project.log, SLOW, what="why it was sent")
    project("stop --session project-session")


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_worker_that_was_exited_has_ended_and_one_that_was_killed_has_crashed(lab: Lab, agent: str) -> None:
    project = Project(lab)
    left, killed = lab.start(agent), lab.start(agent)
    for number, pane in enumerate((left, killed), 5):
        lab.tmux("move-window", "-d", "-s", pane.pane_id, "-t", f"=project-session:{number}")
    for pane in (project.controller, left, killed):
        Sender(lab, pane).idle()
    project(START_LINE.strip())
    project.until_told(1, "the first tick at its model")
    Sender(lab, project.controller).idle()
    left.keys("C-d")
    left.until("again to exit")
    left.keys("C-d")
    told = f"{left.pane_id} (claude) has ended"
    project.controller.until(lambda _: told in project.log, SLOW, what="that the worker has ended")
    Sender(lab, project.controller).idle()
    _, agent_line, *_ = killed.facts()["tree"]
    os.kill(int(agent_line.split()[0]), 9)
    told = f"{killed.pane_id} (claude) crashed"
    project.controller.until(lambda _: told in project.log, SLOW, what="that the other one has crashed")
    assert f"{left.pane_id} (claude) crashed" not in project.log
    project("stop --session project-session")


@pytest.mark.claude
@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_a_conversation_that_was_cleared_is_told_at_the_next_tick(lab: Lab, agent: str) -> None:
    assert agent == "claude"
    project = Project(lab)
    Sender(lab, project.controller).idle()
    tick = START_LINE.strip().replace("start.sh", "run.sh") + " --once"
    for _ in range(2):
        project(tick)
        Sender(lab, project.controller).idle()
    assert len(project.prompts()) == 1, "it was told twice in one conversation"
    project.controller.type("/clear")
    project.controller.until("WATCHDOG", gone=True, what="an empty screen")
    Sender(lab, project.controller).idle()
    project(tick)
    project.until_told(2, "the state, in the new conversation")
    assert project.prompts()[-1].rstrip().endswith("<<<END WATCHDOG TICK>>>")
    assert f"conversation-new {project.controller.pane_id}: " in project.log


# On a large screen Codex draws a picture in an empty conversation, on a small one nothing. The older release is drawn
# among the lines of the shell.
@pytest.mark.codex
@pytest.mark.parametrize(
    ("agent", "size", "age"),
    [
        pytest.param("codex", (120, 40), "current", id="daemon-large"),
        pytest.param("codex", (80, 24), "current", id="daemon-small"),
        pytest.param("codex-nodaemon", (80, 24), "current", id="no-daemon"),
        pytest.param("codex", (120, 40), "previous", id="previous", marks=pytest.mark.previous),
    ],
    indirect=["agent"],
)
def test_codex_that_was_cleared_is_told_at_the_next_tick(lab: Lab, agent: str, size: tuple[int, int], age: str) -> None:
    need(agent, age)
    project = Project(lab, agent, size=size, version=age)
    lab.tmux("rename-window", "-t", project.controller.pane_id, "controller codex")
    Sender(lab, project.controller).idle()
    tick = START_LINE.strip().replace("start.sh", "run.sh") + " --once"
    for _ in range(2):
        project(tick)
        Sender(lab, project.controller).idle()
    assert len(project.prompts()) == 1, "it was told twice in one conversation"
    project.controller.keys("C-l")
    project.controller.until("WATCHDOG", gone=True, what="an empty screen")
    project(tick)
    assert len(project.prompts()) == 1, "a screen that was wiped is no new conversation"
    for count, command in enumerate(("/clear", "/new"), 2):
        project.controller.type(command)
        project.controller.until(partial(_is_begun, count), what="another conversation")
        Sender(lab, project.controller).idle()
        project(tick)
        project.until_told(count, "the state, in the new conversation")
        assert project.prompts()[-1].rstrip().endswith("<<<END WATCHDOG TICK>>>")
        assert project.log.count(f"conversation-new {project.controller.pane_id}: ") == count - 1
        Sender(lab, project.controller).idle()
        project(tick)
        assert len(project.prompts()) == count, "it was told twice in one conversation"


@pytest.mark.codex
@pytest.mark.parametrize("agent", ["codex"], indirect=True)
def test_a_new_conversation_of_another_codex_in_that_directory_is_not_the_controllers(lab: Lab, agent: str) -> None:
    project = Project(lab, agent, size=(80, 24))
    lab.tmux("rename-window", "-t", project.controller.pane_id, "controller codex")
    Sender(lab, project.controller).idle()
    tick = START_LINE.strip().replace("start.sh", "run.sh") + " --once"
    project(tick)
    project.until_told(1, "the tick at its model")
    Sender(lab, project.controller).idle()
    other = lab.start(agent, home=project.controller.home)
    assert other.cwd == project.controller.cwd
    Sender(lab, other).idle()
    other.type("speak [[text a word]]")
    project.until_told(2, "the other's own prompt")
    Sender(lab, other).idle()
    other.type("/clear")
    other.until(partial(_is_begun, 3), what="another conversation")
    project.controller.keys("C-l")
    project.controller.until("WATCHDOG", gone=True, what="an empty screen")
    project(tick)
    assert len(project.prompts()) == 2, "the conversation that the other has begun was taken for the controller's"
    assert "conversation-new" not in project.log


def _is_begun(count: int, pane: AgentPane) -> bool:
    """Whether so many conversations have been begun: Codex locks each at once, also before its first prompt."""
    return len(list((pane.home / ".codex/thread-writer-locks").glob("*.lock"))) == count


@pytest.mark.codex
@pytest.mark.parametrize("agent", ["codex"], indirect=True)
def test_codex_is_woken_too_and_found_by_the_name_of_its_window(lab: Lab, agent: str) -> None:
    """It writes the name of its project into its title, over what somebody had called the pane."""
    project = Project(lab, agent)
    Sender(lab, project.controller).idle()
    assert "controller" not in project.controller.title()
    lab.tmux("rename-window", "-t", project.controller.pane_id, "controller codex")
    project(START_LINE.strip())
    project.until_told(1, "the tick at its model")
    project.controller.until(lambda _: "prompt-sent tick" in project.log, SLOW, what="that it was sent")
    assert f"controller-found {project.controller.pane_id} in window controller codex" in project.log
    assert "(its transcript tells of it)" in project.log
    assert project.prompts()[0].rstrip().endswith("<<<END WATCHDOG TICK>>>")
    project("stop --session project-session")
    Sender(lab, project.controller).idle()
    assert len(project.prompts()) == 1
