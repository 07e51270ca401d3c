"""`midwatch run` in the foreground where there is no terminal: streams, signals, exit codes."""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from tests.conftest import PATIENCE, Box, letter, until, until_gone
from tests.integration.run.terminals import CHILDREN, SOON, Go, left, state

# Without a terminal -------------------------------------------------------------------------------------------

MIX = """
import os, random, sys
noise = random.Random(int(sys.argv[1]))
for _ in range(100):
    for fd in (1, 2):
        data = noise.randbytes(50_000)
        while data:
            data = data[os.write(fd, data):]
"""


def call(box: Box, *arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return start([*box.program, "run", "--name", "job", *arguments], box, given)


def script(box: Box, text: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a shell script in which MIDWATCH stands for the program."""
    return start(["sh", "-c", text.replace("MIDWATCH", " ".join(box.program))], box, given)


def start(command: list[str], box: Box, given: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=given, env=box.env, cwd=box.cwd, capture_output=True, timeout=PATIENCE, check=False
    )


def test_standard_output_and_error_come_apart_and_byte_for_byte(box: Box) -> None:
    done = call(box, "--", sys.executable, "-c", MIX, "7")
    noise = random.Random(7)
    chunks = [noise.randbytes(50_000) for _ in range(200)]
    assert done.returncode == 0
    assert done.stdout == b"".join(chunks[0::2])
    assert done.stderr == b"".join(chunks[1::2])


def test_what_comes_by_pipe_is_in_the_log_too(box: Box) -> None:
    done = call(box, "--", "printf", r"\377\000\376 \303\050\n")
    assert done.stdout == box.path("job.log").read_bytes() == b"\xff\x00\xfe \xc3\x28\n"


def test_standard_input_is_passed_on_byte_for_byte(box: Box) -> None:
    data = random.Random(3).randbytes(5_000_000)
    done = call(box, "--", "cat", given=data)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == data


def test_what_the_work_does_not_read_is_left_for_the_caller(box: Box) -> None:
    assert script(box, "MIDWATCH run -- head -c 0; cat", given=b"still here").stdout == b"still here"


def test_work_whose_output_nobody_reads_ends_as_it_would_alone(box: Box) -> None:
    assert script(box, "MIDWATCH run --name job -- yes | head -1").stdout == b"y\n"
    for pid in box.pids("job"):
        until_gone(pid)
    record = box.record("job")
    assert record["end"]["signal"] == signal.SIGPIPE, record


def test_captured_output_returns_when_the_work_ends_though_a_child_lives_on(box: Box) -> None:
    began = time.monotonic()
    done = script(box, "x=$(MIDWATCH run --name job -- sh -c 'sleep 1000 & echo hi'); echo \"<$x>\"")
    assert done.stdout == b"<hi>\n"
    assert time.monotonic() - began < SOON
    assert "left running" in box("why", "job").out


def test_a_caller_whose_pipe_does_not_block_loses_nothing(box: Box) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    command = [*box.program, "run", "--name", "job", "--", sys.executable, "-c", MIX, "7"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=writing, stderr=subprocess.DEVNULL, env=box.env, cwd=box.cwd
    ) as run:
        os.close(writing)
        with open(reading, "rb") as pipe:
            got = pipe.read()
        assert run.wait(PATIENCE) == 0
    noise = random.Random(7)
    assert got == b"".join([noise.randbytes(50_000) for _ in range(200)][0::2])


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_caller_may_have_closed_its_streams(box: Box, closed: str) -> None:
    done = script(box, f"MIDWATCH run --name job -- sh -c 'cat; echo out; echo err >&2; exit 5' {closed}")
    assert done.returncode == 5, done
    assert sorted(box.path("job.log").read_text().split()) == ["err", "out"]


# Signals for `midwatch run` -----------------------------------------------------------------------------------


def line(run: subprocess.Popen[str]) -> str:
    """The next line that it writes."""
    assert run.stdout is not None
    ready, _, _ = select.select([run.stdout], [], [], PATIENCE)
    assert ready, "it says nothing"
    return run.stdout.readline()


@contextlib.contextmanager
def running(box: Box, *command: str) -> Iterator[subprocess.Popen[str]]:
    """A `midwatch run` of this command, which has said that it is ready."""
    run = box.start("run", "--name", "job", "--", *command)
    try:
        assert line(run) == "ready\n"
        yield run
    finally:
        run.kill()
        run.communicate()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 125), (signal.SIGHUP, 125), (signal.SIGQUIT, 125)],
    ids=["INT", "TERM", "HUP", "QUIT"],
)  # fmt: skip
def test_a_signal_that_asks_us_to_end_stops_the_tree_at_once(box: Box, number: int, code: int) -> None:
    with running(box, "sh", "-c", f"{CHILDREN} echo ready; wait") as run:
        run.send_signal(number)
        assert run.wait(SOON) == code
    assert state(box) == "stopped"
    assert left(box) == []


def test_work_that_cleans_up_when_asked_to_end_is_given_the_time(box: Box, go: Go) -> None:
    os.mkfifo(box.cwd / "never")
    end = "echo cleaning; read line < go; echo clean; exit 0"
    with running(box, "sh", "-c", f"trap '{end}' TERM; echo ready; read line < never") as run:
        run.terminate()
        assert line(run) == "cleaning\n"
        go()
        assert line(run) == "clean\n"
        assert run.wait(PATIENCE) == 125
    assert state(box) == "stopped"


def test_a_stop_is_obeyed_although_nobody_reads_our_output(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec yes") as run:
        work = box.pids("job")[1]
        until(lambda: letter(run.pid) == letter(work) == "S")
        run.terminate()
        until_gone(work)
    assert left(box) == []


def test_asked_to_end_we_end_although_nobody_reads_our_output(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec yes") as run:
        until(lambda: letter(run.pid) == letter(box.pids("job")[1]) == "S")
        run.terminate()
        assert run.wait(SOON) == 125


def test_a_killed_caller_takes_the_tree_with_it(box: Box) -> None:
    with running(box, "sh", "-c", f"{CHILDREN} echo ready; wait") as run:
        shim, work = box.pids("job")
        run.kill()
        for pid in (work, shim):
            until_gone(pid)
    assert state(box) == "stopped"
    assert left(box) == []


def test_a_killed_shim_leaves_the_work_to_its_caller(box: Box, go: Go) -> None:
    with running(box, "sh", "-c", "echo ready; read l < go; echo more") as run:
        shim, _ = box.pids("job")
        os.kill(shim, signal.SIGKILL)
        go()
        assert line(run) == "more\n"
        assert run.wait(PATIENCE) == 125
        assert run.stderr is not None
        assert "its shim was killed" in run.stderr.read()
    assert state(box) == "completed", "whoever relays it sees how it ends"


@pytest.mark.parametrize("name", ["HUP", "INT"])
def test_a_signal_that_the_caller_had_us_ignore_stops_nothing(box: Box, go: Go, name: str) -> None:
    box.program = ["sh", "-c", f"trap '' {name}; exec \"$@\"", "sh", *box.program]
    with running(box, "sh", "-c", "echo ready; read line < go; exit 3") as run:
        run.send_signal(signal.Signals[f"SIG{name}"])
        go()
        assert run.wait(PATIENCE) == 3


# Exit codes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--", "true"], 0),
        (["--", "sh", "-c", "exit 7"], 7),
        (["--", "sh", "-c", "exit 255"], 255),
        (["--", "sh", "-c", "kill -9 $$"], 137),
        (["--", "sh", "-c", "kill -15 $$"], 143),
        (["--timeout", "0.2", "--", "sleep", "1000"], 124),
        (["--stale", "0.2", "--grace", "0", "--on-stuck", "stop", "--", "sleep", "1000"], 125),
        (["--dir", "/proc/nowhere", "--", "true"], 125),
        (["--", "/etc/passwd"], 126),
        (["--", "/"], 126),
        (["--", "no-such-program"], 127),
        (["--", "./no-such-program"], 127),
        (["--no-such-option", "--", "true"], 2),
        ([], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_the_exit_code_says_how_it_ended(box: Box, arguments: list[str], code: int) -> None:
    done = call(box, *arguments)
    assert done.returncode == code, done


def test_the_exit_code_is_125_when_another_stops_it(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec sleep 1000") as run:
        assert box("stop", "job").code == 0
        assert run.wait(PATIENCE) == 125


def test_a_name_that_is_in_use_is_refused_with_125_and_the_other_goes_on(box: Box) -> None:
    with running(box, "sh", "-c", "echo ready; exec sleep 1000"):
        done = call(box, "--", "true")
        assert done.returncode == 125, done
        assert b"job is working already" in done.stderr
        assert state(box) == "working"
