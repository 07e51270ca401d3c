"""What is wrong with controller-proxy-watchdog, by name, and what is done instead.

Its example lines run with a real agent in tests/agents/test_watchdog_agent.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from midwatch.swarm.model import AUTO, WakeRules
from tests.conftest import until
from tests.integration.send.conftest import Agent
from tests.integration.watchdog.swarm import TITLE, Swarm


def beads(swarm: Swarm, **statuses: str) -> None:
    (swarm.project / ".beads").mkdir(exist_ok=True)
    rows = [{"id": name.replace("_", "-"), "title": f"Handle OPEN {name}", "status": status}
            for name, status in statuses.items()]  # fmt: skip
    (swarm.project / ".beads" / "issues.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("status", ["blocked", "deferred", "missing"])
def test_a_blocked_deferred_or_missing_bead_kills_the_watchdog(swarm: Swarm, status: str) -> None:
    beads(swarm, bd_epic="open", bd_a="open", **({} if status == "missing" else {"bd_b": status}))
    swarm.start("--epic", "bd-epic", "--beads", "bd-a,bd-b", *(["--force"] if status == "missing" else []))
    swarm.until_logged("prompt-sent tick")
    assert swarm.status()["running"]


def test_a_busy_controller_ends_the_watchdog(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.agent.state("busy")
    swarm.start()
    swarm.until_logged("not-sent to %")
    until(lambda: "it is at work" in (swarm.status()["held_back"] or ""))
    assert swarm.status()["running"]
    assert swarm.agent.typed == b""
    swarm.agent.state("idle")
    swarm.until_logged("prompt-sent tick")
    until(lambda: swarm.status()["held_back"] is None)
    assert swarm.messages == 1


def test_a_failed_send_ends_the_watchdog(swarm: Swarm) -> None:
    swarm.task("add", "First thing")
    swarm.agent.mood("numb")
    with swarm.dog() as (dog, log):
        assert not dog.round(tick=True).end
        swarm.agent.calm("numb")
        dog.round(tick=False)
    assert "prompt-sent tick" in log[-1]


def test_auto_mode_does_not_exit_if_the_controller_is_gone(swarm: Swarm) -> None:
    beads(swarm, bd_epic="closed")
    swarm.private("select-pane", "-t", swarm.agent.pane, "-T", "nobody")
    done = swarm("run", "--project-dir", str(swarm.project), "--epic", "bd-epic", "--exit-mode", "auto")
    assert done.code == 0
    assert "exit code=0 reason=the epic is closed" in done.err


def test_the_session_name_is_taken_for_an_expression(swarm: Swarm, tmp_path: Path) -> None:
    other = Agent(swarm.private, tmp_path / "other", "wzrk").start()
    with swarm.dog(session="w.rk") as (dog, _):
        dog.round(tick=True)
        assert dog.sight.trouble == "no-session w.rk"
    assert other.typed == b""


def test_a_session_name_matches_longer_ones(swarm: Swarm) -> None:
    """`tmux -t wor` means the session work."""
    done = swarm("start", "--force", session="wor")
    assert done.code == 12
    assert "can't find session: wor" in done.err
    assert "watchdog" not in swarm.private("list-windows", "-a", "-F", "#{window_name}")


def test_an_apostrophe_in_a_path_is_a_command(swarm: Swarm) -> None:
    evil = swarm.box.cwd / "p'; touch owned; '"
    evil.mkdir()
    assert swarm("start", "--project-dir", str(evil), "--force").code == 0
    swarm.until_logged("tick epic=")
    assert not list(swarm.box.cwd.rglob("owned"))


def test_two_watchdogs_run_in_one_session(swarm: Swarm) -> None:
    swarm.start()
    assert swarm("run", "--once").code == 12


def test_status_asks_the_tracker_of_the_directory_that_one_is_in(swarm: Swarm) -> None:
    beads(swarm, bd_a="open")
    path = swarm.project / ".beads" / "issues.jsonl"
    companion = {"id": "bd-9", "title": "Quality loops for bd-a", "status": "open"}
    path.write_text(path.read_text() + json.dumps(companion) + "\n")
    swarm.start()
    assert swarm.box.cwd != swarm.project
    assert swarm.status()["open_companions"] == ["bd-9 Quality loops for bd-a"]


def test_it_prods_whether_or_not_anything_changed(swarm: Swarm) -> None:
    beads(swarm, bd_a="open")
    with swarm.dog() as (dog, _):
        for _ in range(5):
            dog.round(tick=True)
    assert swarm.messages == 1


def test_it_cannot_tell_whether_its_message_arrived(swarm: Swarm) -> None:
    """A message that the agent's own record does not have is unread, and nothing is sent behind it."""
    beads(swarm, bd_a="open")
    swarm.agent.mood("silent")
    with swarm.dog() as (dog, _):
        dog.round(tick=True)
        assert dog.outcome.startswith("sent, perhaps: ")
        beads(swarm, bd_a="open", bd_b="open")
        assert dog.round(tick=True).why.startswith("the last message is unread; held back: ready bd-b")
    assert swarm.messages == 1


def test_the_controller_is_looked_for_in_the_command_too(swarm: Swarm) -> None:
    swarm.private("select-pane", "-t", swarm.agent.pane, "-T", "nobody")
    with swarm.dog(title="claude") as (dog, _):
        dog.round(tick=True)
    assert dog.sight.trouble == "no-controller-pane"


def test_a_closed_epic_is_told_for_ever_or_the_counter_is_missing(swarm: Swarm) -> None:
    """The original reported it without end; a later version counted to ten with a counter that was not there."""
    beads(swarm, bd_epic="closed")
    with swarm.dog(epic="bd-epic", rules=WakeRules(interval=0.0, notices=2)) as (dog, _):
        for _ in range(4):
            assert not dog.round(tick=True).end
    assert swarm.messages == 2
    with swarm.dog(epic="bd-epic", rules=WakeRules(exit_mode=AUTO)) as (dog, _):
        assert dog.round(tick=True).end


def test_pings_go_to_pane_1_whoever_is_in_it(swarm: Swarm, tmp_path: Path) -> None:
    """The controller is the pane that the watchdog found, wherever it is; who is pane 1 gets nothing."""
    worker = Agent(swarm.private, tmp_path / "worker", "spare").start()
    swarm.private("select-pane", "-t", worker.pane, "-T", "worker")
    swarm.private("join-pane", "-d", "-s", worker.pane, "-t", swarm.agent.pane)
    swarm.start()
    until(lambda: swarm.status()["controller"] == swarm.agent.pane)
    until(lambda: swarm.status()["last_tick"] is not None)
    env = {"TMUX": f"{swarm.private.socket},1,0", "TMUX_PANE": worker.pane}
    done = swarm.box("handoff", "--task", "bd-1", "--status", "done", "--json", stdin="", **env)
    assert done.code == 0, done
    assert b"<<<CHECK MAIL>>> pane0.1 bd-1 done <<<END CHECK MAIL>>>" in swarm.agent.typed
    assert worker.typed == b""


@pytest.mark.parametrize("says", ["rubbish", "", "hangs"])
def test_a_tracker_that_fails_ends_the_watchdog(swarm: Swarm, tmp_path: Path, says: str) -> None:
    (swarm.project / ".beads").mkdir()
    program = tmp_path / "br"
    program.write_text("#!/bin/sh\n" + ("exec sleep 1000\n" if says == "hangs" else f"echo '{says}'; exit 3\n"))
    program.chmod(0o755)
    done = swarm("run", "--once", "--project-dir", str(swarm.project), "--controller-title-regex", TITLE,
                 MIDWATCH_BR=str(program))  # fmt: skip
    assert done.code == 0, done
    assert "tracker-failed" in done.err
    assert "exit code=0 reason=once" in done.err
