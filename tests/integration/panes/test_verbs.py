"""`ls --panes`, `why %pane` and `doctor` on a private server."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.conftest import Box, kill, until
from tests.integration.panes.agent import show
from tests.integration.panes.private import Private


def test_ls_shows_every_agent_and_nothing_else(box: Box, private: Private, tmp_path: Path) -> None:
    private.start("cat")
    pane = show(private, tmp_path, "claude", "permission-bash")
    done = box("ls", "--panes", *private.server, "--json")
    assert [json.loads(line)["name"] for line in done.out.splitlines()] == [pane]
    assert done.json["state"] == "waiting"
    assert done.json["kind"] == "session"


def test_ls_is_a_table_for_people(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "nostatus-busy")
    lines = box("ls", "--panes", *private.server).out.splitlines()
    assert lines[0].split() == ["NAME", "STATE", "TIME", "REASON"]
    assert lines[1].startswith(f"{pane}    working")


def test_why_names_the_evidence(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "permission-bash")
    done = box("why", pane, *private.server)
    assert "waiting: claude in 0: it waits for a permission" in done.out
    assert "waiting (permission), by rule permission" in done.out
    found = box("why", pane, *private.server, "--json").json
    assert (found["turn"], found["detail"]) == ("waiting", "permission")


def test_why_of_a_pane_without_an_agent_says_so(box: Box, private: Private) -> None:
    pane = private.start("cat")
    done = box("why", pane, *private.server)
    assert (done.code, done.out) == (7, "")
    assert f"no agent in pane {pane}" in done.err


def test_no_server_is_said_and_nothing_is_started(box: Box, tmp_path: Path) -> None:
    done = box("ls", "--panes", "-S", str(tmp_path / "none"))
    assert done.out == ""
    assert "no server" in done.err or "not running" in done.err or "no tmux server" in done.err
    assert not (tmp_path / "none").exists()


def test_looking_changes_nothing_on_the_server(box: Box, private: Private, tmp_path: Path) -> None:
    pane = show(private, tmp_path, "claude", "idle-fresh")
    asked = ("show-options", "-g", ";", "show-options", "-s", ";", "list-clients", ";", "show-environment", "-g")
    before = private(*asked), private.screen(pane)
    box("ls", "--panes", *private.server)
    box("why", pane, *private.server)
    assert (private(*asked), private.screen(pane)) == before


def test_doctor_warns_of_an_agent_newer_than_any_golden(box: Box, private: Private, tmp_path: Path) -> None:
    own = tmp_path / "config" / "midwatch" / "agents" / "claude.toml"
    own.parent.mkdir(parents=True)
    ours = Path(__file__).parents[3] / "src/midwatch/agents/claude/definition.toml"
    text = ours.read_text()
    start, end = text.index("tested = ["), text.index("]", text.index("tested = [")) + 1
    own.write_text(text[:start] + 'tested = ["1.0.0"]' + text[end:])
    pane = show(private, tmp_path, "claude", "idle-fresh")
    there = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    said = [json.loads(line) for line in box("doctor", *private.server, "--json", **there).out.splitlines()]
    drifted = [each for each in said if each["about"] == f"claude {pane}"]
    assert [each["level"] for each in drifted] == ["warning"]
    assert "2.1.197 is newer than any tested (1.0.0)" in drifted[0]["says"]
    assert "drift" in box("why", pane, *private.server, **there).out


def test_a_shell_where_the_agent_was_is_a_crash(private: Private, tmp_path: Path) -> None:
    from midwatch.agents import catalog  # noqa: PLC0415
    from midwatch.sessions.pane_observer import PaneObserver  # noqa: PLC0415

    pane = private.start("sh", size=(400, 40))
    (tmp_path / "claude").symlink_to("/bin/sleep")
    private.type(pane, f"{tmp_path}/claude 1000")
    panes = PaneObserver(catalog.load_all(), str(tmp_path / "spool"), private.server)
    until(lambda: bool(panes.observe().seen))
    agent = panes.observe().seen[0]
    pid = next(task.pid for task in agent.sighting.tasks if task.args[0].endswith("/claude"))
    kill(pid, 9)
    until(lambda: not os.path.exists(f"/proc/{pid}"))
    verdict = panes.observe().seen[0].verdict
    assert (verdict.turn, verdict.state) == ("exited", "crashed")
