import os
import signal

import pytest

from tests.conftest import Box, kill, until_gone
from tests.integration.wait.watching import (
    SOON,
    Gate,
    finish,
    forge,
    silent_for,
    start,
    start_gated,
    waiter,
    within,
)

ELSEWHERE = {"host": "elsewhere", "boot": "11111111-1111-1111-1111-111111111111", "pidns": "pid:[1]"}


def test_completed_is_0(box: Box) -> None:
    start(box, "job", "true")
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["exit_code"], done.json["next"]) == (0, "completed", 0, "proceed")


def test_failed_is_1_whatever_the_command_said(box: Box) -> None:
    start(box, "job", "sh", "-c", "exit 42")
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["exit_code"], done.json["next"]) == (1, "failed", 42, "escalate")


def test_work_killed_by_a_signal_is_crashed_3(box: Box) -> None:
    start(box, "job", "sh", "-c", "kill -SEGV $$")
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["signal"], done.json["next"]) == (3, "crashed", 11, "retry")


def test_shim_and_work_killed_is_crashed_3(box: Box) -> None:
    start(box, "job", "sleep", "300")
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (3, "crashed", True)


def test_stuck_is_4_and_not_final(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (4, "stuck", False)
    assert done.json["next"] == "investigate"


def test_timeout_is_5(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--timeout", "200ms"))
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"], done.json["next"]) == (5, "timeout", True, "escalate")


def test_a_name_that_is_not_there_is_not_found_7_at_once(box: Box) -> None:
    done = box("wait", "nobody", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (7, "not_found", True)
    assert done.json["next"] == "investigate"


def test_suspended_work_is_waiting_8_and_not_final(box: Box) -> None:
    start(box, "job", "sleep", "300")
    os.kill(box.pids("job")[1], signal.SIGSTOP)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"], done.json["next"]) == (8, "waiting", False, "escalate")
    assert "suspended" in done.json["reason"]


def test_stopped_is_10(box: Box) -> None:
    start(box, "job", "sleep", "300")
    assert box("stop", "job").code == 0
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (10, "stopped", True)


def test_a_status_that_nobody_can_read_is_unknown_12(box: Box) -> None:
    box.dir.mkdir()
    box.path("job.status").write_text("PERHAPS\n")
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["next"]) == (12, "unknown", "investigate")
    assert "PERHAPS" in done.json["reason"]


def test_work_on_another_host_is_waited_for_while_its_heartbeat_moves(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 4", *SOON)
    forge(box, "job", **ELSEWHERE)
    with waiter(box, "job") as process:
        assert silent_for(process, 3.0)
        gate.say()
        assert finish(process).json["exit_code"] == 4


def test_work_on_another_host_whose_heartbeat_stands_still_is_unknown_12(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
    forge(box, "job", **ELSEWHERE)
    done = within(box, 8, "wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (12, "unknown", False)
    assert "elsewhere" in done.json["reason"]


def test_the_callers_own_timeout_is_13_for_work_that_nobody_can_see(box: Box) -> None:
    start(box, "job", "sleep", "300")
    forge(box, "job", pidns="pid:[1]")
    done = box("wait", "job", "--timeout", "300ms", "--json")
    assert (done.code, done.json["state"]) == (13, "unknown")
    assert "another pid namespace" in done.json["reason"]


def test_work_of_an_earlier_boot_is_crashed(box: Box) -> None:
    start(box, "job", "sleep", "300")
    forge(box, "job", boot="00000000-0000-0000-0000-000000000000")
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"]) == (3, "crashed")
    assert "restarted" in done.json["reason"]


def test_the_callers_own_timeout_is_13_and_the_live_state_is_printed(box: Box) -> None:
    start(box, "job", "sleep", "300")
    done = box("wait", "job", "--json", "--timeout", "200ms")
    assert (done.code, done.json["state"], done.json["final"], done.json["next"]) == (13, "working", False, "wait")


@pytest.mark.parametrize(
    "arguments",
    [
        ("wait",),
        ("wait", "job", "--timeout", "soon"),
        ("wait", "job", "--until", "done"),
        ("wait", "job", "--match", "("),
        ("wait", "job", "--frobnicate"),
    ],
)
def test_wrong_usage_is_2_and_says_what_to_do(box: Box, arguments: tuple[str, ...]) -> None:
    done = box(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "try `midwatch wait --help`" in done.err
