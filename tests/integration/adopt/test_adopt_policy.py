"""Time and silence of adopted work: judged as ours is, and left alone unless --stop was said."""

import json
import os
import signal
import sys

import pytest

from midwatch.system import procfs
from tests.conftest import Box, alive, letter, until, until_gone
from tests.integration.adopt.elsewhere import adopt, below, moments, stranger, switches
from tests.integration.wait.watching import (
    LONG_ENOUGH,
    SOON,
    SOON_BY_ENV,
    Gate,
    finish,
    listed,
    silent_for,
    start,
    states,
    waiter,
    within,
)


def events(box: Box) -> list[str]:
    return [event["event"] for event in box.events("job")]


# Timeout ------------------------------------------------------------------------------------------------------------


def test_when_its_time_is_up_it_is_given_up_and_left_as_it_is(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, "--timeout", "1s")
        keeper = box.pids("job")[0]
        done = box("wait", "job", "--json")
        assert (done.code, done.json["state"], done.json["final"]) == (11, "abandoned", True)
        assert "adopted without --stop: it is left as it is" in done.json["reason"]
        until_gone(keeper)
        assert alive(pid)
        assert listed(box)["job"]["state"] == "abandoned"
        assert box.path("job.status").read_text() == "FAILED\n"
        adopt(box, pid)
        assert listed(box)["job"]["state"] == "working"


def test_with_stop_its_time_ends_it_with_its_tree(box: Box) -> None:
    with stranger("sleep 300 & sleep 300") as pid:
        tree = [pid, *below(pid, "sleep", "sleep")]
        adopt(box, pid, "--timeout", "1s", "--stop")
        done = box("wait", "job", "--json")
        assert (done.code, done.json["state"], done.json["signal"]) == (5, "timeout", signal.SIGTERM)
        assert [each for each in tree if alive(each)] == []


def test_its_time_is_reckoned_from_its_adoption(box: Box, gate: Gate) -> None:
    """Else work that has run for long would be ended, or given up, the moment it is adopted."""
    with stranger("sleep 300") as pid, stranger(f"read -r line < {gate.path}") as other:
        adopt(box, other, "--timeout", "1s", name="other")
        assert box("wait", "other").code == 11
        adopt(box, pid, "--timeout", "20s", "--stop")
        assert listed(box)["job"]["state"] == "working"


# Silence ------------------------------------------------------------------------------------------------------------


def test_silent_work_is_stuck_for_every_face_and_left_alone(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, *SOON)
        done = within(box, 20, "wait", "job", "--json")
        assert (done.code, done.json["state"], done.json["final"]) == (4, "stuck", False)
        assert listed(box)["job"]["state"] == "stuck"
        assert states(box, "job") == ["working", "stuck"]
        assert events(box) == ["started", "stale", "stuck"]
        assert alive(pid)


def test_work_that_was_stuck_and_moves_again_is_working(box: Box, gate: Gate) -> None:
    log = box.cwd / "out"
    with stranger(f"read -r line < {gate.path}; echo on; read -r line < {gate.path}", log=log) as pid:
        adopt(box, pid, *SOON)
        assert within(box, 20, "wait", "job").code == 4
        gate.say()
        box.until_file("job.json", lambda _: states(box, "job")[-2:] == ["stuck", "working"])
        assert "moved" in events(box)
        gate.say()
        assert box("wait", "job", "--until", "final").code == 0


def test_with_stop_silent_work_is_ended_if_that_was_asked_for(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, *SOON, "--on-stuck", "stop", "--stop")
        done = within(box, 25, "wait", "job", "--until", "final", "--json")
        assert (done.code, done.json["state"], done.json["final"]) == (4, "stuck", True)
        assert not alive(pid)


def test_to_stop_what_is_stuck_needs_leave_to_stop(box: Box) -> None:
    with stranger("sleep 300") as pid:
        done = box("adopt", "--pid", str(pid), "--on-stuck", "stop")
        assert (done.code, alive(pid)) == (2, True)
        assert "add --stop" in done.err


@pytest.mark.parametrize("env", [{}, {"MIDWATCH_ON_STUCK": "stop"}, {"MIDWATCH_POLICY": "strict"}])
def test_a_policy_that_stops_only_reports_without_leave_to_stop(box: Box, env: dict[str, str]) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, *([] if env else ["--policy", "strict"]), **env)
        assert box.record("job")["policy"]["on_stuck"] == "report"


def test_the_strict_policy_with_leave_to_stop_stops(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, "--policy", "strict", "--stop")
        policy = box.record("job")["policy"]
        assert (policy["on_stuck"], policy["timeout_s"], policy["stale_s"]) == ("stop", 1800.0, 60.0)


# What counts as progress --------------------------------------------------------------------------------------------


def test_silent_work_that_computes_is_not_stuck(box: Box) -> None:
    with stranger("while :; do :; done") as pid:
        adopt(box, pid, *SOON)
        assert box("wait", "job", "--timeout", LONG_ENOUGH).code == 13


def test_a_child_that_computes_counts(box: Box) -> None:
    with stranger("sh -c 'while :; do :; done'; true") as pid:
        adopt(box, pid, *SOON)
        assert box("wait", "job", "--timeout", LONG_ENOUGH).code == 13


def test_work_whose_output_file_grows_is_not_stuck(box: Box) -> None:
    log = box.cwd / "out"
    with stranger("while :; do echo x; sleep 0.3; done", log=log) as pid:
        adopt(box, pid, *SOON, "--progress", "output")
        assert box("wait", "job", "--timeout", LONG_ENOUGH).code == 13


def test_work_for_which_someone_beats_is_not_stuck(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, "--stale", "2s", "--grace", "1s")
        beat = " ".join([*box.program, "beat", "--name", "job", "--dir", str(box.dir), "--note", "half"])
        with stranger(f"while :; do {beat}; sleep 0.5; done"):
            box.until_file("job.beat")
            assert box("wait", "job", "--timeout", "4s").code == 13
        assert "half" in box("why", "job").out
        assert within(box, 20, "wait", "job").code == 4


@pytest.mark.parametrize("source", ["beat", "heartbeat"])
def test_work_that_was_to_speak_and_never_did_is_stuck(box: Box, source: str) -> None:
    with stranger("while :; do :; done") as pid:
        adopt(box, pid, *SOON, "--progress", source)
        assert within(box, 25, "wait", "job").code == 4


REAPER = """
import ctypes, os, subprocess, sys, time
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
subprocess.run([*sys.argv[1:], "adopt", "--pid", str(os.getpid()), "--name", "job", "--heartbeat", "5ms"])
time.sleep(300)
"""
"""Work that adopts itself and takes in its orphans: its keeper, which looks far too often, is below it."""


def test_a_keeper_below_its_work_is_not_counted_as_its_work(box: Box) -> None:
    program = box.cwd / "reaper.py"
    program.write_text(REAPER)
    env = " ".join(f"{key}='{value}'" for key, value in {**box.env, **SOON_BY_ENV}.items())
    with stranger(f"exec env {env} {sys.executable} {program} {' '.join(box.program)}") as pid:
        box.until_file("job.pid")
        keeper, work = box.pids("job")
        until(lambda: procfs.stat_fields(keeper)[1] == str(work) == str(pid))
        assert within(box, 25, "wait", "job").code == 4


def test_what_it_used_before_its_adoption_is_no_movement(box: Box) -> None:
    log = box.cwd / "out"
    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint('burnt', flush=True)\ntime.sleep(300)"
    with stranger(f'exec {sys.executable} -c "{burn}"', log=log) as pid:
        until(lambda: log.read_text() == "burnt\n", box.cwd)
        adopt(box, pid)
        assert json.loads(box.path("job.seen").read_text())["sources"]["cpu"]["value"] >= 0.4


# Standing still -----------------------------------------------------------------------------------------------------


def test_suspended_work_waits_for_a_person_and_its_clocks_stand_still(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, *SOON, "--timeout", "30s", "--stop")
        with waiter(box, "job") as process:
            os.kill(pid, signal.SIGSTOP)
            until(lambda: letter(pid) == "T")
            done = finish(process)
            assert (done.code, done.json["state"]) == (8, "waiting")
        before, slept = moments(box), switches(box.pids("job")[0])
        with waiter(box, "job", "--until", "stuck") as process:
            assert silent_for(process, 4.0)
            assert switches(box.pids("job")[0]) - slept < 100
            assert listed(box)["job"]["state"] == "waiting"
            os.kill(pid, signal.SIGCONT)
            assert finish(process).code == 4
        assert [event for event in events(box) if event in ("suspended", "continued")] == ["suspended", "continued"]
        assert all(after - before[source] > 4.0 for source, after in moments(box).items())


def test_suspended_work_is_not_ended_by_its_timeout(box: Box) -> None:
    with stranger("sleep 300") as pid:
        os.kill(pid, signal.SIGSTOP)
        until(lambda: letter(pid) == "T")
        adopt(box, pid, "--timeout", "1s", "--stale", "1s", "--stop")
        assert box("wait", "job", "--until", "final", "--timeout", "3s").code == 13
        assert letter(pid) == "T"
        os.kill(pid, signal.SIGCONT)
        assert box("wait", "job", "--until", "final").code == 5


def test_a_job_of_ours_beside_it_is_not_touched(box: Box) -> None:
    start(box, "ours", "sleep", "300")
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        assert box("stop", "job").code == 0
        assert listed(box)["ours"]["state"] == "working"
