"""agentic-process-monitor's self-healing: whatever watcher died, the next call finds the truth.

agentic-process-monitor has four rules for a poller that died: status there, read it; heartbeat fresh, watch on;
heartbeat stale, hung. It has none for "no status and no heartbeat". Here any watcher may die at any moment.
"""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.conftest import PATIENCE, Box, kill, until_gone
from tests.integration.wait.watching import Gate, waiter

SOON = ("--stale", "0.6s", "--grace", "0.4s", "--heartbeat", "0.2s")


def dead_watcher(box: Box, name: str) -> None:
    """Someone waits for a job and is killed while he does."""
    box.until_file(f"{name}.pid")
    with waiter(box, name) as watcher:
        watcher.kill()
        watcher.communicate(timeout=PATIENCE)
        assert watcher.returncode == -signal.SIGKILL


def test_finished_while_nobody_watched_the_next_call_has_the_result(box: Box, gate: Gate) -> None:
    beat = f"{' '.join(box.program)} beat --result out.json"
    (box.cwd / "out.json").write_text('{"rows": 7}')
    box("run", "-d", "--name", "job", "--", "sh", "-c", f"read -r line < {gate.path}; {beat}")
    dead_watcher(box, "job")
    gate.say()
    box.until_file("job.status")
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["result"]) == (0, "completed", {"rows": 7})


def test_still_running_the_next_call_watches_on(box: Box, gate: Gate) -> None:
    box("run", "-d", "--name", "job", "--", "sh", "-c", f"read -r line < {gate.path}")
    dead_watcher(box, "job")
    with waiter(box, "job") as watcher:
        gate.say()
        out, _ = watcher.communicate(timeout=PATIENCE)
        assert watcher.returncode == 0
    assert '"state":"completed"' in out


def test_gone_stale_while_nobody_watched_the_next_call_says_so(box: Box) -> None:
    box("run", "-d", "--name", "job", *SOON, "--", "sleep", "300")
    dead_watcher(box, "job")
    box.until_file("job.seen", lambda text: '"stuck": true' in text)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (4, "stuck", False)


@pytest.mark.parametrize("also_the_work", [False, True], ids=["shim", "shim-and-work"])
def test_the_keeper_of_time_itself_may_die(box: Box, also_the_work: bool) -> None:
    box("run", "-d", "--name", "job", *SOON, "--", "sleep", "300")
    shim, work = box.pids("job")
    dead_watcher(box, "job")
    for pid in (shim, work) if also_the_work else (shim,):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    done = box("wait", "job", "--json")
    # Without its shim the work is watched by whoever waits: silent for long enough, it is stuck.
    assert done.json["state"] == ("crashed" if also_the_work else "stuck")


def test_no_status_and_no_heartbeat_is_not_waited_for_for_ever(box: Box) -> None:
    """agentic-process-monitor has no rule for this."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    box.dir.mkdir()
    box.path("step.pid").write_text(f"{ended.pid}\n")
    done = box("wait", "step", "--json")
    assert (done.code, done.json["state"]) == (3, "crashed")


def test_a_dead_watcher_of_foreign_work_costs_nothing(box: Box, gate: Gate) -> None:
    box.dir.mkdir()
    script = f"echo $$ > {box.path('step.pid')}; read -r line < {gate.path}; echo FAILED > {box.path('step.status')}"
    work = subprocess.Popen(["sh", "-c", script], cwd=box.cwd, env=box.env)
    try:
        dead_watcher(box, "step")
        gate.say()
        done = box("wait", "step", "--json")
        assert (done.code, done.json["state"]) == (1, "failed")
    finally:
        work.kill()
        work.wait()
