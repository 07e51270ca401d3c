"""A reader in another time namespace: the start of every process looks shifted to it, and so does every moment."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.conftest import Box, alive, tool
from tests.integration.wait.watching import Gate, finish, forge, listed, silent_for, start_gated

USER = [] if os.getuid() == 0 else ["--user"]
"""Who is not root needs a user namespace of his own to have another one."""
SHIFT = 1000
SHIFTED = ("--time", "--boottime", str(SHIFT), "--monotonic", str(SHIFT), "--fork", "--kill-child")


@pytest.fixture
def elsewhere(box: Box) -> Box:
    """The same box, used from another time namespace."""
    found = Box(box.cwd)
    mapped = ["--map-current-user"] if USER else []
    found.program = [tool("unshare"), *USER, *mapped, *SHIFTED, "--", *box.program]
    return found


def told(box: Box) -> list[dict[str, Any]]:
    """What `wait`, `why` and `ls` say."""
    return [
        box("wait", "job", "--timeout", "300ms", "--json").json, box("why", "job", "--json").json, listed(box)["job"],
    ]  # fmt: skip


def test_a_live_job_is_unknown_until_its_files_tell(box: Box, elsewhere: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0", "--progress", "heartbeat")
    assert box.record("job")["timens"] == os.readlink("/proc/self/ns/time")
    for said in told(elsewhere):
        assert (said["state"], said["final"], said["cause"]) == ("unknown", False, "not-seen"), said
        assert "another time namespace" in said["reason"]
        assert said["elapsed_s"] < SHIFT, "moments of another namespace are not ours"
    assert listed(elsewhere)["job"]["reason"].endswith("only its files can be read here"), "nor are its notes"
    with elsewhere.start("wait", "job", "--json") as process:
        assert silent_for(process, 0.3)
        gate.say()
        done = finish(process)
    assert (done.code, done.json["state"], done.json["exit_code"]) == (0, "completed", 0)
    for said in told(elsewhere):
        assert (said["state"], said["final"]) == ("completed", True), said


def test_nothing_is_signalled_or_started_over_it_from_another_time_namespace(
    box: Box, elsewhere: Box, gate: Gate
) -> None:
    start_gated(box, gate, "job", "exit 0")
    refused = elsewhere("stop", "job")
    assert refused.code == 12
    assert "job cannot be stopped from here: it runs in another time namespace" in refused.err
    assert not box.path("job.ending").exists()
    assert "job is unknown already" in elsewhere("run", "-d", "--name", "job", "--", "true").err
    assert all(map(alive, box.pids("job")))
    assert listed(box)["job"]["state"] == "working"


def test_a_job_that_runs_in_another_time_namespace_is_unknown_here_and_known_there(
    box: Box, elsewhere: Box, gate: Gate
) -> None:
    start_gated(elsewhere, gate, "job", "exit 0")
    assert box("stop", "job").code == 12
    assert listed(box)["job"]["state"] == "unknown"
    there, (shim, work) = Box(box.cwd), box.pids("job")
    there.program = [tool("nsenter"), "--target", str(shim), *USER, "--time", "--", *box.program]
    assert listed(there)["job"]["state"] == "working"
    assert there("stop", "job", "--json").json["state"] == "stopped"
    assert not alive(work)
    assert listed(box)["job"]["state"] == "stopped"


def test_a_record_without_a_time_namespace_counts_as_the_readers_own(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    record = box.record("job")
    del record["timens"]
    box.path("job.json").write_text(json.dumps(record))
    assert listed(box)["job"]["state"] == "working"
    forge(box, "job", timens="time:[1]")
    assert listed(box)["job"]["state"] == "unknown"
