"""A process that somebody else started, to its end: what `wait` says of it is what happened to it."""

import json
import os
import signal
import time

import pytest

from midwatch.core.policy import PATIENT
from midwatch.jobs.job_directory import JobDirectory
from midwatch.subjects import adopt as loop
from midwatch.system import procfs
from tests.conftest import Box, alive, letter, until, until_gone
from tests.integration.adopt.elsewhere import adopt, below, kernel_keeps, stranger
from tests.integration.run.test_frozen_files import golden, holds, shape
from tests.integration.wait.watching import Gate, finish, listed, silent_for, states, waiter

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a launched keeper execs at once

ENDS = {
    "exit 0": ("completed", 0, 0, None),
    "exit 3": ("failed", 1, 3, None),
    "kill -KILL $$": ("crashed", 3, None, 9),
    "ulimit -c 0; kill -SEGV $$": ("crashed", 3, None, 11),
    "kill -TERM $$": ("crashed", 3, None, 15),
}
UNKNOWN = ("unknown", 12, None, None)


@pytest.mark.parametrize("how", ["reaps", "forgets", "leaves"])
@pytest.mark.parametrize("end", ENDS)
def test_whoever_waits_is_told_how_it_ended(box: Box, gate: Gate, end: str, how: str) -> None:
    with stranger(f"read -r line < {gate.path}; {end}", how) as pid:
        adopt(box, pid)
        with waiter(box, "job") as process:
            gate.say()
            done = finish(process)
    found = (done.json["state"], done.code, done.json["exit_code"], done.json["signal"])
    assert found == ENDS[end] or (found == UNKNOWN and how != "forgets" and not kernel_keeps())
    assert done.json["final"]
    assert box.path("job.status").read_text() == ("SUCCESS\n" if done.code == 0 else "FAILED\n")
    assert listed(box)["job"]["state"] == done.json["state"]


def test_work_is_working_until_it_ends(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}") as pid:
        adopt(box, pid)
        assert listed(box)["job"]["state"] == "working"
        with waiter(box, "job") as process:
            assert silent_for(process, 0.3)
            assert alive(pid)


def test_a_status_that_nobody_can_tell_is_unknown_and_final(
    box: Box, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a kernel that keeps nothing with a pidfd, where its parent was faster than the keeper."""
    too_late = (
        "from midwatch.system import exit_status; exit_status.GET_INFO += 100; "
        "exit_status._read_proc_status = lambda *_: (None, 'taken'); "
    )
    monkeypatch.setattr(procfs, "KEEPER", [*procfs.KEEPER[:3], procfs.KEEPER[3].replace("from", f"{too_late}from", 1)])
    with stranger(f"read -r line < {gate.path}; exit 0") as pid:
        loop.adopt_process(JobDirectory(str(box.dir), PATIENT), pid, "job", may_stop=False)
        with waiter(box, "job") as process:
            gate.say()
            done = finish(process)
    assert (done.code, done.json["state"], done.json["final"]) == (12, "unknown", True)
    assert done.json["reason"] == "it ended, but its exit status is not known: taken"
    assert box.path("job.status").read_text() == "FAILED\n"
    assert box("why", "job", "--json").json["process"] == "exited(unknown)"


def test_what_it_left_running_is_named_and_left_running(box: Box, gate: Gate) -> None:
    script = f"sleep 300 & read -r line < {gate.path}; exit 0"
    with stranger(script) as pid:
        left = below(pid, "sleep")[0]
        adopt(box, pid)
        with waiter(box, "job") as process:
            gate.say()
            done = finish(process)
        assert (done.json["state"], alive(left)) == ("completed", True)
        assert f"left running: sleep ({left})" in done.json["reason"]


def test_what_it_started_after_its_adoption_and_left_running_is_named(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}; sleep 300 & read -r line < {gate.path}") as pid:
        adopt(box, pid, "--heartbeat", "0.1s")
        gate.say()
        left = below(pid, "sleep")[0]
        until_looked(box)
        gate.say()
        assert f"left running: sleep ({left})" in box("wait", "job", "--json").json["reason"]


def test_what_left_its_tree_after_its_adoption_is_stopped_with_it(box: Box, gate: Gate) -> None:
    with stranger(f"sh -c 'sleep 300 & read -r line < {gate.path}'; read -r line < {gate.path}") as pid:
        orphan = next(each for each in below(pid, "sh", "sleep") if procfs.command_name(each) == "sleep")
        adopt(box, pid, "--heartbeat", "0.1s")
        gate.say()
        until(lambda: orphan not in procfs.descendants(pid))
        until_looked(box)
        assert box("stop", "job").code == 0
        assert [alive(each) for each in (pid, orphan)] == [False, False]


def until_looked(box: Box) -> None:
    """Wait until the keeper has looked at the work from now on."""
    for _ in range(2):
        beat = box.path("job.heartbeat").stat().st_mtime_ns
        until(lambda beat=beat: box.path("job.heartbeat").stat().st_mtime_ns != beat)  # type: ignore[misc]


def test_what_ended_with_it_is_not_said_to_be_left(box: Box, gate: Gate) -> None:
    with stranger(f"sh -c 'read -r line < {gate.path}'; exit 0") as pid:
        below(pid, "sh")
        adopt(box, pid)
        with waiter(box, "job") as process:
            gate.say()
            assert "left" not in finish(process).json["reason"]


def test_its_time_is_told_from_its_own_start_not_from_its_adoption(box: Box) -> None:
    with stranger("sleep 300") as pid:
        until(lambda: age_of(pid) >= 2.0)
        done = adopt(box, pid, "--json")
        assert done.json["elapsed_s"] >= 2.0
        assert "adopted" in done.json["reason"]


def age_of(pid: int) -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - procfs.start_time(pid) / procfs.TICKS


# Files --------------------------------------------------------------------------------------------------------------


def test_what_it_leaves_has_the_shape_of_a_job_of_ours(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}; exit 3") as pid:
        adopt(box, pid)
        gate.say()
        assert box("wait", "job").code == 1
    record, frozen = box.record("job"), golden("adopted.json")
    assert frozen.keys() == golden("retried.json").keys()
    assert record.keys() == {*frozen, "timens"}, "what a later version added is all that is new"
    assert holds(record, {**frozen, "notes": record["notes"], "end": {**frozen["end"], "exit_code": 3}})
    assert record["adopted"] == {"dir": "", "name": "", "stop": False, "log": ""}
    assert (record["work"]["pid"], record["command"][:2]) == (pid, ["sh", "-c"])
    assert shape(json.loads(box.path("job.seen").read_text())).keys() == golden("stale.seen").keys()
    assert [event["event"] for event in box.events("job")] == ["started", "ended"]
    assert states(box, "job") == ["working", "failed"]
    assert box.path("job.pid").read_text() == f"{record['shim']['pid']}\n"


def test_its_name_can_be_used_again_when_it_has_ended(box: Box, gate: Gate) -> None:
    for _ in range(2):
        with stranger(f"read -r line < {gate.path}") as pid:
            adopt(box, pid)
            gate.say()
            assert box("wait", "job").code == 0
    assert len(list(box.path("archive/job").iterdir())) == 1


def test_it_cannot_be_run_again_by_us(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}") as pid:
        adopt(box, pid)
        gate.say()
        assert box("wait", "job").code == 0
    assert "was not started by Midwatch" in box("retry", "job").err


# Stopping -----------------------------------------------------------------------------------------------------------


def test_stop_is_a_persons_word_and_ends_it_with_its_tree_though_it_was_adopted_to_be_left_alone(box: Box) -> None:
    with stranger("sleep 300 & sleep 300") as pid:
        tree = [pid, *below(pid, "sleep", "sleep")]
        adopt(box, pid)
        keeper = box.pids("job")[0]
        done = box("stop", "job", "--json")
        assert (done.code, done.json["state"], done.json["signal"]) == (0, "stopped", signal.SIGTERM)
        assert [each for each in tree if alive(each)] == []
        until_gone(keeper)
    assert box("wait", "job").code == 10


def test_work_that_ignores_term_is_killed_when_it_is_stopped(box: Box) -> None:
    log = box.cwd / "out"
    with stranger("trap '' TERM; echo ready; while :; do sleep 1; done", log=log) as pid:
        until(lambda: log.read_text() == "ready\n", box.cwd)
        adopt(box, pid)
        assert box("stop", "job", "--json").json["signal"] == signal.SIGKILL


def test_suspended_work_can_be_stopped(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        os.kill(pid, signal.SIGSTOP)
        until(lambda: letter(pid) == "T")
        assert box("stop", "job", "--json").json["state"] == "stopped"
        assert not alive(pid)


def test_two_stops_at_once_both_end_well(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        stops = [box.start("stop", "job", "--json") for _ in range(2)]
        assert {finish(each).json["state"] for each in stops} == {"stopped"}


def test_a_stop_at_the_moment_it_ends_keeps_the_truth(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}; exit 0") as pid:
        adopt(box, pid)
        gate.say()
        done = box("stop", "job", "--json")
    assert done.json["state"] in ("completed", "stopped")
    assert box("wait", "job", "--json").json == done.json
