"""Directories written by a shell wrapper in the sentinel protocol, as it is."""

import os
import signal

import pytest

from midwatch.system import procfs
from tests.conftest import Box, alive, until, until_gone
from tests.integration.foreign.template import wrapped
from tests.integration.wait.watching import (
    LONG_ENOUGH,
    SOON_BY_ENV,
    Gate,
    Stopwatch,
    allowed,
    finish,
    listed,
    silent_for,
    waiter,
    within,
)


def test_success_is_completed_with_its_result(box: Box) -> None:
    with wrapped(box, "step", "true"):
        done = box("wait", "step", "--dir", str(box.dir), "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (0, "completed", True)
    assert done.json["result"] == {"key": "value"}
    assert done.json["log"] == str(box.path("step.log"))


def test_failure_is_failed(box: Box) -> None:
    with wrapped(box, "step", "sh -c 'echo oops >&2; exit 3'"):
        done = box("wait", "step", "--json")
    assert (done.code, done.json["state"], done.json["next"]) == (1, "failed", "escalate")
    assert box("logs", "step").out == "oops\n"


def test_a_wait_started_while_it_works_is_told_the_success_and_the_result(box: Box, gate: Gate) -> None:
    with wrapped(box, "step", f"read -r line < {gate.path}"), waiter(box, "step") as process:
        assert silent_for(process, 0.2)
        gate.say()
        done = finish(process, 5)
    assert (done.code, done.json["result"]) == (0, {"key": "value"})


def test_a_wait_started_before_the_wrapper_is_told_the_success(box: Box) -> None:
    with waiter(box, "step", "--start", "20s") as process, wrapped(box, "step", "true"):
        assert finish(process, 10).json["result"] == {"key": "value"}


def test_many_steps_are_each_told_with_their_result(box: Box) -> None:
    """The status comes before the result; however the two fall, the result is never missed."""
    with waiter(box, *(f"step-{n}" for n in range(10)), "--start", "20s") as process:
        for n in range(10):
            with wrapped(box, f"step-{n}", "true"):
                box.until_file(f"step-{n}.result", lambda text: text != "")
        done = finish(process, 10)
    assert done.code == 0
    assert done.out.count('"result":{"key":"value"}') == 10


def test_a_line_of_its_log_can_be_waited_for(box: Box, gate: Gate) -> None:
    command = f"sh -c 'read -r line < {gate.path}; echo \"$line\" >&2; read -r line < {gate.path}'"
    with wrapped(box, "step", command), waiter(box, "step", "--match", "ready") as process:
        assert silent_for(process, 0.2)
        gate.say("ready")
        assert finish(process, 5).code == 0


def test_a_killed_wrapper_is_crashed_at_once_although_its_heart_goes_on_beating(box: Box) -> None:
    with wrapped(box, "step", "sleep 300") as pid, waiter(box, "step") as process:
        os.kill(pid, signal.SIGKILL)
        watch = Stopwatch()
        done = finish(process, 5)
        assert watch.seconds < allowed(2.0)
    assert (done.code, done.json["state"], done.json["next"]) == (3, "crashed", "retry")


def test_a_hung_command_under_a_fresh_heartbeat_is_stuck(box: Box) -> None:
    with wrapped(box, "step", "sleep 300") as pid:
        done = within(box, 15, "wait", "step", "--json", **SOON_BY_ENV)
        assert alive(pid)
    assert (done.code, done.json["state"], done.json["final"]) == (4, "stuck", False)
    assert "stale after 1s, grace 1s" in done.json["reason"]


def test_a_silent_command_that_computes_is_not_stuck(box: Box) -> None:
    with wrapped(box, "step", "sh -c 'while :; do :; done'"):
        assert box("wait", "step", "--timeout", LONG_ENOUGH, **SOON_BY_ENV).code == 13


def test_a_command_that_writes_to_its_log_is_not_stuck(box: Box) -> None:
    with wrapped(box, "step", "sh -c 'while :; do echo x >&2; sleep 0.3; done'"):
        assert box("wait", "step", "--timeout", LONG_ENOUGH, **SOON_BY_ENV).code == 13


def test_where_the_work_itself_touches_the_heartbeat_that_counts_as_progress(box: Box) -> None:
    command = "sh -c 'while :; do touch jobs/step.heartbeat; sleep 0.3; done'"
    env = SOON_BY_ENV | {"MIDWATCH_PROGRESS": "heartbeat"}
    with wrapped(box, "step", command):
        assert box("wait", "step", "--timeout", LONG_ENOUGH, **env).code == 13


def test_a_suspended_wrapper_is_waiting_for_a_person(box: Box) -> None:
    with wrapped(box, "step", "sleep 300") as pid:
        os.kill(pid, signal.SIGSTOP)
        assert box("wait", "step", "--json").json["state"] == "waiting"


def test_ls_lists_steps_in_each_state(box: Box) -> None:
    with wrapped(box, "fine", "true"), wrapped(box, "fail", "false"), wrapped(box, "work", "sleep 300"):
        with wrapped(box, "dead", "sleep 300") as pid:
            os.kill(pid, signal.SIGKILL)
            until_gone(pid)
            box.until_file("fine.result", lambda text: text != "")
            box.until_file("fail.status", lambda text: text == "FAILED\n")
            rows = listed(box, "--dir", str(box.dir))
        found = {name: (row["state"], row["final"]) for name, row in rows.items()}
    assert found == {
        "fine": ("completed", True),
        "fail": ("failed", True),
        "work": ("working", False),
        "dead": ("crashed", True),
    }


def test_why_names_the_pid_file_and_the_status_file(box: Box) -> None:
    with wrapped(box, "step", "sleep 300") as pid:
        assert f"pid {pid} is alive" in box("why", "step").out
    with wrapped(box, "done", "true"):
        box.until_file("done.result", lambda text: text != "")
        assert "SUCCESS" in box("why", "done").out


def test_stop_ends_wrapper_toucher_and_command_and_leaves_a_status(box: Box) -> None:
    with wrapped(box, "step", "sleep 300") as pid:
        until(lambda: len(procfs.descendants(pid)) >= 3)
        tree = [pid, *procfs.descendants(pid)]
        done = box("stop", "step", "--dir", str(box.dir), "--json")
        assert done.code == 0, done
        assert [process for process in tree if alive(process)] == []
    assert box.path("step.status").read_text() == "FAILED\n"


@pytest.mark.parametrize("command", ["true", "false", "sleep 300"])
def test_waiting_and_listing_write_nothing_into_a_foreign_directory(box: Box, command: str) -> None:
    with wrapped(box, "step", command):
        box("wait", "step", "--timeout", "1.5s", **SOON_BY_ENV)
        box("ls")
        suffixes = {path.name.removeprefix("step.") for path in box.dir.iterdir()}
    assert suffixes <= {"pid", "heartbeat", "log", "status", "result"}
