"""Files that nobody should write, and files in an order that nobody should choose."""

import os
import time

import pytest

from tests.conftest import Box, alive
from tests.integration.foreign.template import dead_pid, sleeper
from tests.integration.wait.watching import (
    SOON_BY_ENV,
    Gate,
    Stopwatch,
    allowed,
    finish,
    listed,
    silent_for,
    start,
    waiter,
    within,
)


@pytest.fixture(autouse=True)
def _directory(box: Box) -> None:
    box.dir.mkdir(mode=0o700)


def write(box: Box, **files: str) -> None:
    for suffix, text in files.items():
        box.path(f"step.{suffix}").write_text(text)


def age(box: Box, suffix: str, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(box.path(f"step.{suffix}"), (moment, moment))


# SUCCESS before its result ------------------------------------------------------------------------------------------


def test_success_waits_for_a_result_that_comes_a_moment_later(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n")
        with waiter(box, "step") as process:
            write(box, status="SUCCESS\n")
            assert silent_for(process, 0.4)
            write(box, result='{"n": 1}\n')
            assert finish(process, 5).json["result"] == {"n": 1}


def test_success_waits_for_a_result_that_is_half_written(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n")
        with waiter(box, "step") as process:
            write(box, result='{"n": ', status="SUCCESS\n")
            assert silent_for(process, 0.4)
            write(box, result='{"n": 1}\n')
            assert finish(process, 5).json["result"] == {"n": 1}


def test_success_without_a_result_is_told_after_a_second_though_its_process_lives(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n")
        with waiter(box, "step") as process:
            write(box, status="SUCCESS\n")
            watch = Stopwatch()
            done = finish(process, 5)
            assert 0.9 < watch.seconds < allowed(3.0)
    assert (done.code, done.json["result"]) == (0, None)


def test_success_without_a_result_is_told_as_soon_as_its_process_ends(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n")
        with waiter(box, "step") as process:
            write(box, status="SUCCESS\n")
            watch = Stopwatch()
            assert silent_for(process, 0.05)
            os.kill(pid, 9)
            assert finish(process, 5).code == 0
            assert watch.seconds < allowed(0.9)


def test_success_that_was_there_before_the_wait_is_given_its_second_too(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n", status="SUCCESS\n")
        with waiter(box, "step") as process:
            assert silent_for(process, 0.3)
            write(box, result="7\n")
            assert finish(process, 5).json["result"] == 7


def test_success_of_a_process_that_has_ended_is_told_at_once(box: Box) -> None:
    write(box, pid=f"{dead_pid()}\n", status="SUCCESS\n")
    watch = Stopwatch()
    assert box("wait", "step").code == 0
    assert watch.seconds < allowed(0.9)


def test_a_result_that_is_no_json_is_named(box: Box) -> None:
    write(box, status="SUCCESS\n", result="{oops\n")
    done = box("wait", "step", "--json")
    assert (done.code, done.json["result"]) == (0, None)
    assert "not valid JSON" in done.json["reason"]


# Status -------------------------------------------------------------------------------------------------------------


def test_an_empty_status_of_a_living_process_is_waited_for(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n", status="")
        with waiter(box, "step") as process:
            assert silent_for(process, 0.4)
            write(box, status="FAILED\n")
            assert finish(process, 5).code == 1


def test_an_empty_status_of_a_process_that_has_ended_is_crashed(box: Box) -> None:
    write(box, pid=f"{dead_pid()}\n", status="")
    done = within(box, 5, "wait", "step", "--json")
    assert (done.code, done.json["state"]) == (3, "crashed")


def test_an_empty_status_alone_is_unknown(box: Box) -> None:
    write(box, status="")
    assert within(box, 8, "wait", "step").code == 12


@pytest.mark.parametrize("text", ["SUCCESS", "SUCCESS\n", " SUCCESS \r\n"])
def test_blanks_around_the_status_do_not_matter(box: Box, text: str) -> None:
    write(box, status=text)
    assert box("wait", "step").code == 0


@pytest.mark.parametrize("data", [b"\xff\xfe\n", b"success\n", b"SUCCESS FAILED\n", b"\0\0\0\0"])
def test_a_status_of_rubbish_is_unknown_and_shown(box: Box, data: bytes) -> None:
    box.path("step.status").write_bytes(data)
    done = within(box, 8, "wait", "step", "--json")
    assert (done.code, done.json["state"]) == (12, "unknown")
    assert "neither SUCCESS nor FAILED" in done.json["reason"]


def test_a_directory_in_place_of_the_status_is_named(box: Box) -> None:
    box.path("step.status").mkdir()
    assert within(box, 8, "wait", "step").code == 12
    assert "step.status " in box("why", "step").out


# Pid ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["rubbish", "", "-1", "0", "1", "12 34", "99999999999999999999", "1_000", "9" * 5000])
def test_a_pid_file_of_rubbish_is_unknown_and_says_what_it_holds(box: Box, text: str) -> None:
    write(box, pid=text)
    said = listed(box)["step"]
    assert said["state"] == "unknown"
    assert "pid file holds" in said["reason"]


def test_a_pid_file_of_rubbish_ends_a_wait_after_a_second_look(box: Box) -> None:
    write(box, pid="rubbish")
    watch = Stopwatch()
    assert within(box, 8, "wait", "step").code == 12
    assert watch.seconds >= 1.0


def test_a_pid_file_that_is_not_text_is_unknown(box: Box) -> None:
    box.path("step.pid").write_bytes(b"\xff\xfe\xfd")
    assert within(box, 8, "wait", "step").code == 12


def test_a_pid_file_of_rubbish_does_not_hide_the_status(box: Box) -> None:
    write(box, pid="rubbish", status="SUCCESS\n")
    assert box("wait", "step").code == 0


def test_a_process_younger_than_its_pid_file_is_another(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n")
        age(box, "pid", 3600)
        done = within(box, 5, "wait", "step", "--json")
        assert (done.code, done.json["state"]) == (3, "crashed")
        assert "younger" in done.json["reason"]
        assert box("stop", "step").code == 0
        assert alive(pid)


def test_a_pid_file_from_the_future_is_no_reason_to_call_it_dead(box: Box) -> None:
    with sleeper() as pid:
        write(box, pid=f"{pid}\n")
        age(box, "pid", -3600)
        assert box("wait", "step", "--timeout", "300ms", "--json").json["state"] == "working"


def test_a_dead_process_without_heartbeat_or_status_is_crashed_at_once(box: Box) -> None:
    write(box, pid=f"{dead_pid()}\n")
    watch = Stopwatch()
    assert box("wait", "step").code == 3
    assert watch.seconds < allowed(3.0)


# No pid file --------------------------------------------------------------------------------------------------------


def test_without_a_pid_file_the_status_is_enough(box: Box) -> None:
    write(box, status="FAILED\n")
    assert box("wait", "step").code == 1


def test_without_a_pid_file_a_heartbeat_that_moves_is_waited_for(box: Box, gate: Gate) -> None:
    write(box, heartbeat="")
    script = f"while ! read -t 0.3 -r line; do touch {box.path('step.heartbeat')}; done <> {gate.path}"
    start(box, "toucher", "bash", "-c", script)
    with waiter(box, "step", env=SOON_BY_ENV) as process:
        assert silent_for(process, 3.0)
        gate.say()
        done = finish(process, 8)
    assert (done.code, done.json["state"]) == (12, "unknown")
    assert "there is no pid file; its heartbeat moved" in done.json["reason"]


@pytest.mark.parametrize("seconds", [86400.0, -86400.0], ids=["past", "future"])
def test_the_age_of_a_heartbeat_is_the_time_since_it_was_seen_to_move(box: Box, seconds: float) -> None:
    write(box, heartbeat="")
    age(box, "heartbeat", seconds)
    watch = Stopwatch()
    assert within(box, 8, "wait", "step", **SOON_BY_ENV).code == 12
    assert watch.seconds >= 2.0


def test_without_a_pid_file_a_status_that_comes_later_is_told(box: Box) -> None:
    write(box, heartbeat="")
    with waiter(box, "step") as process:
        assert silent_for(process, 0.3)
        write(box, status="SUCCESS\n", result="1\n")
        assert finish(process, 5).code == 0


def test_a_log_alone_is_no_job(box: Box) -> None:
    write(box, log="hello\n")
    assert box("wait", "step").code == 7
    assert listed(box) == {}
