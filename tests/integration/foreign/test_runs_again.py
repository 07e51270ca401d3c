"""A wrapper that runs its step again and clears nothing: what the run before left does not end the new one."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.system import procfs
from tests.conftest import Box, alive, letter, until, until_gone
from tests.integration.foreign.template import dead_pid, sleeper, wrapped
from tests.integration.wait.watching import Gate, finish, listed, silent_for, waiter, within


@pytest.fixture
def theirs(box: Box) -> Iterator[Path]:
    """The directory of others, with what a first run left there; ours is another one."""
    found = box.cwd / "theirs"
    found.mkdir(mode=0o700)
    with wrapped(box, "step", "true", found) as pid:
        until((found / "step.result").exists, found)
        until_gone(pid)
    yield found
    assert {path.suffix for path in found.iterdir()} <= {".pid", ".heartbeat", ".log", ".status", ".result"}


def says(box: Box, theirs: Path) -> tuple[object, object]:
    """What `ls` and a short `wait` say of the step."""
    waited = box("wait", "step", "--dir", str(theirs), "--timeout", "100ms", "--json")
    return listed(box, "--dir", str(theirs))["step"]["state"], (waited.code, waited.json["state"])


WORKING = ("working", (13, "working"))


def test_every_face_says_that_the_second_run_works_and_then_how_it_ended(box: Box, theirs: Path, gate: Gate) -> None:
    with wrapped(box, "step", f"read -r line < {gate.path}; exit 3", theirs):
        assert says(box, theirs) == WORKING
        assert "SUCCESS, written by an earlier run" in box("why", "step", "--dir", str(theirs)).out
        with waiter(box, "step", "--dir", str(theirs)) as process:
            assert silent_for(process, 0.2)
            gate.say()
            done = finish(process, 5)
    assert (done.code, done.json["state"], done.json["result"]) == (1, "failed", None)


def test_a_status_that_is_written_in_place_wakes_the_wait_though_its_process_lives_on(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        with waiter(box, "step", "--dir", str(theirs)) as process:
            assert silent_for(process, 0.2)
            (theirs / "step.status").write_text("FAILED\n")
            assert finish(process, 5).code == 1
            assert alive(pid)


def test_the_result_of_the_first_run_is_not_that_of_the_second(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        (theirs / "step.status").write_text("SUCCESS\n")
        with waiter(box, "step", "--dir", str(theirs)) as process:
            assert silent_for(process, 0.3)
            (theirs / "step.result").write_text("7\n")
            assert finish(process, 5).json["result"] == 7


def test_a_wait_is_told_how_its_run_ended_although_the_next_began_before_it_could_look(
    box: Box, theirs: Path, gate: Gate
) -> None:
    work = f"read -r line < {gate.path}; exit 3"
    with wrapped(box, "step", work, theirs) as first, waiter(box, "step", "--dir", str(theirs)) as process:
        assert silent_for(process, 0.1)
        os.kill(process.pid, signal.SIGSTOP)
        until(lambda: letter(process.pid) == "T")
        gate.say()
        until_gone(first)
        with wrapped(box, "step", "sleep 300", theirs):
            os.kill(process.pid, signal.SIGCONT)
            assert finish(process, 10).json["state"] == "failed"
            assert says(box, theirs) == WORKING


def test_a_second_run_can_be_adopted_and_is_told_by_its_own_status(box: Box, theirs: Path, gate: Gate) -> None:
    with wrapped(box, "step", f"read -r line < {gate.path}; exit 3", theirs):
        assert box("adopt", "--dir", str(theirs)).out == "step\n"
        with waiter(box, "step") as process:
            assert silent_for(process, 0.3)
            gate.say()
            assert finish(process).json["state"] == "failed"


def test_a_second_run_that_was_killed_is_crashed_and_not_what_the_first_was(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        until(lambda: (theirs / "step.log").stat().st_mtime_ns >= (theirs / "step.pid").stat().st_mtime_ns)
        os.kill(pid, signal.SIGKILL)
        done = within(box, 5, "wait", "step", "--dir", str(theirs), "--json")
    assert (done.code, done.json["state"]) == (3, "crashed")


def test_a_status_older_than_the_process_is_not_its_own_however_its_pid_file_is_dated(box: Box, theirs: Path) -> None:
    """A file system that keeps every other second dates both files to the same one."""
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        tick = int(time.time()) - 3
        for suffix in ("pid", "status", "result"):
            os.utime(theirs / f"step.{suffix}", (tick, tick))
        assert says(box, theirs) == WORKING


def test_what_was_written_before_the_clock_was_set_back_is_of_the_run_before(box: Box, theirs: Path) -> None:
    ahead = time.time() + 3600
    for path in theirs.iterdir():
        os.utime(path, (ahead, ahead))
    with wrapped(box, "step", "sleep 300", theirs):
        with waiter(box, "step", "--dir", str(theirs)) as process:
            assert silent_for(process, 2.0)
        assert says(box, theirs) == WORKING


def to_one_tick(theirs: Path) -> None:
    tick = int(time.time())
    for path in theirs.iterdir():
        os.utime(path, (tick, tick))


def test_of_files_of_one_tick_the_end_of_the_process_tells_whose_they_are(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        (theirs / "step.status").write_text("FAILED\n")
        to_one_tick(theirs)
        with waiter(box, "step", "--dir", str(theirs)) as process:
            assert silent_for(process, 0.2)
            os.kill(pid, signal.SIGKILL)
            assert finish(process, 5).json["state"] == "failed"


def test_files_of_one_tick_are_told_in_seconds_though_the_process_rests(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        (theirs / "step.status").write_text("FAILED\n")
        to_one_tick(theirs)
        assert within(box, 10, "wait", "step", "--dir", str(theirs)).code == 1
        assert alive(pid)


def test_of_files_of_one_tick_a_wrapper_that_works_on_has_begun_again(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs):
        until(lambda: len(procfs.descendants(int((theirs / "step.pid").read_text()))) >= 3)
        to_one_tick(theirs)
        assert box("wait", "step", "--dir", str(theirs), "--timeout", "3.2s").code == 13


def test_files_of_one_tick_and_a_process_that_has_ended_are_of_one_run(box: Box, theirs: Path) -> None:
    (theirs / "step.pid").write_text(f"{dead_pid()}\n")
    for suffix in ("pid", "status", "result"):
        os.utime(theirs / f"step.{suffix}", (1_700_000_000, 1_700_000_000))
    done = box("wait", "step", "--dir", str(theirs), "--json")
    assert (done.code, done.json["result"]) == (0, {"key": "value"})
