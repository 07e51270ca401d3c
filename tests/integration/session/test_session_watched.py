"""`session restore` for sessions that a job watched: back by their own conversation, at work, and watched again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from typing import Any

import pytest

from tests.conftest import Done, kill, until, until_gone
from tests.integration.session.desk import Desk
from tests.integration.spawn.office import Office


def reboot(office: Office, *jobs: str) -> None:
    """The tmux server and all processes are gone at once, and nobody could write anything down."""
    server = int(office.tmux("display-message", "-p", "#{pid}"))
    gone = [pid for job in jobs for pid in office.box.pids(job)]
    for pid in (*gone, server):
        kill(pid, signal.SIGSTOP)
    for pid in (*gone, server):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for pid in (*gone, server):
        until_gone(pid)


def restored(office: Office, *more: str) -> tuple[Done, list[dict[str, Any]]]:
    done = office.box("session", "restore", "--json", *more)
    return done, [json.loads(line) for line in done.out.splitlines()]


def test_a_watched_session_is_back_after_a_reboot_at_work_and_watched(office: Office) -> None:
    before = office.spawned("api", "--watch", "--model", "opus", prompt="work")
    office.until_watched("working")
    reboot(office, "api.monitor", "api")
    assert office.listed() == {"api": "crashed", "api.monitor": "crashed"}
    done, (row,) = restored(office)
    assert done.code == 0, done
    assert (row["name"], row["outcome"], row["monitor"]) == ("api", "resumed", "api.monitor")
    assert office.start(2)["argv"] == ["--resume", before["conversation"], "--model", "opus"]
    assert b"Continue where you left off." in office.typed()
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"
    assert office.box.record("api")["attempt"] == 2


def test_what_would_be_brought_back_is_shown_and_nothing_is_done(office: Office) -> None:
    conversation = office.spawned("api", "--watch", prompt="work")["conversation"]
    office.until_watched("working")
    reboot(office, "api.monitor", "api")
    done = office.box("session", "restore", "--dry-run")
    assert (done.code, done.out) == (
        0, f"api: would be resumed: claude --resume {conversation} (in {office.cwd})\n",
    )  # fmt: skip
    assert (len(office.starts()), office.sessions()) == (1, [])


def test_what_has_been_used_up_of_a_plan_stays_so(office: Office) -> None:
    office.spawned("api", "--watch", "--deadline", "9h", "--continues", "4", prompt="work")
    office.until_watched("working")
    plan = json.loads(office.box.path("api.plan").read_text())
    reboot(office, "api.monitor", "api")
    office.box.path("api.plan").write_text(json.dumps(plan | {"continues": 1}))
    office.resumed("work", "work")
    assert restored(office)[0].code == 0
    office.until_watched("working")
    found = json.loads(office.box.path("api.plan").read_text())
    assert (found["continues"], found["run"]) == (1, office.box.record("api")["run"])
    assert found["arguments"] == plan["arguments"]
    assert "9h" in office.box.record("api.monitor")["command"]


def test_a_session_that_lives_is_only_watched_again(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    for pid in office.box.pids("api.monitor"):
        kill(pid, signal.SIGKILL)
    until(lambda: office.listed()["api.monitor"] == "crashed")
    done, (row,) = restored(office)
    assert (done.code, row["outcome"], len(office.starts())) == (0, "watched", 1)
    office.go()
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"


@pytest.mark.parametrize("what", ["api", "api.monitor"])
def test_what_a_person_stopped_is_not_brought_back(office: Office, what: str) -> None:
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    assert office.box("stop", what).code == 0
    office.box("wait", "api.monitor")
    if what == "api.monitor":
        reboot(office, "api")
    done = office.box("session", "restore")
    assert (done.code, done.out, len(office.starts())) == (0, "", 1)
    assert "nothing is to be restored" in done.err


def test_work_that_was_completed_is_not_brought_back(office: Office) -> None:
    office.spawned("api", "--watch", prompt="say")
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"
    reboot(office, "api")
    assert (office.box("session", "restore").out, len(office.starts())) == ("", 1)


def test_a_tmux_server_that_was_killed_takes_nothing_for_good(office: Office) -> None:
    """Its sessions are hung up, which is how a shutdown ends them too, and nobody said that they should be over."""
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    server = int(office.tmux("display-message", "-p", "#{pid}"))
    kill(server, signal.SIGKILL)
    office.box("wait", "api.monitor")
    assert office.listed()["api"] == "stopped"
    assert restored(office)[0].code == 0
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"
    assert len(office.starts()) == 2


def test_a_conversation_that_is_open_elsewhere_is_never_opened_twice(office: Office) -> None:
    office.spawned("api", "--watch", prompt="ghost")
    office.until_watched("working")
    ghost = int((office.notes / "ghost").read_text())
    reboot(office, "api.monitor", "api")
    done, (row,) = restored(office)
    kill(ghost, signal.SIGKILL)
    until_gone(ghost)
    assert (done.code, row["outcome"], len(office.starts())) == (1, "failed", 1)
    assert f"is open in another process ({ghost})" in row["reason"]


def test_a_session_of_the_list_is_brought_back_once_with_its_row_and_watched(desk: Desk, office: Office) -> None:
    desk.create()
    assert office.box("monitor", "-d", "api").code == 0
    assert office.box("send", "api", "work").code == 0
    office.until_watched("working")
    reboot(office, "api.monitor", "api")
    done, rows = restored(office, "--socket", desk.socket)
    assert (done.code, [row["outcome"] for row in rows]) == (0, ["resumed", "resumed"])
    assert desk.row()["status"] == "running"
    assert len(office.starts()) == 2
    assert office.box("wait", "api.monitor", "--json").json["state"] == "completed"
