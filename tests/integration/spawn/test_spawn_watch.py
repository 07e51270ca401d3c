"""`spawn --watch` and `monitor -d`: a monitor in a job of its own, which watches to the end of the work."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tests.conftest import kill, until, until_gone
from tests.integration.spawn.office import Office

SOON = ("--stale", "2s", "--grace", "1s")


def ended(office: Office, job: str = "api.monitor") -> dict[str, Any]:
    """How the job that watches came to its end."""
    return office.box("wait", job, "--json").json


def said(office: Office, words: str, job: str = "api.monitor") -> None:
    """Until the job has written these words into its log."""
    office.box.until_file(f"{job}.log", lambda text: words in text)


def test_a_watched_session_completes_and_so_does_the_job_that_watches_it(office: Office) -> None:
    done = office.spawn("api", "--watch", prompt="say")
    assert (done.code, done.out) == (0, "api\n")
    end = ended(office)
    assert (end["kind"], end["state"]) == ("job", "completed")
    assert (end["result"]["name"], end["result"]["state"]) == ("api", "completed")
    last = office.box("logs", "api.monitor").out.splitlines()[-1]
    assert last.startswith('{"schema":1,"name":"api","kind":"session","state":"completed"')
    assert office.listed() == {"api": "idle", "api.monitor": "completed"}


def test_a_crash_of_a_watched_session_is_resumed_without_anybody_at_a_terminal(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    assert ended(office)["state"] == "completed"
    assert office.box.record("api")["attempt"] == 2
    assert "; resuming it (1 of 3)" in office.box("logs", "api.monitor").out


def test_a_session_that_waits_for_a_person_is_watched_on_until_its_work_ends(office: Office) -> None:
    office.spawned("api", "--watch", prompt="ask")
    said(office, "api: waiting: it waits for a permission")
    assert "api: waiting" in office.box("why", "api.monitor").out
    office.tmux("send-keys", "-t", "=api:", "y")
    assert ended(office)["state"] == "completed"


def test_a_hang_without_a_resume_left_is_told_and_watched_on(office: Office) -> None:
    office.spawned("api", "--watch", "--resume", "0", *SOON, prompt="still")
    said(office, "api: stuck: ")
    office.go()
    assert ended(office)["state"] == "completed"


def test_work_that_is_not_there_is_told_once_and_the_next_turn_may_bring_it(office: Office) -> None:
    asked = office.home / "asked"
    check = f"echo asked >> {asked}; test -e {office.home}/done"
    office.spawned("api", "--watch", "--verify", f'sh -c "{check}"', prompt="say")
    said(office, "api: incomplete: ")
    (office.home / "done").touch()
    assert office.box("send", "api", "and now the rest").code == 0
    assert ended(office)["state"] == "completed"
    assert asked.read_text() == "asked\n" * 2


def test_stop_ends_the_session_and_its_monitor_comes_to_its_end(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    assert office.box("stop", "api").code == 0
    assert ended(office)["state"] == "completed"
    assert '"state":"stopped"' in office.box("logs", "api.monitor").out


def test_the_monitor_can_be_stopped_alone(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    assert office.box("stop", "api.monitor").code == 0
    assert office.listed() == {"api": "working", "api.monitor": "stopped"}


def test_a_second_monitor_is_refused_with_the_job_that_watches(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    refused = office.box("monitor", "-d", "api")
    assert refused.code == 125
    assert "api is watched already, by the job api.monitor" in refused.err
    assert "`midwatch stop api.monitor` ends that watch" in refused.err


def test_a_job_beside_a_monitor_in_the_foreground_is_refused(office: Office) -> None:
    office.spawned("api", prompt="work")
    watcher = office.monitor("api")
    office.until_watched("working")
    refused = office.box("monitor", "-d", "api")
    assert refused.code == 125
    assert f"by another `midwatch monitor` (pid {watcher.pid})" in refused.err
    assert office.listed() == {"api": "working"}


def test_a_monitor_in_the_foreground_beside_the_job_says_what_it_always_says(office: Office) -> None:
    office.spawned("api", "--watch", prompt="ask")
    said(office, "api: waiting: it waits for a permission")
    end = office.monitor("api").end()
    assert (end["state"], end["code"]) == ("waiting", 8)
    assert office.listed()["api.monitor"] == "working"


def test_a_running_session_is_watched_from_now_on(office: Office) -> None:
    office.spawned("api", prompt="work")
    done = office.box("monitor", "-d", "api", "--json")
    assert (done.code, done.json["name"], done.json["state"]) == (0, "api.monitor", "working")
    office.until_watched("working")
    kill(office.box.pids("api")[1], signal.SIGKILL)
    assert ended(office)["state"] == "completed"
    assert office.box.record("api")["attempt"] == 2


def test_the_same_name_can_be_watched_again(office: Office) -> None:
    for _ in range(2):
        office.spawned("api", "--watch", prompt="work")
        office.until_watched("working")
        assert office.box("stop", "api").code == 0
    assert office.listed()["api"] == "stopped"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--resume", "2"), "--resume is for the monitor that --watch leaves behind; add --watch"),
        (("--watch", "--resume", "many"), "--resume is a number from 0 to 1000"),
        (("--watch", "--headless"), "--watch is for a session"),
    ],
)
def test_what_means_nothing_is_refused_before_anything_starts(office: Office, words: tuple[str, ...], why: str) -> None:
    done = office.spawn("api", *words, prompt="say")
    assert (done.code, office.starts()) == (2, [])
    assert why in done.err


def test_the_monitor_has_no_terminal_and_a_session_of_its_own(office: Office) -> None:
    office.spawned("api", "--watch", prompt="work")
    shim, work = office.box.pids("api.monitor")
    assert {os.getsid(pid) for pid in (shim, work)} == {shim, work}
    assert os.readlink(f"/proc/{work}/fd/0") == "/dev/null"
    office.go()
    assert ended(office)["state"] == "completed"
    until_gone(shim)


def test_a_tmux_server_that_a_monitor_had_to_start_outlives_the_monitor(office: Office) -> None:
    """It is below the monitor's job, and holds the session."""
    office.spawned("api", "--watch", prompt="work")
    office.until_watched("working")
    office.begin("", "work")
    gone = (*office.box.pids("api"), int(office.tmux("display-message", "-p", "#{pid}")))
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in gone:
            kill(pid, number)
    office.start(2)
    until(lambda: office.listed()["api"] == "working")
    assert office.box("stop", "api.monitor").code == 0
    assert office.listed() == {"api": "working", "api.monitor": "stopped"}
    assert office.sessions() == ["api"]
