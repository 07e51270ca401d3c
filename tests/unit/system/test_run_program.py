"""What a program that is run with a deadline gives, and what becomes of it and of its children."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from midwatch.system import processes, run_program
from midwatch.system.run_program import OutputCap, RunLimits
from tests.conftest import alive, until

ALL = OutputCap(1 << 16)


def sh(line: str) -> list[str]:
    return ["/bin/sh", "-c", line]


@pytest.fixture(params=["told", "blind"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that tells of an end, and one that does not."""
    if request.param == "blind":
        monkeypatch.setattr(processes, "watch_exit", lambda _: None)


@pytest.mark.usefixtures("kernel")
def test_output_and_errors_are_kept_apart_if_asked_for() -> None:
    line = "echo out; echo err >&2; exit 3"
    assert run_program.run_program(sh(line), RunLimits(30, ALL, ALL)) == (3, b"out\n", b"err\n", True, False)
    assert run_program.run_program(sh(line), RunLimits(30, ALL)).output == b"out\nerr\n"
    assert run_program.run_program(sh(line), RunLimits(30, ALL, drop_errors=True)).output == b"out\n"


def test_it_reads_what_it_is_given_or_nothing() -> None:
    assert run_program.run_program(["cat"], RunLimits(30, ALL), data=b"x" * 200_000).output == b"x" * (1 << 16)
    assert run_program.run_program(["cat"], RunLimits(30, ALL)).output == b""
    assert run_program.run_program(["true"], RunLimits(30, ALL), data=b"x" * 200_000).code == 0


def test_the_last_bytes_are_kept() -> None:
    done = run_program.run_program(sh("yes | head -n 100000; echo end"), RunLimits(30, OutputCap(6)))
    assert (done.output, done.ended, done.too_much) == (b"y\nend\n", True, False)


@pytest.mark.usefixtures("kernel")
def test_what_prints_too_much_is_ended() -> None:
    done = run_program.run_program(["yes"], RunLimits(30, OutputCap(1000, ends=True)))
    assert (done.code, done.ended, done.too_much) == (-signal.SIGKILL, False, True)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize(("mercy", "code"), [(0.0, -signal.SIGKILL), (5.0, 7)])
def test_what_is_late_is_ended_with_its_group(tmp_path: Path, mercy: float, code: int) -> None:
    line = f"trap 'exit 7' TERM; sleep 300 & echo $! > {tmp_path}/pid; wait"
    done = run_program.run_program(sh(line), RunLimits(1.0, ALL, mercy=mercy))
    assert (done.code, done.ended) == (code, False)
    until(lambda: not alive(int((tmp_path / "pid").read_text())))


@pytest.mark.usefixtures("kernel")
def test_what_is_cancelled_is_ended() -> None:
    reader, writer = os.pipe()
    os.close(writer)
    try:
        assert not run_program.run_program(["sleep", "300"], RunLimits(300, ALL), cancel=reader).ended
    finally:
        os.close(reader)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("whole", [True, False])
def test_what_it_leaves_running_is_not_waited_for(tmp_path: Path, *, whole: bool) -> None:
    began = time.monotonic()
    line = f"sleep 300 & echo $! > {tmp_path}/pid; echo done"
    done = run_program.run_program(sh(line), RunLimits(60, ALL, whole_group=whole))
    pid = int((tmp_path / "pid").read_text())
    assert (done.output, done.ended) == (b"done\n", True)
    assert time.monotonic() - began < 30
    if whole:
        until(lambda: not alive(pid))
    else:
        assert alive(pid)
        os.kill(pid, signal.SIGKILL)


def test_it_has_no_terminal_and_none_of_our_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIDWATCH_MQTT_PASSWORD", "secret")
    done = run_program.run_program(sh("env; exec ps -o sid= -p $$"), RunLimits(30, ALL))
    assert b"MIDWATCH_MQTT_PASSWORD" not in done.output
    assert int(done.output.split()[-1]) != os.getsid(0)
    kept = run_program.run_program(sh("exec ps -o sid= -p $$"), RunLimits(30, ALL, keeps_terminal=True))
    assert int(kept.output) == os.getsid(0)


def test_a_call_says_in_words_what_went_wrong() -> None:
    assert run_program.call(sh("echo a; exit 2"), os.environ, limit=30) == (2, "a\n", "")
    with pytest.raises(run_program.CallError, match=r"^/no/such cannot be run: No such file or directory$"):
        run_program.call(["/no/such"], os.environ, limit=30)
    with pytest.raises(run_program.ProgramLateError, match=r"^`it` took longer than 0\.2s and was ended$"):
        run_program.call(["sleep", "300"], os.environ, limit=0.2, name="it")


def test_in_the_foreground_what_is_late_is_ended_with_all_below_it(tmp_path: Path) -> None:
    line = f"setsid sleep 300 & echo $! > {tmp_path}/pid; wait"
    assert run_program.run_in_foreground(sh("exit 4"), str(tmp_path), 30) == 4
    assert run_program.run_in_foreground(sh(line), str(tmp_path), 1.0) is None
    until(lambda: not alive(int((tmp_path / "pid").read_text())))
