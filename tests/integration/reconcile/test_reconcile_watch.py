"""Staying: what wakes it, what ends it, and what it bears."""

from __future__ import annotations

import json
import os
import shutil
import signal
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from midwatch.agents.claude import files as claude_files
from tests.conftest import tool
from tests.integration.reconcile.lookout import WHEN, Lookout
from tests.integration.reconcile.staying import Stays
from tests.integration.reconcile.workspace import BEFORE, Workspace

Start = Callable[..., Stays]

NAME = "lab-creator-claude"
LOST = f"sessions:\n  - {{name: {NAME}, status: running, pane: {{{BEFORE}}}}}\n"
"""A list with a session that is not there any more."""


def running(workspace: Workspace, name: str = NAME) -> int:
    """A session that is in the list as it is."""
    pid = workspace.session(name)
    old = workspace.registry.read_text() if workspace.registry.exists() else "sessions:\n"
    row = f"  - name: {name}\n    status: running\n    pane: {{pid: {pid}, cmd: claude, cwd: {workspace.root}}}\n"
    workspace.write(old + row)
    return pid


def test_the_end_of_a_pane_wakes_it(workspace: Workspace, stays: Start) -> None:
    pid = running(workspace)
    workspace.tmux.start("cat", "other")
    watch = stays("--watch", "--interval", "1h")
    assert watch.said()["drifts"] == []
    os.kill(pid, signal.SIGKILL)
    drift = watch.drift()
    assert (drift["class"], drift["applied"]) == ("A", False)
    assert workspace.rows()[NAME]["status"] == "running", "a tool that stops it may write first"
    drift = watch.drift()
    assert (drift["class"], drift["applied"]) == ("A", True)
    assert workspace.rows()[NAME]["status"] == "terminated"
    assert watch.end() == 130


def test_a_list_that_is_written_wakes_it(workspace: Workspace, stays: Start) -> None:
    workspace.write("sessions: []\n")
    watch = stays("--watch", "--interval", "1h")
    assert watch.said()["checked"] == 0
    workspace.write(LOST, age=0)
    assert watch.drift()["class"] == "A"
    assert watch.end(signal.SIGTERM) == 143


def begin_watch(
    lookout: Lookout, stays: Start, agent: str, cwd: Path, *, home: Path | None = None, known: bool = True,
    talk: str = "",
) -> Stays:  # fmt: skip
    """A watch of an agent's session. Nothing but an event has it look again.

    ``home``: of the watch, if not that of the agent. ``known``: whether the row names the pane. ``talk``: the
    conversation that the row has; none is known yet without it.
    """
    workspace, name = lookout.workspace, f"lab-creator-{agent}"
    if not (workspace.agents / agent).exists():
        shutil.copy(tool("sleep"), workspace.agents / agent)
    pid = workspace.session(name, agent, cwd)
    workspace.write(
        f"sessions:\n  - name: {name}\n    status: running\n    agent: {agent}\n"
        + (f"    pane: {{pid: {pid}, cmd: {agent}, cwd: {cwd}}}\n" if known else "")
        + (f"    {agent}_session_id_own: {talk}\n" if talk else "")
    )
    if talk:
        lookout.state(pid, talk)
    watch = stays("--watch", "--interval", "1h", HOME=str(home or workspace.home))
    watch.said()
    good = workspace.registry.read_text()
    workspace.write("sessions: [")  # the passes that come by themselves are over when this is seen and mended
    assert watch.said()["troubles"]
    workspace.write(good)
    assert not watch.said()["troubles"]
    return watch


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "qwen", "agy", "opencode"])
def test_a_new_conversation_of_every_agent_wakes_it(lookout: Lookout, stays: Start, agent: str) -> None:
    root = lookout.workspace.root
    watch = begin_watch(lookout, stays, agent, root)
    talk = lookout.leave(agent, root)
    drift = watch.drift()
    assert (drift["class"], drift["after"]) == ("C", {f"{agent}_session_id_own": talk})


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "qwen", "agy", "opencode"])
def test_a_new_conversation_wakes_it_where_the_agent_has_a_home_of_its_own(
    lookout: Lookout, stays: Start, agent: str
) -> None:
    root = lookout.workspace.root
    watch = begin_watch(lookout, stays, agent, root, home=lookout.workspace.directory("elsewhere"))
    talk = lookout.leave(agent, root)
    assert watch.drift()["after"] == {f"{agent}_session_id_own": talk}


@pytest.mark.parametrize("agent", ["claude", "gemini"])
def test_a_new_conversation_wakes_it_though_the_row_does_not_name_the_pane(
    lookout: Lookout, stays: Start, agent: str
) -> None:
    root = lookout.workspace.root
    lookout.leave(agent, root, age=3600.0)  # its directory is there already, and no other tells of the next
    watch = begin_watch(lookout, stays, agent, root, known=False)
    talk = lookout.leave(agent, root)
    assert watch.drift()["after"] == {f"{agent}_session_id_own": talk}


def test_another_conversation_wakes_it_and_what_is_written_into_the_known_one_does_not(
    lookout: Lookout, stays: Start
) -> None:
    """As after `/clear`, which Claude Code tells in its own file, and by a new transcript at the next prompt."""
    root = lookout.workspace.root
    first = lookout.leave("claude", root)
    watch = begin_watch(lookout, stays, "claude", root, talk=first)
    (pid,) = (int(path.stem) for path in (lookout.home / ".claude" / "sessions").iterdir())
    second = str(uuid.uuid4())
    lookout.state(pid, second)
    lookout.leave("claude", root, talk=first)
    assert watch.silent(1.5)
    lookout.leave("claude", root, talk=second)
    drift = watch.drift()
    assert (drift["class"], drift["before"]) == ("other", {"conversation": first, "open": second})


@pytest.mark.parametrize("known", ["before", "before, by the folder", "later"])
def test_a_new_conversation_of_gemini_wakes_it_in_a_folder_with_a_short_name(
    lookout: Lookout, stays: Start, known: str
) -> None:
    """Newer releases note the names in projects.json, and the directory in each folder."""
    root = lookout.workspace.root
    names = {"projects": {str(root): "lab"}}
    lookout.file(".gemini/tmp/other/chats/session-x.json", {})
    if known == "before":
        lookout.file(".gemini/projects.json", names)
        lookout.file(".gemini/tmp/lab/chats/session-x.json", {}, age=3600.0)
    elif known == "before, by the folder":
        lookout.file(".gemini/tmp/lab/.project_root", str(root))
        lookout.file(".gemini/tmp/lab/chats/session-x.json", {}, age=3600.0)
    watch = begin_watch(lookout, stays, "gemini", root)
    if known == "later":
        lookout.file(".gemini/projects.json", names)
    talk = lookout.leave("gemini", root, folder="lab")
    drift = watch.drift()
    assert (drift["class"], drift["after"]) == ("C", {"gemini_session_id_own": talk})


def test_a_new_conversation_of_claude_in_a_long_path_wakes_it_whatever_ends_its_name(
    lookout: Lookout, stays: Start
) -> None:
    """Versions of Claude Code differ in what they put behind the first 200 letters."""
    deep = lookout.workspace.root / ("long" * 40) / ("path" * 40)
    deep.mkdir(parents=True)
    folder = f".claude/projects/{claude_files.keys(str(deep))[0][: claude_files.LONGEST_KEY]}-another"
    lookout.file(f"{folder}/old.jsonl", "", age=3600.0)
    watch = begin_watch(lookout, stays, "claude", deep)
    talk = str(uuid.uuid4())
    line = {"type": "user", "sessionId": talk, "cwd": str(deep), "timestamp": WHEN, "message": {"content": "go"}}
    lookout.file(f"{folder}/{talk}.jsonl", json.dumps(line) + "\n")
    drift = watch.drift()
    assert (drift["class"], drift["after"]) == ("C", {"claude_session_id_own": talk})


def test_it_looks_now_and_then_though_nothing_stirs(workspace: Workspace, stays: Start) -> None:
    workspace.write("sessions: []\n")
    watch = stays("--watch", "--interval", "0.2")
    assert watch.said()["drifts"] == []
    workspace.session(NAME)
    assert watch.drift()["class"] == "B"


def test_our_own_writing_is_no_news(workspace: Workspace, stays: Start) -> None:
    workspace.write(LOST)
    watch = stays("--watch", "--interval", "0.2", "--timeout", "3")
    assert watch.drift()["class"] == "A"
    written = workspace.registry.stat().st_mtime_ns
    assert watch.ended() == 0
    assert watch.next() is None
    assert workspace.registry.stat().st_mtime_ns == written
    assert "--timeout: 3 s are over" in watch.complains("over")


def test_it_ends_when_nothing_is_new(workspace: Workspace, stays: Start) -> None:
    workspace.write("sessions: []\n")
    watch = stays("--watch", "--idle-timeout", "0.5")
    assert watch.ended() == 0
    assert "--idle-timeout: nothing for 0.5 s" in watch.complains("nothing")


def test_a_list_that_is_broken_for_a_while_is_waited_for(workspace: Workspace, stays: Start) -> None:
    workspace.write("sessions: []\n")
    watch = stays("--watch", "--interval", "1h")
    watch.said()
    workspace.write("sessions:\n  - name: x\n   status: running\n")
    assert "agent-sessions.yaml:3" in watch.complains("agent-sessions.yaml")
    assert "agent-sessions.yaml:3" in watch.said()["troubles"][0]
    assert workspace.registry.read_text() == "sessions:\n  - name: x\n   status: running\n"
    workspace.write(LOST)
    watch.complains("can be seen again")
    assert watch.drift()["class"] == "A"


def test_a_server_that_does_not_answer_is_waited_for(workspace: Workspace, stays: Start) -> None:
    running(workspace)
    watch = stays("--watch", "--interval", "0.2")
    watch.said()
    server = workspace.tmux.pid
    os.kill(server, signal.SIGSTOP)
    try:
        watch.complains("tmux")
    finally:
        os.kill(server, signal.SIGCONT)
    watch.complains("can be seen again")
    blind, well = watch.said(), watch.said()
    assert (blind["drifts"], well["drifts"], well["troubles"]) == ([], [], [])
    assert "tmux" in blind["troubles"][0]
    assert watch.next() is None
    assert workspace.rows()[NAME]["status"] == "running"


def test_two_at_once_tell_it_once_and_write_it_once(workspace: Workspace, stays: Start) -> None:
    workspace.write("sessions: []\n")
    both = [stays("--watch", "--interval", "0.2", "--timeout", "4") for _ in range(2)]
    for watch in both:
        watch.said()
    workspace.write(LOST)
    assert [watch.ended() for watch in both] == [0, 0]
    told = [line for watch in both for line in iter(watch.next, None)]
    assert [drift["class"] for line in told for drift in line["drifts"]] == ["A"]
