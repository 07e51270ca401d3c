"""What `watchdog start` refuses, and what `status` says of what is not there, has died, or is held back."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from midwatch.swarm import watchdog_store
from midwatch.swarm.codec import watchdog_state as codec
from tests.conftest import PATIENCE, kill, until, until_gone
from tests.integration.watchdog.swarm import TITLE, Swarm

LINK = "work-watchdog-controller-proxy.log"


def beads(swarm: Swarm, *ids: str, more: str = "") -> Path:
    path = swarm.project / ".beads" / "issues.jsonl"
    path.parent.mkdir(exist_ok=True)
    rows = [{"id": own, "title": f"do {own}", "status": "open"} for own in ids]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + more)
    return path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--epic", "bd-none"), "--epic: there is no task 'bd-none' in "),
        (("--epic", "bd-1", "--beads", "bd-1,bd-7"), "--beads: there is no task 'bd-7' in "),
        (("--controller-title-regex", "nobody"), "the controller ('nobody') was not found: no-controller-pane"),
    ],
    ids=["epic", "bead", "controller"],
)
def test_what_does_not_exist_is_refused_unless_forced(swarm: Swarm, words: tuple[str, ...], said: str) -> None:
    beads(swarm, "bd-1")
    refused = swarm.start(*words)
    assert refused.code == 12
    assert said in refused.err
    assert refused.err.rstrip().endswith("Correct that, or start it all the same with --force")
    assert "watchdog" not in swarm.private("list-windows", "-a", "-F", "#{window_name}")
    assert swarm.standing() is None
    assert swarm.start(*words, "--force").code == 0
    swarm.until_logged("tick epic=")
    until(lambda: swarm.status()["last_tick"] is not None)
    found = swarm.status()
    missing = [word for word in ("bd-none", "bd-7") if word in said]
    assert found["missing_tasks"] == missing
    assert (found["controller"], found["trouble"]) == (
        (None, "no-controller-pane") if "controller" in words[0] else (swarm.agent.pane, None)
    )
    assert missing == [] or f"missing_tasks: {missing[0]}\n" in swarm("status").out


def test_a_start_that_is_refused_leaves_the_one_that_runs(swarm: Swarm) -> None:
    swarm.start()
    pid = swarm.status()["pid"]
    assert swarm.start("--epic", "bd-none").code == 12
    assert swarm.status()["pid"] == pid


def test_whether_tasks_exist_must_be_known(swarm: Swarm) -> None:
    beads(swarm, "bd-1", more='{"id": "bd-2", "ti')
    refused = swarm.start("--epic", "bd-1")
    assert refused.code == 12
    assert "--epic and --beads cannot be checked: " in refused.err
    assert "issues.jsonl is cut off in line 2" in refused.err
    assert swarm.start().code == 0, "without an epic nothing is to be checked"
    assert "issues.jsonl is cut off in line 2" in swarm.status()["tracker_trouble"]
    swarm.until_logged("tracker-failed")


def test_the_controller_itself_may_start_it(swarm: Swarm) -> None:
    """What is typed in the controller's pane has that pane in its environment."""
    done = swarm("start", "--project-dir", str(swarm.project), "--controller-title-regex", TITLE,
                 TMUX_PANE=swarm.agent.pane)  # fmt: skip
    assert done.code == 0, done


def test_force_is_for_start(swarm: Swarm) -> None:
    done = swarm("run", "--once", "--force")
    assert (done.code, "--force is for `midwatch watchdog start`" in done.err) == (2, True)


def test_one_that_was_killed_has_died_and_status_says_so(swarm: Swarm) -> None:
    swarm.start()
    pid = swarm.status()["pid"]
    assert swarm.status()["died"] is False
    kill(pid, signal.SIGKILL)
    until_gone(pid)
    found = swarm.status()
    assert (found["running"], found["died"]) == (False, True)
    assert found["ended"] == f"died (pid {pid}): it was killed or crashed and could not say why"
    shown = swarm("status")
    assert shown.code == 7
    assert "running: no\n" in shown.out
    assert f"ended: died (pid {pid}): " in shown.out
    swarm.start()
    swarm.until_logged(f"previous-died pid={pid}: ")
    swarm("stop")
    found = swarm.status()
    assert (found["died"], found["ended"]) == (False, "signal 15")


def test_what_is_held_back_is_in_status_and_in_the_log(swarm: Swarm) -> None:
    task = swarm.task("add", "First thing")
    now = time.time()
    base = watchdog_store.base_path("work", str(swarm.private.socket))
    told = {name: [] for name in codec.LISTS}  # type: dict[str, list[str]]
    memory = {"told": told, "at": now, "repeats": 0, "sent": [now - 60] * 8, "unread": False, "closed": 0}
    watchdog_store.write_status(
        base, watchdog_store.WatchdogStatus("work", str(swarm.private.socket), "", ended="once", memory=memory)
    )
    swarm.start()
    swarm.until_logged("held-back until 20")
    until(lambda: swarm.status()["held_back"] is not None)
    found = swarm.status()
    assert (found["held_back"], found["held_message"]) == ("8 messages within an hour are enough", f"ready {task}")
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(found["held_until"])))
    assert f"held-back until {stamp}: " in swarm.log
    assert now + 3539 < found["held_until"] < now + 3541, "an hour after the oldest of the eight"
    assert f"held_until: {stamp}\n" in swarm("status").out
    assert swarm.messages == 0


def test_the_log_is_found_where_the_original_has_it(swarm: Swarm) -> None:
    swarm.start()
    swarm.until_logged("tick epic=")
    link = swarm.box.cwd / LINK
    assert os.readlink(link) == watchdog_store.default_log_path("work")
    assert link.read_text() == swarm.log
    assert swarm.start().err == "", "a link that is there is no trouble"


@pytest.mark.parametrize("there", ["a file", "an old link"])
def test_what_is_there_already_is_left_unless_it_is_a_link_of_ours(swarm: Swarm, there: str) -> None:
    link = swarm.box.cwd / LINK
    if there == "a file":
        link.write_text("of the original\n")
    else:
        link.symlink_to("/nowhere/at/all")
    started = swarm.start()
    assert started.code == 0
    if there == "a file":
        assert f"{link} could not be linked to the log: something else is there" in started.err
        assert link.read_text() == "of the original\n"
    else:
        assert os.readlink(link) == watchdog_store.default_log_path("work")


def test_no_link_is_made_to_a_log_of_ones_own(swarm: Swarm, tmp_path: Path) -> None:
    swarm.start("--log-file", str(tmp_path / "my.log"))
    assert not os.path.lexists(swarm.box.cwd / LINK)


def test_a_tracker_without_end_is_reported_and_a_signal_ends_the_watchdog(swarm: Swarm) -> None:
    (swarm.project / ".beads").mkdir()
    with closing(sqlite3.connect(swarm.project / ".beads/beads.db")) as database:
        database.execute(
            "CREATE VIEW issues AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
            "SELECT id FROM n WHERE id < 0"
        )
    words = ("--session", "work", *swarm.private.server, "--project-dir", str(swarm.project))
    running = swarm.box.start("watchdog", "run", *words)
    try:
        swarm.until_logged("issues is not a plain table")
        kill(running.pid, signal.SIGTERM)
        running.communicate(timeout=PATIENCE)
        assert running.returncode == 128 + signal.SIGTERM
    finally:
        running.kill()
        running.communicate()
