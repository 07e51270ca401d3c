"""`run --retries`: tried again by the job's own shim, whether or not anyone waits."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.conftest import Box, alive, kill, until, until_gone
from tests.integration.run.terminals import Open
from tests.integration.wait.disks import fill, over
from tests.integration.wait.watching import Gate, finish, silent_for, start_gated, waiter

NOW = ("--backoff", "0")
LATER = ("--backoff", "1h")


SECOND_TIME = ("sh", "-c", "[ $MIDWATCH_ATTEMPT = 2 ]")
THIRD_TIME = ("sh", "-c", "echo attempt $MIDWATCH_ATTEMPT; [ $MIDWATCH_ATTEMPT = 3 ]")


def until_resting(box: Box, name: str) -> None:
    """Wait until an attempt has failed and the next one is due some time."""
    box.until_file(f"{name}.json", lambda text: '"next_mono": null' not in text)


def events(box: Box, name: str) -> list[str]:
    return [event["event"] for event in box.events(name)]


def test_it_is_tried_again_until_it_succeeds_though_nobody_waits(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "5", *NOW, "--", *THIRD_TIME)
    box.until_file("job.status")
    assert box("wait", "job", "--json").json["reason"].endswith("attempt 3 of 6")
    assert box("logs", "job").out == "attempt 1\nattempt 2\nattempt 3\n"
    record = box.record("job")
    assert [(each["attempt"], each["state"], each["exit_code"]) for each in record["attempts"]] == [
        (1, "failed", 1),
        (2, "failed", 1),
    ]
    assert (record["attempt"], record["end"]["state"]) == (3, "completed")
    assert events(box, "job") == [
        "started", "attempt", "retrying", "started", "attempt", "retrying", "started", "ended"
    ]  # fmt: skip


def test_every_attempt_is_in_why(box: Box) -> None:
    box("run", "--name", "job", "--retries", "2", *NOW, "--", *THIRD_TIME)
    told = box("why", "job").out
    assert "attempt 1     failed: exit 1" in told
    assert "attempt 2     failed: exit 1" in told
    assert "attempt 3 of 3" in told


def test_after_the_last_attempt_its_end_is_the_jobs(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "2", *NOW, "--", "sh", "-c", "kill -9 $$")
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["signal"]) == (3, "crashed", 9)
    assert len(box.record("job")["attempts"]) == 2


@pytest.mark.parametrize(
    ("options", "script", "state"),
    [
        (("--timeout", "0.3s"), "sleep 300", "timeout"),
        (("--stale", "0.3s", "--grace", "0", "--heartbeat", "0.1s", "--on-stuck", "stop"), "sleep 300", "stuck"),
    ],
    ids=["timeout", "stuck"],
)
def test_what_was_ended_by_its_policy_is_tried_again(
    box: Box, options: tuple[str, ...], script: str, state: str
) -> None:
    script = f"[ $MIDWATCH_ATTEMPT = 2 ] || {script}"
    box("run", "-d", "--name", "job", "--retries", "1", *NOW, *options, "--", "sh", "-c", script)
    assert box("wait", "job", "--until", "final").code == 0
    assert [each["state"] for each in box.record("job")["attempts"]] == [state]


def test_every_attempt_has_the_whole_timeout(box: Box) -> None:
    script = "[ $MIDWATCH_ATTEMPT = 1 ] && exec sleep 300; exec sleep 0.6"
    options = ("--retries", "1", *NOW, "--timeout", "1s")
    box("run", "-d", "--name", "job", *options, "--", "sh", "-c", script)
    assert box("wait", "job").code == 0


def test_a_program_that_is_not_there_is_not_tried_again(box: Box) -> None:
    done = box("run", "-d", "--name", "job", "--retries", "3", *LATER, "--", "/no/such/program")
    assert done.code == 127
    box.until_file("job.status")
    assert "not tried again" in box("why", "job").out


def test_while_the_next_attempt_is_waited_for_that_is_what_is_said(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "1", *LATER, "--", "false")
    until_resting(box, "job")
    found = box("why", "job", "--json").json
    assert (found["state"], found["process"], found["final"]) == ("starting", "starting", False)
    assert found["reason"].startswith("attempt 1 failed: exit 1 after")
    assert "attempt 2 of 2 in " in found["reason"]
    assert box("wait", "job", "--timeout", "0.1s").code == 13


def test_stopped_between_two_attempts_it_stays_stopped(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "1", *LATER, "--", "false")
    until_resting(box, "job")
    assert box("stop", "job", "--json").json["state"] == "stopped"
    assert box("wait", "job").code == 10
    assert len(box.record("job")["attempts"]) == 1
    assert "started" not in events(box, "job")[1:]


def test_stopped_while_it_runs_it_is_not_tried_again(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "5", *NOW, "--", "sleep", "300")
    assert box("stop", "job", "--json").json["state"] == "stopped"
    assert box.record("job")["attempts"] == []


def test_what_an_attempt_left_running_is_ended_before_the_next(box: Box) -> None:
    script = "[ $MIDWATCH_ATTEMPT = 2 ] && exit 0; sleep 300 & echo $! > left; exit 1"
    box("run", "-d", "--name", "job", "--retries", "1", *NOW, "--", "sh", "-c", script)
    assert box("wait", "job").code == 0
    assert not alive(int((box.cwd / "left").read_text()))
    assert len(box.record("job")["attempts"][0]["left"]) == 1
    assert box.record("job")["end"]["left"] == []


def test_what_a_failed_attempt_said_does_not_speak_for_the_next(box: Box) -> None:
    beat = f"{' '.join(box.program)} beat --note early --progress 0.9 --result out.json"
    (box.cwd / "out.json").write_text('{"of": "the first"}')
    script = f"[ $MIDWATCH_ATTEMPT = 2 ] && exit 0; {beat}; exit 1"
    box("run", "-d", "--name", "job", "--retries", "1", *NOW, "--", "sh", "-c", script)
    done = box("wait", "job", "--json")
    assert (done.json["state"], done.json["result"]) == ("completed", None)
    assert "early" not in box("why", "job").out


def test_a_shim_killed_between_two_attempts_leaves_the_truth_about_the_last(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "1", *LATER, "--", "sh", "-c", "exit 7")
    until_resting(box, "job")
    shim, _ = box.pids("job")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["exit_code"]) == (1, "failed", 7)
    assert "its shim is gone, so it is not tried again" in done.json["reason"]


def test_a_judge_that_gives_no_answer_is_asked_again(box: Box) -> None:
    broken = box.cwd / "sitecustomize.py"
    broken.write_text("import os, sys\nif '_decide' in sys.orig_argv: os.kill(os.getpid(), 9)\n")
    options = ("--retries", "1", *NOW)
    assert box("run", "-d", "--name", "job", *options, "--", *SECOND_TIME, PYTHONPATH=str(box.cwd)).code == 0
    box.until_file("job.json", lambda text: "the judge gave no answer; it is asked again" in text)
    found = box("why", "job", "--json").json
    assert (found["state"], found["final"]) == ("starting", False)
    broken.unlink()
    assert box("wait", "job").code == 0
    assert [each["state"] for each in box.record("job")["attempts"]] == ["failed"]


def test_a_job_whose_judge_never_answers_can_be_stopped(box: Box) -> None:
    (box.cwd / "sitecustomize.py").write_text("import os, sys\nif '_decide' in sys.orig_argv: os._exit(1)\n")
    options = ("--retries", "1", *NOW)
    assert box("run", "-d", "--name", "job", *options, "--", "false", PYTHONPATH=str(box.cwd)).code == 0
    box.until_file("job.json", lambda text: "the judge gave no answer" in text)
    assert box("stop", "job", "--json").json["state"] == "stopped"


def test_retries_are_not_lost_when_the_disk_is_full_as_an_attempt_ends(small: Box, gate: Gate) -> None:
    start_gated(small, gate, "job", SECOND_TIME[-1], "--retries", "1", *NOW)
    work = small.pids("job")[1]
    fill(small)
    with waiter(small, "job") as process:
        gate.say()
        until(lambda: not alive(work))
        assert silent_for(process, 1.5)
        small.path("filler").unlink()
        small.until_file("job.json", lambda text: '"attempt": 2' in text)
        gate.say()
        assert finish(process).code == 0
    assert events(small, "job") == ["started", "attempt", "retrying", "started", "ended"]


def test_retries_are_not_lost_when_the_directory_is_read_only_as_an_attempt_ends(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", SECOND_TIME[-1], "--retries", "1", *NOW)
    over(box.dir, "--bind", str(box.dir))
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", str(box.dir)], check=True)
        gate.say()
        box.until_file("job.json", lambda text: '"attempt": 2' in text)
    finally:
        subprocess.run(["umount", "--lazy", str(box.dir)], check=True)
    gate.say()
    assert box("wait", "job").code == 0


def test_in_the_foreground_all_attempts_stream_and_the_last_ones_code_counts(box: Box) -> None:
    script = "echo out $MIDWATCH_ATTEMPT; echo err $MIDWATCH_ATTEMPT >&2; exit $((4 - MIDWATCH_ATTEMPT))"
    done = box("run", "--name", "job", "--retries", "1", *NOW, "--", "sh", "-c", script)
    assert (done.code, done.out) == (2, "out 1\nout 2\n")
    assert "err 1\nmidwatch: attempt 1 failed: exit 3 after" in done.err
    assert done.err.endswith("err 2\n")


def test_on_a_terminal_ctrl_c_between_two_attempts_ends_it(box: Box, terminal: Open) -> None:
    screen = terminal("--retries", "1", *LATER, "--", "false")
    screen.see("attempt 2 of 2 in ")
    screen.type(b"\x03")
    assert screen.ended() == 130
    assert box("wait", "job").code == 10


def test_on_a_terminal_the_next_attempt_has_it_too(terminal: Open) -> None:
    script = "tty > /dev/null && [ $MIDWATCH_ATTEMPT = 2 ] && { read line; echo got $line; }"
    screen = terminal("--retries", "1", *NOW, "--", "sh", "-c", script)
    screen.see("attempt 2 of 2 in ")
    screen.type(b"hello\n")
    screen.see("got hello")
    assert screen.ended() == 0


@pytest.mark.parametrize("given", ["-1", "x", "1.5", "100000", ""])
def test_a_number_of_retries_that_is_none_is_refused(box: Box, given: str) -> None:
    done = box("run", f"--retries={given}", "--", "true")
    assert done.code == 2
    assert "--retries is a number from 0 to 1000" in done.err


def test_a_suspended_attempt_can_still_fail_and_be_tried_again(box: Box) -> None:
    box("run", "-d", "--name", "job", "--retries", "1", *LATER, "--", "sleep", "300")
    _, work = box.pids("job")
    kill(work, signal.SIGSTOP)
    until(lambda: box("why", "job", "--json").json["state"] == "waiting", box.dir)
    kill(work, signal.SIGKILL)
    until_resting(box, "job")
    assert box.record("job")["attempts"][0]["signal"] == signal.SIGKILL
