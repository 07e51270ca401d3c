"""What a monitor says of a session, however it ends or does not."""

from __future__ import annotations

import os
import signal

import pytest

from midwatch.core.exit_codes import EXIT_CODES
from tests.conftest import alive, kill, until, until_gone
from tests.integration.spawn.office import Office

ABANDONED = 11


@pytest.mark.parametrize(
    ("then", "state", "reason"),
    [
        ("say hello", "completed", "its turn has ended; nothing to verify against"),
        ("fail", "failed", "its turn failed"),
        ("stop", "waiting", "it was interrupted"),
        ("ask", "waiting", "it waits for a permission"),
        ("limit 5pm (UTC)", "limited", "it hit a limit, until 5pm (UTC)"),
        ("exit 0", "stopped", "in the middle of a turn (working)"),
        ("exit 3", "failed", "exit 3"),
        ("die 9", "crashed", "killed by SIGKILL"),
    ],
)
def test_it_says_what_became_of_a_turn_and_leaves_the_session(
    office: Office, then: str, state: str, reason: str
) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    office.go(then)
    end = watcher.end()
    assert (end["state"], end["code"]) == (state, EXIT_CODES[state])
    assert reason in end["reason"]
    assert office.sessions() == ["api"]
    assert office.watch()["verdict"]["state"] == state


def test_background_work_is_waited_for(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    office.go("shell")
    office.until_watched("idle")
    watcher.until_said("background work runs")
    assert watcher.process.poll() is None


@pytest.mark.parametrize("whom", ["agent", "shim", "both"])
def test_a_kill_is_a_crash(office: Office, whom: str) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    shim, work = office.box.pids("api")
    for pid in {"agent": [work], "shim": [shim], "both": [shim, work]}[whom]:
        kill(pid, signal.SIGKILL)
    end = watcher.end()
    assert (end["state"], end["code"]) == ("crashed", 3)
    assert not alive(work)


def test_a_persons_stop_is_no_crash(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    assert office.box("stop", "api").code == 0
    end = watcher.end()
    assert (end["state"], end["code"]) == ("stopped", 10)
    assert "stop was asked for" in end["reason"]


def test_a_session_that_is_killed_was_stopped(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    office.tmux("kill-session", "-t", "=api")
    end = watcher.end()
    assert (end["state"], end["code"]) == ("stopped", 10)
    assert "its terminal went away" in end["reason"]


def test_the_end_of_the_server_is_the_end_of_its_sessions(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    kill(office.tmux.pid, signal.SIGKILL)
    end = watcher.end()
    assert (end["state"], end["code"]) == ("stopped", 10)
    os.unlink(office.tmux.socket)


def test_a_suspended_agent_waits_for_a_person(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    _, work = office.box.pids("api")
    kill(work, signal.SIGSTOP)
    end = watcher.end()
    assert (end["state"], end["code"], end["final"]) == ("waiting", 8, False)
    assert "suspended" in end["reason"]
    assert len(office.starts()) == 1


def test_nothing_is_typed_into_a_dialog(office: Office) -> None:
    office.spawned(prompt="ask")
    before = office.typed()
    assert office.monitor("api", "--resume", "1", "--on-limit", "wait", "--cleanup").end()["state"] == "waiting"
    assert office.typed() == before
    assert office.sessions() == ["api"]
    assert office.listed() == {"api": "waiting"}


def test_a_turn_without_progress_is_stuck_when_its_grace_is_over(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--stale", "2s", "--grace", "1s")
    end = watcher.end()
    assert (end["state"], end["code"], end["final"]) == ("stuck", 4, False)
    assert "no progress for" in end["reason"]
    assert "(grace 1s over)" in end["reason"]
    assert office.state()["state"] == "stuck"
    office.go()
    assert office.monitor().end()["state"] == "completed"


def test_whoever_comes_later_judges_by_his_own_patience(office: Office) -> None:
    office.spawned(prompt="work")
    first = office.monitor("api", "--stale", "1h")
    office.until_watched("working")
    kill(first.pid, signal.SIGKILL)
    first.process.wait()
    assert office.monitor("api", "--stale", "2s", "--grace", "1s").end()["state"] == "stuck"


def test_a_session_at_its_prompt_is_waited_for(office: Office) -> None:
    office.spawned()
    watcher = office.monitor()
    office.until_watched("idle")
    office.box("send", "api", "say hello")
    assert watcher.end()["state"] == "completed"


def test_there_may_be_no_such_session(office: Office) -> None:
    end = office.monitor("nobody").end()
    assert (end["state"], end["code"], end["kind"]) == ("not_found", 7, "session")


def test_a_job_is_no_session(office: Office) -> None:
    office.box("run", "-d", "--name", "job", "--", "true")
    done = office.box("monitor", "job")
    assert done.code == 12
    assert "job is no session; `midwatch wait job` waits for a job" in done.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "monitor needs one session"),
        (("api", "--resume", "-1"), "--resume is a number from 0"),
        (("api", "--deadline", "0"), "--deadline must be above 0"),
        (("api", "--on-limit", "pray"), "--on-limit"),
        (("%3", "--cleanup"), "name it (=session)"),
    ],
)
def test_what_is_meant_must_be_said_well(office: Office, words: tuple[str, ...], said: str) -> None:
    done = office.box("monitor", *words)
    assert done.code == 2
    assert said in done.err


# The monitor's own end ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_ending_the_monitor_leaves_what_it_watches(office: Office, number: signal.Signals) -> None:
    """A defect of the original systems: whoever ended the monitor killed the session."""
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--cleanup", "--resume", "1")
    office.until_watched("working")
    watcher.process.send_signal(number)
    end = watcher.end()
    assert (end["state"], end["code"]) == ("abandoned", ABANDONED)
    assert f"the monitor was ended by {number.name}; it was left as it is (working: " in end["reason"]
    watch = office.watch()
    assert (watch["verdict"]["state"], watch["left"]) == ("abandoned", True)
    assert office.listed() == {"api": "working"}


def test_its_deadline_leaves_the_work_as_it_is(office: Office) -> None:
    office.spawned(prompt="work")
    end = office.monitor("api", "--deadline", "1s", "--cleanup", "--resume", "1").end()
    assert (end["state"], end["code"]) == ("abandoned", ABANDONED)
    assert "the monitor's time was up (1s)" in end["reason"]
    assert office.listed() == {"api": "working"}
    assert len(office.starts()) == 1


def test_what_has_ended_is_said_although_the_monitor_was_told_to_end(office: Office) -> None:
    office.spawned(prompt="exit 3")
    office.box("wait", "api")
    watcher = office.monitor("api", "--deadline", "1ms")
    end = watcher.end()
    assert (end["state"], end["code"]) == ("failed", 1)


def test_the_record_is_never_written_by_a_monitor(office: Office) -> None:
    office.spawned(prompt="say hello")
    before = office.box.record("api")
    office.monitor().end()
    assert office.box.record("api") == before
    assert not office.box.path("api.status").exists()


# Cleaning up ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("then", ["say", "bye 0"])
def test_cleanup_closes_that_session_and_it_stays_completed(office: Office, then: str) -> None:
    office.spawned("other", prompt="say hello")
    office.spawned("api", prompt=then)
    shim, work = office.box.pids("api")
    end = office.monitor("api", "--cleanup").end()
    assert (end["state"], end["code"]) == ("completed", 0)
    assert office.sessions() == ["other"]
    until_gone(shim)
    assert not alive(work)
    assert office.listed() == {"api": "completed", "other": "idle"}
    assert "● Fine." in office.box("logs", "api").out


def test_cleanup_spares_a_session_that_its_pane_was_moved_to(office: Office) -> None:
    office.spawned("api", prompt="say hello")
    office.tmux.start("cat", "others")
    office.tmux("join-pane", "-d", "-s", office.box.record("api")["pane"]["id"], "-t", "=others:")
    until(lambda: office.sessions() == ["others"])
    end = office.monitor("api", "--cleanup").end()
    assert "its session could not be closed: its pane is in session others now" in end["reason"]
    assert office.sessions() == ["others"]


def test_cleanup_spares_a_session_that_has_its_name_after_a_restart_of_tmux(office: Office) -> None:
    office.spawned("api", prompt="exit 3")
    office.box("wait", "api")
    office.tmux.stop()
    office.tmux.start("cat", "api")
    assert office.monitor("api", "--cleanup").end()["state"] == "failed"
    assert office.sessions() == ["api"]


def test_who_ends_its_turn_and_leaves_in_one_go_has_completed_it(office: Office) -> None:
    """Nobody can have seen it idle; what it wrote down tells."""
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    office.go("bye 0")
    end = watcher.end()
    assert (end["state"], end["exit_code"]) == ("completed", 0), end
