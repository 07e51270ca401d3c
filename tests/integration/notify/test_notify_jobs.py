"""Jobs tell of themselves: their shim has somebody told when they end or are stuck, and nothing waits for that."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Box, alive, kill, until, until_gone
from tests.integration.notify.conftest import Notices
from tests.integration.wait.test_unsupervised_ends import stubborn
from tests.integration.wait.watching import finish, listed, silent_for, waiter

SLOW = ("--stale", "1", "--grace", "0.5", "--heartbeat", "0.4")


def test_the_end_of_a_job_is_told_with_nobody_waiting(notices: Notices, box: Box) -> None:
    notices.mine(notices.command())
    box("run", "-d", "--name", "build", "--", "sh", "-c", "exit 2")
    until(lambda: bool(notices.delivered()))
    [[text]] = notices.delivered()
    assert text.startswith("build failed: exit 2 after ")


def test_the_verdict_is_there_before_anybody_is_told_and_while_a_channel_hangs(
    notices: Notices, box: Box, tmp_path: Path
) -> None:
    mark = tmp_path / "saw"
    saw = f"open({str(mark)!r}, 'w').write(str(os.getpid()) + ' ' + str(os.path.exists({str(box.path('x.status'))!r})))"
    notices.mine(notices.command(then=f"{saw}\nimport time\nwhile True: time.sleep(1000)"))
    box("run", "-d", "--name", "x", "--", "false")
    assert box("wait", "x", "--json").json["state"] == "failed"
    shim, _ = box.pids("x")
    until(lambda: mark.exists() and " " in mark.read_text())
    hanging, status_was_there = mark.read_text().split()
    try:
        assert status_was_there == "True"
        until_gone(shim)
        assert box("run", "--name", "x", "--", "true").code == 0  # nobody holds its name
        assert alive(int(hanging))
    finally:
        for pid in {int(hanging), *notices.tellers()}:
            kill(pid, signal.SIGKILL)


def test_a_job_that_is_stuck_is_told_once_and_stays_stuck(notices: Notices, box: Box) -> None:
    """What the teller uses is not the work's: it does not pass for movement."""
    busy = "import time\nend = time.process_time() + 1.0\nwhile time.process_time() < end: pass"
    notices.mine(notices.command(then=busy, fields='"{state}"'))
    box("run", "-d", "--name", "x", *SLOW, "--", "sleep", "1000")
    until(lambda: [event for event in notices.events("notice") if event["state"] == "stuck"] != [])
    until(lambda: not notices.tellers())
    later = json.loads(box.path("x.seen").read_text())["at"] + 3
    until(lambda: json.loads(box.path("x.seen").read_text())["at"] > later, box.dir)
    assert box("wait", "x", "--json").json["state"] == "stuck"
    assert [event["event"] for event in box.events("x") if event["event"] == "moved"] == []
    box("stop", "x")
    until(lambda: len(notices.delivered()) == 2)
    assert notices.delivered() == [["stuck"], ["stopped"]]


def test_a_stop_does_not_wait_for_a_channel_that_hangs(notices: Notices, box: Box, tmp_path: Path) -> None:
    mark = tmp_path / "hangs"
    hang = f"import time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\nwhile True: time.sleep(1000)"
    notices.mine(notices.command(then=hang))
    box("run", "-d", "--name", "x", *SLOW, "--", "sleep", "1000")
    until(lambda: mark.exists() and bool(mark.read_text()))
    hanging = int(mark.read_text())
    try:
        done = box("stop", "x", "--json")
        assert (done.json["state"], alive(hanging)) == ("stopped", True)
        assert box.record("x")["end"]["left"] == []
    finally:
        for pid in {int(mark.read_text()), hanging, *notices.tellers()}:
            kill(pid, signal.SIGKILL)


def test_stuck_and_stopped_for_it_is_told_as_one(notices: Notices, box: Box) -> None:
    notices.mine(notices.command())
    box("run", "-d", "--name", "x", *SLOW, "--on-stuck", "stop", "--", "sleep", "1000")
    until(lambda: bool(notices.delivered()))
    until(lambda: not notices.tellers())
    [[text]] = notices.delivered()
    assert text.startswith("x stuck: ")
    assert "; stopped after " in text


def orphaned(box: Box, *options: str) -> tuple[int, int]:
    """A job whose shim was killed while its work goes on; their pids."""
    box("run", "-d", "--name", "x", *options, "--", "sleep", "1000")
    shim, work = box.pids("x")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    return shim, work


def test_where_a_killed_shim_can_tell_nobody_whoever_waits_does_it_once(notices: Notices, box: Box) -> None:
    notices.mine(notices.command())
    _, work = orphaned(box)
    waiters = [box.start("wait", "x", "--json") for _ in range(3)]
    kill(work, signal.SIGKILL)
    for each in waiters:
        assert json.loads(each.communicate(timeout=PATIENCE)[0])["state"] == "crashed"
    assert box("wait", "x").code == 3
    until(lambda: bool(notices.delivered()) and not notices.tellers())
    [[text]] = notices.delivered()
    assert text.startswith("x crashed: ")


def test_whoever_waits_for_the_first_of_several_tells_of_it_too(notices: Notices, box: Box) -> None:
    notices.mine(notices.command(fields='"{name} {state}"'))
    box("run", "-d", "--name", "y", "--", "sleep", "1000")
    _, work = orphaned(box)
    kill(work, signal.SIGKILL)
    assert box("wait", "--any", "--json", "y", "x").json["name"] == "x"
    until(lambda: notices.delivered() == [["x crashed"]])
    box("stop", "y")
    until(lambda: len(notices.delivered()) == 2)


def test_the_silence_of_work_without_a_shim_is_told_by_whoever_waits(notices: Notices, box: Box) -> None:
    notices.mine(notices.command(fields='"{state}"'))
    _, work = orphaned(box, *SLOW)
    waiter = box.start("wait", "x", "--until", "final", "--json")
    until(lambda: notices.delivered() == [["stuck"]])
    assert waiter.poll() is None
    kill(work, signal.SIGKILL)
    assert json.loads(waiter.communicate(timeout=PATIENCE)[0])["state"] == "crashed"
    until(lambda: notices.delivered() == [["stuck"], ["crashed"]])


def test_work_without_a_shim_that_is_stopped_is_told_by_whoever_stops_it(notices: Notices, box: Box) -> None:
    notices.mine(notices.command(fields='"{state}"'))
    orphaned(box)
    assert box("stop", "x", "--json").json["state"] == "stopped"
    until(lambda: notices.delivered() == [["stopped"]])


@pytest.mark.parametrize("killed", [False, True], ids=["to its end", "killed halfway"])
def test_a_stop_that_takes_a_moment_is_told_once_and_as_what_it_is(notices: Notices, box: Box, *, killed: bool) -> None:
    """Shim and work are gone before the stop has come to its end: whoever waits must not be the first to tell."""
    notices.mine(notices.command(fields='"{state}"'))
    work, child = stubborn(box)
    with waiter(box, "job") as process, waiter(box, "job") as another:
        with box.start("stop", "job", "--json") as stop:
            until(lambda: not alive(work))
            assert silent_for(process, 0.3)
            kill(stop.pid if killed else child, signal.SIGKILL)
            finish(stop)
        said = {finish(each).json["state"] for each in (process, another)}
    kill(child, signal.SIGKILL)
    until_gone(child)
    said |= {box("stop", "job", "--json").json["state"], listed(box)["job"]["state"]}
    said.add(box("wait", "job", "--json").json["state"])
    until(lambda: bool(notices.delivered()) and not notices.tellers() and not notices.pending())
    assert (said, notices.delivered()) == ({"stopped"}, [["stopped"]])


def test_only_the_last_attempt_is_told(notices: Notices, box: Box) -> None:
    notices.mine(notices.command())
    box("run", "-d", "--name", "x", "--retries", "2", "--backoff", "0", "--", "false")
    assert box("wait", "x").code == 1
    until(lambda: bool(notices.delivered()))
    until(lambda: not notices.tellers())
    [[text]] = notices.delivered()
    assert "attempt 3 of 3" in text


@pytest.mark.parametrize("detached", [True, False])
def test_a_teller_is_not_a_childs_child_of_the_terminal(notices: Notices, box: Box, *, detached: bool) -> None:
    notices.mine(notices.command(then="open('sid', 'w').write(str(os.getsid(os.getppid())))"))
    box("run", *(["-d"] if detached else []), "--name", "x", "--", "true")
    until(lambda: (notices.home / "sid").exists() and bool((notices.home / "sid").read_text()))
    assert int((notices.home / "sid").read_text()) not in (0, os.getsid(0))
