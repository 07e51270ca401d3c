import os
import subprocess

import pytest

from tests.conftest import Box, until
from tests.integration.wait.watching import (
    Gate,
    Stopwatch,
    allowed,
    finish,
    listed,
    silent_for,
    start,
    start_gated,
    within,
)

GIGABYTE = 1 << 30


def raw(box: Box, *arguments: str) -> bytes:
    call = [*box.program, "logs", *arguments]
    return subprocess.run(call, env=box.env, cwd=box.cwd, capture_output=True, timeout=30, check=True).stdout


def large_log(box: Box, name: str, tail: bytes) -> None:
    """A finished job with a log of a gigabyte, most of it a hole."""
    box.dir.mkdir(mode=0o700)
    with box.path(f"{name}.log").open("wb") as log:
        log.truncate(GIGABYTE)
        log.seek(GIGABYTE)
        log.write(tail)
    box.path(f"{name}.status").write_text("FAILED\n")


def test_output_and_errors_are_kept_in_the_order_of_writing(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo one; echo two >&2; echo three")
    assert box("wait", "job").code == 0
    assert box("logs", "job").out == "one\ntwo\nthree\n"


def test_output_that_is_not_utf_8_comes_out_as_it_went_in(box: Box) -> None:
    data = bytes(range(256)) + b"\r\n\x1b[31mred\x1b[0m no newline at the end"
    (box.cwd / "data").write_bytes(data)
    start(box, "job", "cat", "data")
    assert box("wait", "job").code == 0
    assert raw(box, "job", "--raw") == data


def test_output_that_is_not_utf_8_spoils_no_other_verb(box: Box) -> None:
    start(box, "job", "sh", "-c", r"printf '\377\376\n'; exec sleep 300")
    box.until_file("job.log", lambda text: text != "")
    assert box("ls").code == box("why", "job").code == 0
    assert box("wait", "job", "--timeout", "0").code == 13


@pytest.mark.parametrize(
    ("count", "expected"), [("0", ""), ("1", "c\n"), ("2", "b\nc\n"), ("3", "a\nb\nc\n"), ("99", "a\nb\nc\n")]
)
def test_n_gives_the_last_lines(box: Box, count: str, expected: str) -> None:
    start(box, "job", "printf", r"a\nb\nc\n")
    assert box("wait", "job").code == 0
    assert box("logs", "job", "-n", count).out == expected


def test_n_counts_an_unfinished_last_line(box: Box) -> None:
    start(box, "job", "printf", r"a\nb\nc")
    assert box("wait", "job").code == 0
    assert box("logs", "job", "-n2").out == "b\nc"


def test_n_of_an_empty_log_is_empty(box: Box) -> None:
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    assert box("logs", "job", "-n", "5").out == ""


@pytest.mark.parametrize("wrong", ["-1", "x", "1.5", ""])
def test_n_takes_a_number_only(box: Box, wrong: str) -> None:
    start(box, "job", "true")
    assert box("logs", "job", "-n", wrong).code == 2


def test_the_last_lines_of_a_gigabyte_come_in_well_under_a_second(box: Box) -> None:
    large_log(box, "job", b"\n" + b"".join(b"line %d\n" % number for number in range(1000)))
    watch = Stopwatch()
    assert box("logs", "job", "-n", "3").out == "line 997\nline 998\nline 999\n"
    assert watch.seconds < allowed(0.8)


def test_a_gigabyte_does_not_slow_the_other_verbs(box: Box) -> None:
    large_log(box, "job", b"\nthe end\n")
    watch = Stopwatch()
    assert box("wait", "job").code == 1
    assert listed(box)["job"]["state"] == "failed"
    assert box("why", "job").code == 0
    assert watch.seconds < allowed(2.0)


def test_a_gigabyte_can_be_piped_into_something_that_stops_reading(box: Box) -> None:
    large_log(box, "job", b"")
    watch = Stopwatch()
    with box.start("logs", "job") as process:
        assert process.stdout is not None
        process.stdout.buffer.read(1000)  # type: ignore[attr-defined]
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert watch.seconds < allowed(5.0)


# Following ----------------------------------------------------------------------------------------------------------


def test_f_shows_what_comes_and_ends_with_the_job(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f'echo first; read -r line < {gate.path}; echo "$line"; read -r line < {gate.path}')
    with box.start("logs", "job", "-f") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first\n"
        gate.say("second")
        assert process.stdout.readline() == "second\n"
        assert silent_for(process, 0.3)
        gate.say()
        assert finish(process, 5).code == 0


def test_f_misses_nothing_of_a_job_that_writes_to_the_last(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "seq 1 50000")
    with box.start("logs", "job", "-f") as process:
        gate.say()
        assert finish(process).out == "".join(f"{number}\n" for number in range(1, 50001))


def test_f_of_a_job_that_has_ended_prints_and_ends(box: Box) -> None:
    start(box, "job", "echo", "hello")
    assert box("wait", "job").code == 0
    assert within(box, 5, "logs", "job", "-f").out == "hello\n"


def test_f_with_n_begins_with_the_last_lines(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f"seq 1 9; read -r line < {gate.path}; echo end")
    box.until_file("job.log", lambda text: "9\n" in text)
    with box.start("logs", "job", "-f", "-n", "2") as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["8\n", "9\n"]
        gate.say()
        assert finish(process).out == "end\n"


def test_f_ends_when_shim_and_work_are_killed(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo hello; exec sleep 300")
    box.until_file("job.log", lambda text: text == "hello\n")
    with box.start("logs", "job", "-f") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "hello\n"
        for pid in box.pids("job"):
            os.kill(pid, 9)
        assert finish(process, 8).code == 0


def test_f_without_events_still_follows(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f'read -r line < {gate.path}; echo "$line"')
    with box.start("logs", "job", "-f", env={"MIDWATCH_EVENTS": "off"}) as process:
        assert silent_for(process, 0.5)
        gate.say("late")
        assert finish(process, 8).out == "late\n"


def test_f_of_hung_work_goes_on_until_the_end(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "echo back", "--stale", "1s", "--grace", "500ms")
    with box.start("logs", "job", "-f") as process:
        assert box("wait", "job").code == 4
        assert silent_for(process, 0.3)
        gate.say()
        assert finish(process, 8).out == "back\n"


# Errors -------------------------------------------------------------------------------------------------------------


def test_a_name_that_is_not_there_is_7(box: Box) -> None:
    done = box("logs", "nobody")
    assert (done.code, done.out) == (7, "")
    assert "there is no job 'nobody'" in done.err


def test_two_names_are_refused(box: Box) -> None:
    assert box("logs", "one", "two").code == 2


def test_a_planted_link_is_refused_with_a_reason(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    (box.cwd / "secret").write_text("secret\n")
    box.path("job.log").symlink_to(box.cwd / "secret")
    box.path("job.status").write_text("SUCCESS\n")
    done = box("logs", "job")
    assert done.code == 12
    assert "symbolic link" in done.err
    assert "secret" not in done.out


def test_a_planted_pipe_does_not_block(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    os.mkfifo(box.path("job.log"))
    box.path("job.status").write_text("SUCCESS\n")
    done = within(box, 5, "logs", "job")
    assert done.code != 0
    assert "Traceback" not in done.err


def test_a_log_that_the_work_removed_is_no_traceback(box: Box) -> None:
    start(box, "job", "sh", "-c", f'rm "{box.dir}/job.log"; exec sleep 300')
    until(lambda: not box.path("job.log").exists(), box.dir)
    done = box("logs", "job")
    assert (done.code, done.err) == (0, "")
