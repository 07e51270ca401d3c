"""A state directory that is out of sight for a while: renamed, or with another file system mounted over it."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from midwatch.core.policy import PATIENT
from midwatch.jobs.job_directory import JobDirectory
from midwatch.jobs.wait_model import WaitOptions, WaitOutcome
from midwatch.subjects import wait as waiting
from midwatch.subjects.decide import instruct_shim
from tests.conftest import Box, alive, until
from tests.integration.adopt.elsewhere import adopt, stranger
from tests.integration.wait.disks import over
from tests.integration.wait.watching import SOON, Gate, finish, silent_for, start, start_gated, states, waiter


@contextlib.contextmanager
def renamed(box: Box) -> Iterator[None]:
    box.dir.rename(box.cwd / "elsewhere")
    try:
        yield
    finally:
        (box.cwd / "elsewhere").rename(box.dir)


@contextlib.contextmanager
def covered(box: Box) -> Iterator[None]:
    over(box.dir, "-t", "tmpfs", "-o", "size=64k,mode=700", "midwatch-test")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(box.dir)], check=True)


AWAY = pytest.mark.parametrize("away", [renamed, covered])
Away = Callable[[Box], contextlib.AbstractContextManager[None]]


@AWAY
def test_work_that_ends_meanwhile_has_its_end_told(box: Box, gate: Gate, away: Away) -> None:
    start_gated(box, gate, "job", "exit 0")
    shim, work = box.pids("job")
    with waiter(box, "job") as process:
        with away(box):
            gate.say()
            until(lambda: not alive(work) and not alive(shim))
            assert silent_for(process, 1.2)
        done = finish(process)
    assert (done.code, done.json["state"]) == (0, "completed")
    assert box.path("job.status").read_text() == "SUCCESS\n"
    assert [event["event"] for event in box.events("job")] == ["started", "ended"]


@AWAY
def test_work_that_goes_on_is_waited_for(box: Box, gate: Gate, away: Away) -> None:
    start_gated(box, gate, "job", "exit 6")
    with waiter(box, "job") as process:
        with away(box):
            assert silent_for(process, 1.2)
        gate.say()
        assert finish(process).json["exit_code"] == 6


@AWAY
def test_a_hang_is_noticed_when_it_is_back(box: Box, away: Away) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    with waiter(box, "job") as process:
        with away(box):
            assert silent_for(process, 2.5)
        assert finish(process).json["state"] == "stuck"
    assert states(box, "job") == ["starting", "working", "stuck"]


@AWAY
def test_an_attempt_that_fails_meanwhile_is_tried_again(box: Box, gate: Gate, away: Away) -> None:
    start_gated(box, gate, "job", "[ $MIDWATCH_ATTEMPT = 2 ]", "--retries", "1", "--backoff", "0")
    work = box.pids("job")[1]
    with away(box):
        gate.say()
        until(lambda: not alive(work))
    box.until_file("job.json", lambda text: '"attempt": 2' in text)
    gate.say()
    assert box("wait", "job").code == 0


@AWAY
def test_adopted_work_that_ends_meanwhile_has_its_end_told(box: Box, gate: Gate, away: Away) -> None:
    with stranger(f"read -r line < {gate.path}; exit 3") as pid:
        adopt(box, pid)
        keeper = box.pids("job")[0]
        with away(box):
            gate.say()
            until(lambda: not alive(pid) and not alive(keeper))
        assert box("wait", "job", "--json").json["exit_code"] == 3


def test_a_judge_that_finds_no_record_gives_no_answer(box: Box) -> None:
    box.dir.mkdir()
    assert instruct_shim(JobDirectory(str(box.dir), PATIENT), "job") == ""
    assert instruct_shim(JobDirectory(str(box.cwd / "gone"), PATIENT), "job") == ""


def test_a_directory_that_does_not_come_back_ends_the_wait(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    start(box, "job", "sleep", "300")
    wait = waiting.SubjectWait(JobDirectory(str(box.dir), PATIENT), ["job"], WaitOptions())
    now = time.monotonic()

    def look(later: float) -> list[WaitOutcome]:
        monkeypatch.setattr(time, "monotonic", lambda: now + later)
        return list(wait.look_at(["job"]))

    assert look(0.0) == []
    with renamed(box):
        assert look(1.0) == []
        assert look(waiting.AWAY) == []
        (outcome,) = look(waiting.AWAY + 1.1)
    wait.close()
    assert outcome.verdict.state == "not_found"
    assert "goes on" in outcome.verdict.reason
