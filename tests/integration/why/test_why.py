import os
import signal

import pytest

from midwatch.system import processes
from tests.conftest import Box, kill, reap, until, until_gone
from tests.integration.wait.watching import KEYS, SOON, Gate, forge, start, start_gated


def test_the_verdict_comes_first_then_process_and_progress(box: Box) -> None:
    start(box, "job", "sh", "-c", "exit 3")
    assert box("wait", "job").code == 1
    told = box("why", "job").out.splitlines()
    assert told[0].startswith("job: failed: exit 3 after ")
    assert told[1].split() == ["process:", "exited(3)", "progress:", "unknown"]


def test_the_evidence_for_live_work_names_its_processes_and_ages(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo hello; exec sleep 300")
    shim, work = box.pids("job")
    box.until_file("job.log", lambda text: "hello" in text)
    told = box("why", "job").out
    assert f"pid {shim} is alive" in told
    assert f"pid {work} is alive" in told
    assert [line.split()[-1] for line in told.splitlines() if line.split()[0] == "output"] == ["ago"]


def test_json_adds_axes_and_evidence_to_the_keys_of_wait(box: Box) -> None:
    start(box, "job", "sleep", "300")
    found = box("why", "job", "--json").json
    assert list(found) == [*KEYS, "process", "progress", "for", "against"]
    assert (found["process"], found["progress"]) == ("alive", "advancing")
    assert all(set(piece) == {"source", "says", "age_s"} for piece in found["for"])


def test_the_evidence_against_hung_work_is_that_it_lives(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    assert box("wait", "job").code == 4
    found = box("why", "job", "--json").json
    assert (found["state"], found["progress"]) == ("stuck", "stalled")
    assert {piece["source"] for piece in found["for"]} == {"output", "CPU", "I/O", "beat"}
    assert all(piece["age_s"] >= 1.0 for piece in found["for"])
    assert {"shim", "work"} <= {piece["source"] for piece in found["against"]}


def test_work_without_its_shim_is_said_to_be_unsupervised(box: Box) -> None:
    start(box, "job", "sleep", "300", options=("--timeout", "1h"))
    shim = box.pids("job")[0]
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    found = box("why", "job", "--json").json
    assert (found["state"], found["process"]) == ("working", "unsupervised")
    assert "timeout is no longer enforced" in found["reason"]


def test_suspension_is_said_as_such(box: Box) -> None:
    start(box, "job", "sleep", "300")
    os.kill(box.pids("job")[1], signal.SIGSTOP)
    assert box("wait", "job").code == 8
    found = box("why", "job", "--json").json
    assert (found["state"], found["process"]) == ("waiting", "suspended")


def test_processes_that_outlived_the_work_are_named(box: Box, gate: Gate) -> None:
    script = (
        f"(setsid sh -c 'echo > {box.cwd}/ready; read x < {gate.path}' &); while [ ! -e {box.cwd}/ready ]; do :; done"
    )
    start(box, "job", "sh", "-c", script)
    done = box("wait", "job", "--json")
    assert done.code == 0
    assert "left running: sh (" in done.json["reason"]
    assert any(piece["source"] == "left running" for piece in box("why", "job", "--json").json["against"])


@pytest.mark.usefixtures("heir")
def test_survivors_of_a_crash_are_named(box: Box) -> None:
    start(box, "job", "sh", "-c", "setsid sleep 300 & wait")
    shim, work = box.pids("job")
    run = box.record("job")["run"]
    until(lambda: len(processes.find_run_processes(run)) > 1)
    for pid in (shim, work):
        kill(pid, signal.SIGKILL)
        reap(pid)
    found = box("wait", "job", "--json").json
    assert found["state"] == "crashed"
    assert "still running: sleep (" in found["reason"]


def test_a_name_that_is_not_there_is_7(box: Box) -> None:
    done = box("why", "nobody")
    assert done.code == 7
    assert done.out.startswith("nobody: not_found: ")


def test_several_names_are_told_one_after_the_other(box: Box) -> None:
    start(box, "one", "true")
    start(box, "two", "true")
    box("wait", "one", "two")
    told = box("why", "one", "two").out
    assert told.index("one: completed") < told.index("two: completed")


def test_work_of_another_host_is_said_to_be_out_of_sight(box: Box) -> None:
    start(box, "job", "sleep", "300")
    forge(box, "job", host="elsewhere", boot="other", pidns="other")
    found = box("why", "job", "--json").json
    assert (found["state"], found["process"]) == ("unknown", "unknown")
    assert "elsewhere" in found["reason"]


def test_events_that_do_not_come_are_said(box: Box) -> None:
    start(box, "job", "sleep", "300")
    assert "looked at every 2 s" in box("why", "job", MIDWATCH_EVENTS="off").out
    assert "looked at every 2 s" not in box("why", "job").out


def test_a_judge_that_cannot_be_run_is_noted_and_only_the_timeout_enforced(box: Box) -> None:
    (box.cwd / "sitecustomize.py").write_text("import os, sys\nif '_decide' in sys.orig_argv: os._exit(1)\n")
    options = ("--stale", "1s", "--grace", "1s", "--on-stuck", "stop", "--timeout", "3s")
    begun = box("run", "-d", "--name", "job", *options, "--", "sleep", "300", PYTHONPATH=str(box.cwd))
    assert begun.code == 0
    box.until_file("job.json", lambda text: "only the timeout is enforced" in text)
    assert "the judge gave no answer; it is asked again, and until then only the timeout" in box("why", "job").out
    assert box("wait", "job", "--until", "final").code == 5


def test_wait_and_why_give_the_same_reason_for_what_has_ended(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "kill -TERM $$")
    gate.say()
    waited = box("wait", "job", "--json").json
    assert box("why", "job", "--json").json["reason"] == waited["reason"]
    assert waited["reason"].startswith("killed by SIGTERM after ")
