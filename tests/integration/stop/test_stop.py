import json
import os
import signal

import pytest

from midwatch.system import processes, procfs
from midwatch.system import terminate_tree as hand
from tests.conftest import Box, alive, kill, letter, until, until_gone
from tests.integration.foreign.template import sleeper
from tests.integration.wait.watching import (
    Gate,
    Stopwatch,
    allowed,
    finish,
    forge,
    listed,
    recycle,
    start,
    start_gated,
    waiter,
    within,
)


def tree(box: Box, name: str, size: int) -> list[int]:
    """All processes of a job's run, once there are that many."""
    run, found = box.record(name)["run"], list[int]()

    def there() -> bool:
        found[:] = processes.find_run_processes(
            run
        )  # kept: the next look may miss one that is just becoming another program
        return len(found) >= size

    until(there)
    return found


def test_stop_ends_the_work_and_says_stopped(box: Box) -> None:
    start(box, "job", "sleep", "300")
    shim, work = box.pids("job")
    done = box("stop", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (0, "stopped", True)
    assert not alive(work)
    until_gone(shim)
    assert box.path("job.status").read_text() == "FAILED\n"


def test_stop_takes_children_and_double_forked_sessions_too(box: Box) -> None:
    script = "sleep 300 & (setsid sleep 300 &) ; (setsid sh -c '(setsid sleep 300 &); sleep 300' &); sleep 300"
    start(box, "job", "sh", "-c", script)
    found = tree(box, "job", 6)
    assert box("stop", "job").code == 0
    assert [pid for pid in found if alive(pid)] == []
    assert processes.find_run_processes(box.record("job")["run"]) == []


def test_stop_takes_orphans_that_were_there_before_it_was_asked(box: Box) -> None:
    start(box, "job", "sh", "-c", "(sleep 300 &); (sleep 300 &); exec sleep 300")
    found = tree(box, "job", 3)
    assert box("stop", "job").code == 0
    assert [pid for pid in found if alive(pid)] == []


def test_work_that_ignores_term_is_killed(box: Box) -> None:
    start(box, "job", "sh", "-c", "trap '' TERM INT HUP; echo ready; while :; do sleep 1; done")
    box.until_file("job.log", lambda text: "ready" in text)
    watch = Stopwatch()
    done = box("stop", "job", "--json")
    assert done.json["state"] == "stopped"
    assert 4.0 < watch.seconds < allowed(12.0)
    assert not alive(box.pids("job")[1])


def test_work_that_ends_well_when_asked_is_stopped_all_the_same(box: Box) -> None:
    start(box, "job", "sh", "-c", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.1; done")
    box.until_file("job.log", lambda text: "ready" in text)
    done = box("stop", "job", "--json")
    assert (done.json["state"], done.json["exit_code"]) == ("stopped", 0)


def test_work_may_write_its_result_before_it_ends(box: Box) -> None:
    script = "trap 'echo 7 > \"$MIDWATCH_DIR/job.result\"; exit 0' TERM; echo ready; while :; do sleep 0.1; done"
    start(box, "job", "sh", "-c", script)
    box.until_file("job.log", lambda text: "ready" in text)
    assert box("stop", "job", "--json").json["result"] == 7


def test_suspended_work_can_be_stopped(box: Box) -> None:
    start(box, "job", "sleep", "300")
    work = box.pids("job")[1]
    os.kill(work, signal.SIGSTOP)
    until(lambda: letter(work) == "T")
    assert within(box, 5, "stop", "job", "--json").json["state"] == "stopped"
    assert not alive(work)


def test_work_under_a_suspended_shim_can_be_stopped(box: Box) -> None:
    start(box, "job", "sleep", "300")
    shim, work = box.pids("job")
    os.kill(shim, signal.SIGSTOP)
    until(lambda: letter(shim) == "T")
    assert within(box, 5, "stop", "job", "--json").json["state"] == "stopped"
    assert not alive(work)


def test_work_without_its_shim_is_stopped_with_its_tree(box: Box) -> None:
    start(box, "job", "sh", "-c", "(setsid sleep 300 &); sleep 300; true")
    shim, _ = box.pids("job")
    tree(box, "job", 3)
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    left = processes.find_run_processes(box.record("job")["run"])
    assert len(left) >= 3
    done = box("stop", "job", "--json")
    assert (done.code, done.json["state"]) == (0, "stopped")
    assert [pid for pid in left if alive(pid)] == []
    assert box.path("job.status").read_text() == "FAILED\n"


def test_work_without_its_shim_that_ignores_term_is_killed(box: Box) -> None:
    start(box, "job", "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done")
    box.until_file("job.log", lambda text: "ready" in text)
    shim, work = box.pids("job")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    assert box("stop", "job", "--json").json["state"] == "stopped"
    assert not alive(work)


def test_whoever_waits_is_told_of_the_stop(box: Box) -> None:
    start(box, "job", "sleep", "300")
    with waiter(box, "job") as process:
        assert box("stop", "job").code == 0
        assert finish(process, 5).code == 10


def test_two_stops_at_once_both_end_well(box: Box) -> None:
    start(box, "job", "sleep", "300")
    stops = [box.start("stop", "job", "--json") for _ in range(2)]
    assert {finish(each).json["state"] for each in stops} == {"stopped"}


# Nothing to stop ----------------------------------------------------------------------------------------------------


def test_a_job_that_has_ended_is_left_as_it_is(box: Box) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    before = box.path("job.json").read_text()
    done = box("stop", "job", "--json")
    assert (done.code, done.json["state"]) == (0, "completed")
    assert box.path("job.json").read_text() == before


def test_a_job_that_crashed_is_left_as_it_is(box: Box) -> None:
    start(box, "job", "sleep", "300")
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    done = box("stop", "job", "--json")
    assert (done.code, done.json["state"]) == (0, "crashed")


def test_what_survived_a_crash_is_ended_when_asked(box: Box) -> None:
    """Shim and work are gone, but a child of the run goes on: `stop` is how one gets rid of it."""
    start(box, "job", "sh", "-c", "setsid sleep 300 & wait")
    found = tree(box, "job", 2)
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    child = next(pid for pid in found if alive(pid))
    assert box("stop", "job").code == 0
    assert not alive(child)


def test_a_name_that_is_not_there_is_7(box: Box) -> None:
    done = box("stop", "nobody", "--json")
    assert (done.code, done.json["state"]) == (7, "not_found")


def test_several_names_are_all_stopped_and_a_missing_one_is_said(box: Box) -> None:
    start(box, "one", "sleep", "300")
    start(box, "two", "sleep", "300")
    done = box("stop", "one", "nobody", "two")
    assert done.code == 7
    assert [listed(box)[name]["state"] for name in ("one", "two")] == ["stopped", "stopped"]


def test_one_that_cannot_be_stopped_does_not_keep_the_others_running(box: Box) -> None:
    start(box, "far", "sleep", "300")
    start(box, "near", "sleep", "300")
    forge(box, "far", host="elsewhere", boot="other", pidns="other")
    done = box("stop", "far", "near")
    assert done.code == 12
    assert "far cannot be stopped from here" in done.err
    assert not alive(box.pids("near")[1])


# Never the wrong one ------------------------------------------------------------------------------------------------


def test_nothing_is_signalled_from_a_directory_that_others_may_write_to(box: Box) -> None:
    start(box, "job", "sleep", "300")
    box.dir.chmod(0o777)
    done = box("stop", "job")
    assert done.code == 12
    assert "others may write" in done.err
    assert all(map(alive, box.pids("job")))


def test_nothing_named_by_a_foreign_pid_file_is_signalled_from_a_shared_directory(box: Box) -> None:
    box.dir.mkdir()
    box.dir.chmod(0o1777)
    with sleeper() as pid:
        box.path("step.pid").write_text(f"{pid}\n")
        assert box("stop", "step").code == 12
        assert alive(pid)


@pytest.mark.parametrize("which", ["shim", "work"])
def test_a_recycled_pid_is_never_signalled(box: Box, which: str) -> None:
    start(box, "job", "sleep", "300")
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    with sleeper() as pid:
        recycle(box, "job", which, pid)
        done = box("stop", "job", "--json")
        assert (done.code, done.json["state"]) == (0, "crashed")
        assert alive(pid)


def test_a_recycled_pid_is_said_to_be_anothers(box: Box) -> None:
    start(box, "job", "sleep", "300")
    for pid in box.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    with sleeper() as pid:
        recycle(box, "job", "work", pid)
        assert "now belongs to another process" in box("wait", "job", "--json").json["reason"]


def test_only_the_named_job_is_stopped(box: Box) -> None:
    start(box, "one", "sleep", "300")
    start(box, "two", "sleep", "300")
    assert box("stop", "one").code == 0
    assert all(map(alive, box.pids("two")))


def test_a_job_that_the_work_started_on_its_own_is_left_running(box: Box) -> None:
    inner = f"{box.program[0]} -m midwatch run -d --name inner -- sleep 300; exec sleep 300"
    start(box, "outer", "sh", "-c", inner)
    box.until_file("inner.pid")
    assert box("stop", "outer").code == 0
    assert listed(box)["inner"]["state"] == "working"


def test_stop_of_work_that_ends_at_that_moment_keeps_the_truth(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    gate.say()
    done = box("stop", "job", "--json")
    assert done.code == 0
    assert done.json["state"] in ("completed", "stopped")
    assert box("wait", "job", "--json").json == done.json


def test_a_pid_that_is_anothers_by_now_is_not_touched() -> None:
    with sleeper() as pid:
        assert hand.end_tree(lambda: {pid: procfs.start_time(pid) + 1}, patience=0.2) == []
        assert alive(pid)


def test_a_stop_without_a_shim_is_remembered_after_what_went_before(box: Box) -> None:
    box("run", "-d", "--name", "job", "--", "sleep", "300")
    shim, _ = box.pids("job")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    assert box("stop", "job").code == 0
    told = [json.loads(line) for line in box("events", "job", "--json").out.splitlines()]
    assert [event["event"] for event in told] == ["started", "ended"]
    assert told[-1]["state"] == "stopped"
