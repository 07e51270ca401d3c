"""For whom a verb beats, how often, and what does not keep it from its work."""

from __future__ import annotations

import json
import math
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.jobs.loop_beat import LoopBeat
from midwatch.shim import beat_file
from midwatch.system import atomic_files
from tests.conftest import Box
from tests.integration.spawn.office import Office
from tests.integration.wait.disks import mounted
from tests.integration.wait.watching import Gate, start, start_gated

STILL_RUNNING = 13


def marks(box: Box, name: str) -> dict[str, str]:
    """The variables that the work of a job has."""
    run = box.record(name)["run"]
    return {"MIDWATCH_DIR": str(box.dir / "drop" / name), "MIDWATCH_NAME": name, "MIDWATCH_RUN": run}


def within(box: Box, name: str, monkeypatch: pytest.MonkeyPatch) -> LoopBeat:
    """Be inside a job."""
    for key, value in marks(box, name).items():
        monkeypatch.setenv(key, value)
    return LoopBeat()


def waits(box: Box, **env: str) -> None:
    """A wait that goes round at least once, and says nothing but what it was asked for."""
    start(box, "build", "sleep", "300")
    done = box("wait", "build", "--timeout", "0.5s", **env)
    assert (done.code, done.err) == (STILL_RUNNING, ""), done


# How often ----------------------------------------------------------------------------------------------------------


def test_inside_a_job_a_loop_wakes_three_times_before_it_would_be_suspected(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(box, "job", "sleep", "300", options=("--stale", "90s"))
    beat = within(box, "job", monkeypatch)
    now = time.monotonic()
    assert now + 30 <= beat.after_pass() <= time.monotonic() + 30
    assert beat.after_pass(now + 7) == now + 7
    assert json.loads(box.drop("job.beat").read_text()) == {
        "schema": 1, "run": box.record("job")["run"], "note": "", "progress": None
    }  # fmt: skip


def test_a_loop_that_goes_round_all_the_time_does_not_beat_all_the_time(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    start(box, "job", "sleep", "300", options=("--stale", "1h"))
    beat = within(box, "job", monkeypatch)
    first = beat.after_pass()
    os.utime(box.drop("job.beat"), (1, 1))
    assert beat.after_pass() == first
    assert box.drop("job.beat").stat().st_mtime == 1


def test_outside_a_job_nobody_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("MIDWATCH_DIR", "MIDWATCH_NAME", "MIDWATCH_RUN"):
        monkeypatch.delenv(key, raising=False)
    assert LoopBeat().after_pass() == math.inf


def test_where_beats_are_no_progress_nobody_is_woken(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    start(box, "job", "sleep", "300", options=("--progress", "output"))
    assert within(box, "job", monkeypatch).after_pass() == math.inf
    assert not box.drop("job.beat").exists()


# For whom -----------------------------------------------------------------------------------------------------------


def test_what_an_agent_runs_is_no_progress_of_its_session(office: Office) -> None:
    """What it leaves in the background would go on beating when the agent itself hangs."""
    office.spawned()
    waits(office.box, **marks(office.box, "api"))
    assert not office.box.drop("api.beat").exists()


def test_what_an_older_run_left_does_not_beat_for_the_new_one(
    box: Box, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_gated(box, gate, "job", "true", "--stale", "1s")
    beat = within(box, "job", monkeypatch)
    gate.say()
    assert box("wait", "job").code == 0
    start(box, "job", "sleep", "300")
    beat.after_pass()
    assert not box.drop("job.beat").exists()


def test_a_beat_without_words_is_none_over_words_that_come_at_the_same_moment(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between seeing that there are no words, and writing that there are none."""
    start(box, "job", "sleep", "300")
    run = box.record("job")["run"]
    written = atomic_files.write_new

    def late(path: str, text: str) -> None:
        beat_file.write_beat(str(box.dir / "drop" / "job" / "job"), run, "epoch 3", 0.4, None)
        written(path, text)

    monkeypatch.setattr(beat_file, "write_new", late)
    beat_file.renew_beat(str(box.dir / "drop" / "job"), "job", run)
    assert json.loads(box.drop("job.beat").read_text())["note"] == "epoch 3"
    assert [path.name for path in box.dir.rglob(".*")] == []


# What does not keep it from its work --------------------------------------------------------------------------------


def test_a_directory_that_is_gone(box: Box) -> None:
    start(box, "job", "sleep", "300")
    waits(box, **marks(box, "job") | {"MIDWATCH_DIR": str(box.cwd / "gone")})


@pytest.fixture
def frozen(box: Box) -> Iterator[Path]:
    """A drop box to which nothing can be written."""
    start(box, "job", "sleep", "300", options=("--stale", "1s"))
    path = box.cwd / "frozen"
    mounted(path, "mode=700")
    (path / "run").write_bytes((box.dir / "drop" / "job" / "run").read_bytes())
    subprocess.run(["mount", "-o", "remount,ro", str(path)], check=True)
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def test_a_directory_that_cannot_be_written_to(box: Box, frozen: Path) -> None:
    waits(box, **marks(box, "job") | {"MIDWATCH_DIR": str(frozen)})
    assert [path.name for path in frozen.iterdir()] == ["run"]


def test_ctrl_c_ends_a_wait_that_beats(box: Box) -> None:
    start(box, "build", "sleep", "300")
    start(box, "job", *box.program, "wait", "build")
    box.until_file("drop/job/job.beat")
    os.kill(box.pids("job")[1], 2)
    assert box("wait", "job", "--json").json["signal"] is None
    assert box.record("job")["end"]["exit_code"] == 130
