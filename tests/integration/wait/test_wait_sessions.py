"""Waiting for sessions: for their outcome or for their process, among jobs, and beside a monitor."""

from __future__ import annotations

import json
import os
import pty
import signal

import pytest

from midwatch.core.exit_codes import EXIT_CODES, STILL_RUNNING
from tests.conftest import kill, until, until_gone
from tests.integration.spawn.office import Office
from tests.integration.wait.watching import Gate, finish, silent_for, start, start_gated, waiter

A_LOOK = 2.5
"""Seconds in which a wait has looked again, whatever it does between."""


@pytest.mark.parametrize(
    ("then", "state"),
    [
        ("say", "completed"),
        ("fail", "failed"),
        ("stop", "waiting"),
        ("ask", "waiting"),
        ("limit 5pm (UTC)", "limited"),
        ("exit 0", "stopped"),
        ("exit 3", "failed"),
        ("die 9", "crashed"),
    ],
)
def test_a_wait_is_told_what_becomes_of_a_turn(office: Office, then: str, state: str) -> None:
    office.spawned(prompt="work")
    with waiter(office.box, "api") as process:
        office.go(then)
        done = finish(process)
    assert (done.json["state"], done.code) == (state, EXIT_CODES[state])


def test_it_leaves_no_trace(office: Office) -> None:
    """No client in tmux, no notes of a monitor, no lease, nothing typed."""
    office.spawned(prompt="work")
    typed, files = office.typed(), sorted(path.name for path in office.box.dir.iterdir())
    with waiter(office.box, "api") as process:
        assert silent_for(process, A_LOOK)
        assert office.tmux("list-clients") == ""
        process.terminate()
        process.wait()
    assert (office.typed(), sorted(path.name for path in office.box.dir.iterdir())) == (typed, files)


# What is waited for -------------------------------------------------------------------------------------------------


def test_until_exited_waits_for_the_process_alone(office: Office) -> None:
    office.spawned(prompt="ask")
    _, work = office.box.pids("api")
    with waiter(office.box, "api", "--until", "exited") as process:
        kill(work, signal.SIGSTOP)
        office.until_state("waiting")
        assert silent_for(process, A_LOOK)
        kill(work, signal.SIGCONT)
        kill(work, signal.SIGKILL)
        done = finish(process)
    assert (done.json["state"], done.json["cause"], done.code) == ("crashed", "signal", 3)


def test_until_exited_says_how_a_session_ended_as_ls_does(office: Office) -> None:
    """It left in the middle of a turn; that it worked, a monitor wrote down before it was killed."""
    office.spawned(prompt="work")
    watcher = office.monitor()
    office.until_watched("working")
    watcher.close()
    with waiter(office.box, "api", "--until", "exited") as process:
        office.go("exit 0")
        done = finish(process)
    assert (done.json["state"], done.json["cause"]) == ("stopped", "left-mid-turn")
    assert office.listed() == {"api": "stopped"}


def test_until_exited_means_the_end_of_a_job(office: Office) -> None:
    start(office.box, "job", "sh", "-c", "exit 3")
    assert office.box("wait", "job", "--until", "exited").code == 1


def test_until_exited_that_runs_out_of_time_tells_the_live_state(office: Office) -> None:
    office.spawned(prompt="ask")
    done = office.box("wait", "api", "--until", "exited", "--timeout", "100ms", "--json")
    assert (done.json["state"], done.json["cause"], done.code) == ("waiting", "permission", STILL_RUNNING)


def test_until_final_waits_on_while_it_waits_for_a_person(office: Office) -> None:
    office.spawned(prompt="ask")
    with waiter(office.box, "api", "--until", "final") as process:
        assert silent_for(process, A_LOOK)
        office.tmux("send-keys", "-t", office.box.record("api")["pane"]["id"], "y")
        assert finish(process).json["state"] == "completed"


@pytest.mark.parametrize(("prompt", "state"), [("work", "working"), ("ask", "waiting"), ("say", "completed")])
def test_a_state_can_be_waited_for(office: Office, prompt: str, state: str) -> None:
    office.spawned()
    with waiter(office.box, "api", "--until", state) as process:
        assert office.box("send", "api", prompt).code == 0
        assert finish(process).json["state"] == state


def test_idle_is_told_at_once(office: Office) -> None:
    """Though the outcome of a turn is told only when it has lasted, and background work is waited for."""
    office.spawned(prompt="work")
    with waiter(office.box, "api", "--until", "idle") as process:
        office.go("shell")
        done = finish(process)
    assert (done.json["state"], done.json["cause"], done.code) == ("idle", "background-work", 0)


def test_a_turn_that_ends_ends_every_wait(office: Office) -> None:
    office.spawned(prompt="work")
    with waiter(office.box, "api", "--until", "waiting") as process:
        office.go()
        assert finish(process).json["state"] == "completed"


def test_a_line_of_its_log_can_be_waited_for(office: Office) -> None:
    office.spawned(prompt="work")
    with waiter(office.box, "api", "--match", "Fine") as process:
        office.go()
        done = finish(process)
    assert (done.code, "a line matched: " in done.json["reason"]) == (0, True)


def test_it_may_not_be_there_yet(office: Office) -> None:
    with waiter(office.box, "api", "--start", "60s") as process:
        office.spawned(prompt="ask")
        assert finish(process).json["state"] == "waiting"


def test_who_waits_may_ask_for_another_verification(office: Office) -> None:
    office.spawned("api", "--verify", "true", prompt="say")
    found = office.box("wait", "api", "--verify", "false", "--json")
    assert (found.json["state"], found.json["cause"], found.code) == ("incomplete", "not-verified", 6)


# Several ------------------------------------------------------------------------------------------------------------


def test_jobs_and_sessions_are_waited_for_together(office: Office, gate: Gate) -> None:
    start_gated(office.box, gate, "job", "exit 3")
    office.spawned("one", prompt="ask")
    office.spawned("two", prompt="say")
    with waiter(office.box, "job", "one", "two") as process:
        until(lambda: len(office.starts()) == len(("one", "two")))
        gate.say()
        done = finish(process)
    found = {each["name"]: each["state"] for each in map(json.loads, done.out.splitlines())}
    assert found == {"job": "failed", "one": "waiting", "two": "completed"}
    assert done.code == 1


def test_the_first_of_jobs_and_sessions(office: Office, gate: Gate) -> None:
    start_gated(office.box, gate, "job", "exit 3")
    office.spawned("api", prompt="work")
    with waiter(office.box, "job", "api", "--any") as process:
        office.go("ask")
        done = finish(process)
    assert (done.json["name"], done.json["state"], done.code) == ("api", "waiting", 8)


# Beside a monitor ---------------------------------------------------------------------------------------------------


def test_a_crash_that_a_monitor_resumes_is_no_end(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    with waiter(office.box, "api") as process:
        kill(office.box.pids("api")[1], signal.SIGKILL)
        done = finish(process)
    assert (done.json["state"], done.json["cause"]) == ("completed", "turn-ended")
    assert watcher.end()["state"] == "completed"
    assert [each["argv"][0] for each in office.starts()] == ["--session-id", "--resume"]


def test_nor_is_a_hang(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1", "--stale", "2s", "--grace", "1s")
    office.until_watched("working")
    with waiter(office.box, "api") as process:
        done = finish(process)
    assert (done.json["state"], done.json["cause"]) == ("completed", "turn-ended")
    assert watcher.end()["state"] == "completed"


def test_a_crash_that_no_monitor_resumes_is_one(office: Office) -> None:
    office.resumed("die 9")
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    with waiter(office.box, "api") as process:
        kill(office.box.pids("api")[1], signal.SIGKILL)
        done = finish(process)
    assert (done.json["state"], done.code) == ("crashed", 3)
    assert watcher.end()["state"] == "crashed"
    assert len(office.starts()) == len(("the first", "the resumed"))


def test_a_monitor_that_was_killed_resumes_nothing(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--resume", "1")
    office.until_watched("working")
    watcher.close()
    with waiter(office.box, "api") as process:
        kill(office.box.pids("api")[1], signal.SIGKILL)
        assert finish(process).json["state"] == "crashed"


def test_a_session_that_its_monitor_closes_is_completed(office: Office) -> None:
    office.spawned(prompt="work")
    watcher = office.monitor("api", "--cleanup")
    office.until_watched("working")
    with waiter(office.box, "api") as process:
        office.go()
        assert finish(process).json["state"] == "completed"
    assert watcher.end()["state"] == "completed"


def test_the_run_that_was_waited_for_is_told_of_though_the_next_has_begun(office: Office) -> None:
    office.spawned(prompt="work")
    with waiter(office.box, "api") as process:
        kill(process.pid, signal.SIGSTOP)
        office.go("exit 3")
        until_gone(office.box.pids("api")[0])
        (office.notes / "go").unlink()
        office.spawned(prompt="work")
        kill(process.pid, signal.SIGCONT)
        assert finish(process).json["state"] == "failed"


# On a terminal ------------------------------------------------------------------------------------------------------


def test_the_live_line_shows_the_turn(office: Office) -> None:
    office.spawned(prompt="shell")
    office.until_state("idle")
    terminal, theirs = pty.openpty()
    with office.box.start("wait", "api", stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"api idle" not in shown:
            shown += os.read(terminal, 4096)
        process.kill()
    os.close(terminal)
