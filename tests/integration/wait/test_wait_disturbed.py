"""A directory that goes away, events that do not come, a terminal to draw on."""

import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Box, kill, until_gone
from tests.integration.foreign.template import sleeper
from tests.integration.wait.watching import (
    SOON,
    Gate,
    Stopwatch,
    allowed,
    finish,
    silent_for,
    start,
    start_gated,
    waiter,
    within,
)

EVENTS_OFF = {"MIDWATCH_EVENTS": "off"}


def sweep_removed(pids: tuple[int, int]) -> None:
    """End a job whose record is gone: the box can no longer find it."""
    for pid in pids:
        kill(pid, signal.SIGKILL)
        until_gone(pid)


def test_a_directory_removed_while_waiting_ends_the_wait_and_says_so(box: Box) -> None:
    start(box, "job", "sleep", "300")
    pids = box.pids("job")
    with waiter(box, "job") as process:
        assert silent_for(process, 1.2)
        shutil.rmtree(box.dir)
        done = finish(process, 5)
    sweep_removed(pids)
    assert (done.code, done.json["state"]) == (7, "not_found")
    assert "removed while waiting" in done.json["reason"]
    assert "goes on" in done.json["reason"]


def test_a_record_removed_before_the_rest_is_not_called_unknown_at_once(box: Box) -> None:
    """`rm -r` takes one file after the other; what is half gone must not be taken for a verdict."""
    start(box, "job", "sleep", "300")
    pids = box.pids("job")
    with waiter(box, "job") as process:
        assert silent_for(process, 1.2)
        box.path("job.json").unlink()
        box.path("job.pid").unlink()
        assert silent_for(process, 0.3)
        shutil.rmtree(box.dir)
        done = finish(process, 5)
    sweep_removed(pids)
    assert done.json["state"] == "not_found"


def test_work_whose_directory_is_removed_comes_to_its_own_end(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    shim, work = box.pids("job")
    shutil.rmtree(box.dir)
    gate.say()
    until_gone(work)
    until_gone(shim)


def test_without_events_the_end_is_still_seen(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 6")
    with box.start("wait", "job", "--json", env=EVENTS_OFF) as process:
        assert silent_for(process, 0.5)
        gate.say()
        done = finish(process, 6)
    assert (done.code, done.json["exit_code"]) == (1, 6)


def test_without_events_the_death_of_shim_and_work_is_still_seen(box: Box) -> None:
    start(box, "job", "sleep", "300")
    with box.start("wait", "job", "--json", env=EVENTS_OFF) as process:
        assert silent_for(process, 0.5)
        for pid in box.pids("job"):
            kill(pid, signal.SIGKILL)
        assert finish(process, 6).code == 3


def test_without_events_a_name_that_comes_later_is_still_seen(box: Box) -> None:
    with box.start("wait", "job", "--start", "20s", "--json", env=EVENTS_OFF) as process:
        assert silent_for(process, 0.5)
        start(box, "job", "true")
        assert finish(process, 6).code == 0


def test_without_events_a_matching_line_is_still_seen(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f'while read -r line; do echo "$line"; done < {gate.path}')
    with box.start("wait", "job", "--match", "ready", "--json", env=EVENTS_OFF) as process:
        assert silent_for(process, 0.5)
        gate.say("ready")
        assert finish(process, 6).code == 0


def test_without_events_stuck_is_still_seen(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    assert within(box, 10, "wait", "job", **EVENTS_OFF).code == 4


def test_without_events_suspension_is_still_seen(box: Box) -> None:
    start(box, "job", "sleep", "300")
    with box.start("wait", "job", "--json", env=EVENTS_OFF) as process:
        assert silent_for(process, 0.5)
        os.kill(box.pids("job")[1], signal.SIGSTOP)
        assert finish(process, 6).code == 8


def test_without_events_a_removed_directory_ends_the_wait(box: Box) -> None:
    start(box, "job", "sleep", "300")
    pids = box.pids("job")
    with box.start("wait", "job", "--json", env=EVENTS_OFF) as process:
        assert silent_for(process, 0.5)
        shutil.rmtree(box.dir)
        done = finish(process, 6)
    sweep_removed(pids)
    assert done.code == 7


def test_a_waiter_that_was_itself_suspended_still_tells_the_verdict(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 6")
    with waiter(box, "job") as process:
        os.kill(process.pid, signal.SIGSTOP)
        gate.say()
        box.until_file("job.status")
        os.kill(process.pid, signal.SIGCONT)
        assert finish(process, 5).json["exit_code"] == 6


def test_a_waiter_that_comes_to_look_after_the_next_run_began_tells_of_the_run_it_waited_for(
    box: Box, gate: Gate
) -> None:
    start_gated(box, gate, "job", "exit 6")
    with waiter(box, "job") as process:
        os.kill(process.pid, signal.SIGSTOP)
        gate.say()
        box.until_file("job.status")
        start(box, "job", "sleep", "300")
        os.kill(process.pid, signal.SIGCONT)
        assert finish(process, 5).json["exit_code"] == 6


def test_a_status_among_more_events_than_the_kernel_keeps_is_not_missed(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with sleeper() as pid:
        box.path("step.pid").write_text(f"{pid}\n")
        with waiter(box, "step") as process:
            os.kill(process.pid, signal.SIGSTOP)
            for number in range(limit // 2 + 100):
                noise = f"{box.dir}/noise-{number}"
                os.close(os.open(noise, os.O_WRONLY | os.O_CREAT))
                os.unlink(noise)
            box.path("step.status").write_text("FAILED\n")
            os.kill(process.pid, signal.SIGCONT)
            assert finish(process, 5).code == 1


def test_the_end_is_told_within_a_moment(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    with waiter(box, "job") as process:
        watch = Stopwatch()
        gate.say()
        finish(process)
    assert watch.seconds < allowed(1.5)


# On a terminal ------------------------------------------------------------------------------------------------------


def shown_on_terminal(process: subprocess.Popen[str], terminal: int, *wanted: str) -> str:
    """Read what is drawn until all that is wanted has been seen, or its time is up."""
    shown, deadline = "", time.monotonic() + PATIENCE / 3
    while not all(text in shown for text in wanted) and time.monotonic() < deadline and process.poll() is None:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def drawn(box: Box, *wanted: str) -> str:
    """What `wait job` draws on a terminal while the job runs."""
    terminal, theirs = os.openpty()
    try:
        with box.start("wait", "job", stderr=theirs) as process:
            os.close(theirs)
            try:
                return shown_on_terminal(process, terminal, *wanted)
            finally:
                process.kill()
    finally:
        os.close(terminal)


def test_a_terminal_shows_state_note_progress_and_last_line(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo compiling main.c; exec sleep 300")
    assert box("beat", "--dir", str(box.dir), "--name", "job", "--note", "epoch 3", "--progress", "0.4").code == 0
    wanted = ("job working", "40%", "epoch 3", "compiling main.c")
    shown = drawn(box, *wanted)
    assert [text for text in wanted if text not in shown] == []


@pytest.mark.parametrize(
    ("options", "wanted"), [(("--timeout", "60s"), "timeout in "), (("--stale", "60s", "--grace", "30s"), "in ")]
)
def test_a_terminal_shows_the_time_to_the_next_deadline(box: Box, options: tuple[str, ...], wanted: str) -> None:
    start(box, "job", "sleep", "300", options=options)
    assert wanted in drawn(box, wanted)


def test_the_live_line_is_wiped_before_the_verdict(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    terminal, theirs = os.openpty()
    with box.start("wait", "job", stderr=theirs) as process:
        os.close(theirs)
        shown = shown_on_terminal(process, terminal, "working")
        gate.say()
        done = finish(process)
        while select.select([terminal], [], [], 0)[0]:
            try:
                shown += os.read(terminal, 4096).decode()
            except OSError:
                break
    os.close(terminal)
    assert shown.endswith("\r\033[2K")
    assert done.out.startswith("job: completed")


@pytest.mark.parametrize("names", [("one",), ("one", "two")], ids=len)
def test_ctrl_c_says_that_the_job_continues_and_how_to_stop_it(box: Box, names: tuple[str, ...]) -> None:
    for name in names:
        start(box, name, "sleep", "300")
    start(box, "done", "true")
    with waiter(box, "done", *names) as process:
        assert process.stdout is not None
        assert "done" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        done = finish(process, 30)
    assert done.code == 130
    shown = " ".join(names)
    goes, them = ("continues", "it") if len(names) == 1 else ("continue", "them")
    assert done.err == f"midwatch: the wait was ended, {shown} {goes}; `midwatch stop {shown}` stops {them}\n"
    assert box("wait", *names, "--timeout", "0").code == 13
