"""A disk that is full or cannot be written to."""

import contextlib
import subprocess

import pytest

from midwatch.core.errors import MidwatchError
from midwatch.core.policy import PATIENT
from midwatch.jobs import stop as stopping
from midwatch.jobs.job_directory import JobDirectory
from tests.conftest import Box, alive, until
from tests.integration.wait.disks import fill, mounted
from tests.integration.wait.watching import Gate, listed, start, start_gated, within


def test_on_a_full_disk_a_start_is_refused_with_a_clear_message(small: Box) -> None:
    fill(small)
    done = within(small, 10, "run", "-d", "--name", "job", "--", "sh", "-c", f"touch {small.cwd}/ran")
    assert done.code == 125
    assert "No space left" in done.err
    assert not (small.cwd / "ran").exists()


def test_a_start_refused_by_a_full_disk_leaves_the_name_free(small: Box) -> None:
    fill(small)
    assert small("run", "-d", "--name", "job", "--", "true").code == 125
    small.path("filler").unlink()
    start(small, "job", "true")
    assert small("wait", "job").code == 0


def test_a_refused_start_on_a_full_disk_does_not_lose_the_last_run(small: Box) -> None:
    start(small, "job", "sh", "-c", "exit 3")
    assert small("wait", "job").code == 1
    fill(small)
    assert small("run", "-d", "--name", "job", "--", "true").code == 125
    small.path("filler").unlink()
    kept = [*small.dir.glob("job.status"), *small.dir.glob("archive/job/*/job.status")]
    assert [path.read_text() for path in kept] == ["FAILED\n"]


def test_a_verdict_is_not_lost_when_the_disk_fills_while_the_work_runs(small: Box, gate: Gate) -> None:
    start_gated(small, gate, "job", "exit 9")
    work = small.pids("job")[1]
    fill(small)
    gate.say()
    until(lambda: not alive(work))
    said = listed(small)["job"]
    assert (said["state"], said["final"]) == ("working", False)
    assert "the work has ended" in said["reason"]
    small.path("filler").unlink()
    done = within(small, 10, "wait", "job", "--json")
    assert (done.code, done.json["exit_code"]) == (1, 9)
    assert small.until_file("job.status") == "FAILED\n"


def test_a_waiter_sees_the_verdict_once_the_disk_has_room_again(small: Box, gate: Gate) -> None:
    start_gated(small, gate, "job", "exit 0")
    fill(small)
    with small.start("wait", "job", "--json") as process:
        gate.say()
        shim, work = small.pids("job")
        until(lambda: not alive(work))
        assert alive(shim)
        small.path("filler").unlink()
        out, _ = process.communicate(timeout=10)
    assert '"completed"' in out


def test_a_beat_on_a_full_disk_fails_with_a_reason(small: Box) -> None:
    start(small, "job", "sleep", "300")
    fill(small)
    done = small("beat", "--dir", str(small.dir), "--name", "job", "--note", "x")
    assert done.code == 12
    assert "No space left" in done.err


def test_stop_on_a_full_disk_still_ends_the_work(small: Box) -> None:
    start(small, "job", "sleep", "300")
    work = small.pids("job")[1]
    fill(small)
    with small.start("stop", "job", "--json") as process:
        until(lambda: not alive(work))
        small.path("filler").unlink()
        out, err = process.communicate(timeout=20)
    assert '"stopped"' in out, err


def test_stop_does_not_lose_a_verdict_that_waits_for_room_on_the_disk(
    small: Box, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_gated(small, gate, "job", "exit 9")
    work = small.pids("job")[1]
    fill(small)
    gate.say()
    until(lambda: not alive(work))
    monkeypatch.setattr(stopping, "SHIM_PATIENCE", 0.5)
    with contextlib.suppress(MidwatchError):
        stopping.stop_job(JobDirectory(str(small.dir), PATIENT), "job")
    small.path("filler").unlink()
    assert within(small, 10, "wait", "job", "--json").json["exit_code"] == 9


def test_a_read_only_disk_is_refused_with_a_clear_message(box: Box) -> None:
    mounted(box.dir, "ro,size=64k")
    try:
        done = within(box, 10, "run", "-d", "--name", "job", "--", "true")
    finally:
        subprocess.run(["umount", "--lazy", str(box.dir)], check=True)
    assert done.code == 125
    assert "Read-only file system" in done.err


def test_a_file_in_place_of_the_directory_is_refused_with_a_clear_message(box: Box) -> None:
    box.dir.write_text("not a directory\n")
    done = box("run", "-d", "--name", "job", "--", "true")
    assert done.code == 125
    assert done.err.startswith(f"midwatch: cannot write to {box.dir}: ")
    assert "--dir" in done.err


@pytest.mark.parametrize(("verb", "code"), [("wait", 7), ("why", 7), ("stop", 7), ("logs", 7)])
def test_a_file_in_place_of_the_directory_is_named_by_every_reader(box: Box, verb: str, code: int) -> None:
    box.dir.write_text("not a directory\n")
    done = box(verb, "job")
    assert done.code == code
    assert str(box.dir) in done.out + done.err
    assert "Traceback" not in done.err


def test_ls_of_a_file_in_place_of_the_directory_fails_with_a_reason(box: Box) -> None:
    box.dir.write_text("not a directory\n")
    done = box("ls")
    assert done.code == 12
    assert done.err.startswith(f"midwatch: cannot read {box.dir}: ")
