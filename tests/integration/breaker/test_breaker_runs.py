"""`run --breaker`: real jobs fail, crash, hang, run late and succeed under a key."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.conftest import Box, kill, reap, until_gone
from tests.integration.breaker.planting import (
    HOUR,
    LONG,
    detached,
    failures,
    lines,
    murder,
    plant,
    plant_open,
    run,
    status,
)
from tests.integration.wait.watching import Gate

ENDINGS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "failed": ((), ("false",)),
    "crashed": ((), ("sh", "-c", "kill -9 $$")),
    "timeout": (("--timeout", "0.3s"), LONG),
    "stuck": (("--stale", "0.3s", "--grace", "0", "--heartbeat", "0.1s", "--on-stuck", "stop"), LONG),
}


# The row


def test_after_three_failures_in_a_row_a_run_is_refused_and_told_the_way_out(box: Box) -> None:
    for _ in range(3):
        assert run(box, "false").code == 1
    before = box.record("job")
    refused = run(box, "touch", "ran")
    assert refused.code == 125
    assert "breaker key is open: 3 failures in a row (last: job failed" in refused.err
    assert "a trial is let through in 1" in refused.err  # 15m, or a little less by now
    assert "`midwatch breaker reset key` closes it now" in refused.err
    assert not (box.cwd / "ran").exists()
    assert box.record("job") == before  # and what the last run left is where it was


@pytest.mark.parametrize("state", ENDINGS)
def test_each_way_to_fail_counts(box: Box, state: str) -> None:
    options, command = ENDINGS[state]
    plant(box, "key", *failures(2, ago=1.0))
    run(box, *command, options=options)
    assert lines(box)[-1]["state"] == state
    assert run(box, "true").code == 125


def test_what_was_stopped_does_not_count(box: Box) -> None:
    plant(box, "key", *failures(2, ago=1.0))
    for _ in range(2):
        assert detached(box, "job", *LONG).code == 0
        assert box("stop", "job").code == 0
    assert status(box)["failures"] == 2
    assert run(box, "true").code == 0


def test_a_success_closes_it_and_the_row_begins_anew(box: Box) -> None:
    for command in ("false", "false", "true", "false", "false"):
        run(box, command)
    assert status(box)["failures"] == 2
    assert run(box, "true").code == 0


def test_what_cannot_be_started_counts_as_failed(box: Box) -> None:
    plant(box, "key", *failures(2, ago=1.0))
    assert run(box, "no-such-program").code == 127
    assert status(box)["state"] == "open"


def test_jobs_of_other_keys_and_of_none_are_not_refused(box: Box) -> None:
    plant_open(box, ago=1.0)
    assert run(box, "true", key="other").code == 0
    assert box("run", "--", "true").code == 0


def test_attempts_count_and_an_open_breaker_ends_the_retries(box: Box) -> None:
    assert run(box, "false", options=("--retries", "9", "--backoff", "0")).code == 1
    assert box.record("job")["attempt"] == 3
    assert "breaker key is open" in box("why", "job").out


def test_threshold_and_cool_down_come_from_the_settings(box: Box) -> None:
    (box.cwd / "midwatch.toml").write_text('[breaker]\nthreshold = 1\ncooldown = "2h"\n')
    assert run(box, "false").code == 1
    refused = run(box, "true")
    assert refused.code == 125
    assert "1 failure (last: job failed" in refused.err
    found = status(box)
    assert found["until"] == pytest.approx(found["since"] + 2 * HOUR, abs=0.01)


# The trial


def test_after_the_cool_down_a_trial_that_succeeds_closes_it(box: Box) -> None:
    plant_open(box, ago=HOUR)
    assert run(box, "true").code == 0
    assert [line["trial"] for line in lines(box) if line["what"] == "started"][-1]
    assert status(box)["state"] == "closed"


def test_a_trial_that_fails_makes_all_wait_again(box: Box) -> None:
    plant_open(box, ago=HOUR)
    assert run(box, "false").code == 1
    refused = run(box, "true")
    assert refused.code == 125
    assert "4 failures in a row" in refused.err
    assert status(box)["until"] == pytest.approx(lines(box)[-2]["at"] + 900.0, abs=0.01)


def test_a_trial_is_not_tried_again_by_its_retries(box: Box) -> None:
    plant_open(box, ago=HOUR)
    assert run(box, "false", options=("--retries", "5", "--backoff", "0")).code == 1
    assert box.record("job")["attempt"] == 1


def test_while_the_trial_runs_nobody_else_is_let_through(box: Box, gate: Gate) -> None:
    plant_open(box, ago=HOUR)
    assert detached(box, "first", "sh", "-c", f"read -r line < {gate.path}").code == 0
    assert status(box)["state"] == "trial"
    refused = detached(box, "second", "true")
    assert refused.code == 125
    assert "its trial first has not ended yet" in refused.err
    gate.say()
    assert box("wait", "first").code == 0
    assert run(box, "true").code == 0


def test_a_trial_that_was_stopped_leaves_the_way_to_the_next_one(box: Box) -> None:
    plant_open(box, ago=HOUR)
    assert detached(box, "first", *LONG).code == 0
    assert box("stop", "first").code == 0
    assert status(box)["next"] == "trial"
    assert run(box, "true").code == 0


def test_a_trial_whose_name_is_taken_leaves_the_way_to_the_next_one(box: Box) -> None:
    assert box("run", "-d", "--name", "job", "--", *LONG).code == 0
    plant_open(box, ago=HOUR)
    refused = run(box, "true")
    assert refused.code == 125
    assert "job is working already" in refused.err
    assert lines(box)[-1]["what"] == "void"
    assert run(box, "true", name="other").code == 0


# Nobody left to tell


def test_runs_that_ended_without_a_word_count_as_crashed(box: Box) -> None:
    for name in ("a", "b", "c"):
        assert detached(box, name, *LONG).code == 0
        murder(box, name)
    before = lines(box)
    assert status(box)["state"] == "open"  # whoever only looks finds it out, too
    assert lines(box) == before
    refused = run(box, "true")
    assert refused.code == 125
    assert "3 failures in a row (last: c crashed" in refused.err
    assert [line["state"] for line in lines(box) if line["what"] == "outcome"] == ["crashed"] * 3


@pytest.mark.usefixtures("heir")
def test_a_run_whose_end_nobody_saw_counts_as_crashed(box: Box) -> None:
    plant(box, "key", *failures(2, ago=1.0))
    assert detached(box, "job", *LONG).code == 0
    for pid in box.pids("job"):
        kill(pid, 9)
        reap(pid)
    beat = box.path("job.heartbeat").stat().st_mtime
    os.utime(box.path("job.log"), (beat + HOUR, beat + HOUR))  # it wrote long after its shim was gone
    assert (box("wait", "job", "--json").json["cause"], status(box)["state"]) == ("exit-unseen", "open")
    assert run(box, "true", name="other").code == 125
    assert [line["state"] for line in lines(box) if line["what"] == "outcome"][-1] == "crashed"


def test_such_a_run_is_found_in_the_archive_when_its_name_was_taken_since(box: Box) -> None:
    plant(box, "key", *failures(2, ago=1.0))
    assert detached(box, "job", *LONG).code == 0
    murder(box, "job")
    assert box("run", "--name", "job", "--", "true").code == 0
    assert run(box, "true", name="other").code == 125


def test_a_trial_that_ended_without_a_word_makes_all_wait_again(box: Box) -> None:
    plant_open(box, ago=HOUR)
    assert detached(box, "first", *LONG).code == 0
    murder(box, "first")
    refused = run(box, "true")
    assert refused.code == 125
    assert "4 failures in a row (last: first crashed" in refused.err


def test_work_that_goes_on_without_its_shim_is_still_the_trial(box: Box) -> None:
    plant_open(box, ago=HOUR)
    assert detached(box, "first", *LONG).code == 0
    shim = box.pids("first")[0]
    kill(shim, 9)
    until_gone(shim)
    assert "its trial first has not ended yet" in run(box, "true").err


KILLED = """
import os, sys
from midwatch.jobs import admission as breaker
from midwatch.jobs.job_directory import JobDirectory
from midwatch.core.job_model import Breaker
from midwatch.core.policy import PATIENT
admission = breaker.admit_run(JobDirectory(sys.argv[1], PATIENT), Breaker("key", 3, 900.0), "run-1", "first")
print(admission.trial, flush=True)
os.kill(os.getpid(), 9)
"""


def test_one_that_was_killed_between_leave_and_launch_leaves_no_trace(box: Box) -> None:
    plant_open(box, ago=HOUR)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, str(box.dir)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (killed.returncode, killed.stdout) == (-9, "True\n"), killed.stderr
    assert status(box)["next"] == "trial"
    assert run(box, "true").code == 0
    assert [line["run"] for line in lines(box) if line["what"] == "void"][-1] == "run-1"


def test_a_breaker_tripped_while_an_attempt_is_waited_for_ends_the_waiting(box: Box) -> None:
    options = ("--retries", "1", "--backoff", "1s", "--breaker", "night")
    box("run", "-d", "--name", "job", *options, "--", "false")
    box.until_file("job.json", lambda text: '"next_mono": null' not in text)
    box("breaker", "trip", "night")
    assert box("wait", "job", "--json").json["state"] == "failed"
    assert box.record("job")["attempt"] == 1
    assert "not tried again: breaker night is open" in box("why", "job").out
