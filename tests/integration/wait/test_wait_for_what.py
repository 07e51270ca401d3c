"""--until, --match, --start, --timeout."""

import os
import signal

import pytest

from tests.conftest import Box, alive
from tests.integration.wait.watching import (
    SOON,
    Gate,
    Stopwatch,
    finish,
    silent_for,
    start,
    start_gated,
    waiter,
    within,
)

# --until ------------------------------------------------------------------------------------------------------------


def test_until_final_waits_on_through_suspension(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 5")
    work = box.pids("job")[1]
    os.kill(work, signal.SIGSTOP)
    assert box("wait", "job").code == 8
    with waiter(box, "job", "--until", "final") as process:
        assert silent_for(process, 0.3)
        os.kill(work, signal.SIGCONT)
        gate.say()
        assert finish(process).json["exit_code"] == 5


def test_until_final_waits_on_through_stuck(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0", *SOON)
    with waiter(box, "job", "--until", "final") as process:
        assert box("wait", "job").code == 4
        gate.say()
        assert finish(process).json["state"] == "completed"


def test_until_a_live_state_returns_when_it_is_reached(box: Box) -> None:
    start(box, "job", "sleep", "300")
    with waiter(box, "job", "--until", "waiting") as process:
        os.kill(box.pids("job")[1], signal.SIGSTOP)
        done = finish(process)
    assert (done.code, done.json["state"]) == (8, "waiting")


def test_until_stuck_passes_over_suspension(box: Box) -> None:
    start(box, "job", "sleep", "300", options=SOON)
    os.kill(box.pids("job")[1], signal.SIGSTOP)
    with waiter(box, "job", "--until", "stuck") as process:
        assert silent_for(process, 0.3)
        os.kill(box.pids("job")[1], signal.SIGCONT)
        assert finish(process).json["state"] == "stuck"


def test_until_working_returns_at_once_with_0_because_what_was_waited_for_came(box: Box) -> None:
    start(box, "job", "sleep", "300")
    done = box("wait", "job", "--until", "working", "--json")
    assert done.json["state"] == "working"
    assert done.code == 0


def test_until_a_state_that_cannot_come_any_more_ends_with_the_verdict(box: Box) -> None:
    start(box, "job", "false")
    assert box("wait", "job", "--until", "stuck").code == 1


# --match ------------------------------------------------------------------------------------------------------------


def test_match_finds_a_line_already_written(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f"echo listening on 8080; read x < {gate.path}")
    box.until_file("job.log", lambda text: "8080" in text)
    done = within(box, 5, "wait", "job", "--match", r"listening on \d+", "--json")
    assert (done.code, done.json["state"]) == (0, "working")
    assert "listening on 8080" in done.json["reason"]


def test_match_finds_a_line_that_comes_later(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", f'echo "$line"; read x < {gate.path}')
    with waiter(box, "job", "--match", "ready") as process:
        assert silent_for(process, 0.2)
        gate.say("now ready")
        done = finish(process)
    assert done.code == 0
    assert "now ready" in done.json["reason"]


def test_match_passes_over_lines_that_do_not_match(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f'while read -r line; do echo "$line"; done < {gate.path}')
    with waiter(box, "job", "--match", "^ready$") as process:
        gate.say("not ready")
        box.until_file("job.log", lambda text: "not ready" in text)
        assert silent_for(process, 0.3)
        gate.say("ready")
        assert finish(process).code == 0


def test_match_finds_a_line_that_is_not_finished(box: Box, gate: Gate) -> None:
    start(box, "job", "sh", "-c", f"printf 'Password: '; read x < {gate.path}")
    assert within(box, 10, "wait", "job", "--match", "Password:").code == 0


def test_match_finds_a_line_in_a_job_that_has_ended_and_says_0(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo found it; exit 3")
    assert box("wait", "job", "--until", "final").code == 1
    assert box("wait", "job", "--match", "found").code == 0


def test_match_that_never_comes_ends_with_the_jobs_own_verdict(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo something else; exit 3")
    done = box("wait", "job", "--match", "ready", "--json")
    assert (done.code, done.json["state"], done.json["exit_code"]) == (1, "failed", 3)
    assert "no line matched" in done.json["reason"]


def test_match_reads_output_that_is_not_utf_8(box: Box) -> None:
    start(box, "job", "sh", "-c", r"printf '\377\376 caf\351 ready\n'; exec sleep 300")
    done = within(box, 10, "wait", "job", "--match", "ready", "--json")
    assert done.code == 0
    assert "ready" in done.json["reason"]


def test_match_waits_for_a_job_that_is_not_there_yet(box: Box) -> None:
    with waiter(box, "job", "--start", "20s", "--match", "ready") as process:
        start(box, "job", "sh", "-c", "echo ready; exec sleep 300")
        assert finish(process).code == 0


def test_match_does_not_follow_a_planted_link_to_someone_elses_file(box: Box) -> None:
    box.dir.mkdir()
    (box.cwd / "secret").write_text("the password is tuna\n")
    box.path("job.log").symlink_to(box.cwd / "secret")
    box.path("job.status").write_text("SUCCESS\n")
    assert "tuna" not in box("wait", "job", "--match", "password").out


def test_match_does_not_block_on_a_planted_pipe(box: Box) -> None:
    box.dir.mkdir()
    os.mkfifo(box.path("job.log"))
    box.path("job.status").write_text("FAILED\n")
    assert within(box, 5, "wait", "job", "--match", "x").code == 1


# --start ------------------------------------------------------------------------------------------------------------


def test_start_waits_for_a_name_that_is_not_there_yet(box: Box) -> None:
    with waiter(box, "job", "--start", "20s") as process:
        assert silent_for(process, 0.2)
        start(box, "job", "sh", "-c", "exit 4")
        assert finish(process).json["exit_code"] == 4


def test_start_waits_for_a_directory_that_is_not_there_yet(box: Box) -> None:
    directory = str(box.cwd / "not" / "yet" / "there")
    with waiter(box, "job", "--start", "20s", "--dir", directory) as process:
        start(box, "job", "true", options=("--dir", directory))
        assert finish(process).json["state"] == "completed"


def test_start_is_about_the_beginning_not_about_the_end(box: Box, gate: Gate) -> None:
    with waiter(box, "job", "--start", "500ms") as process:
        start_gated(box, gate, "job", "exit 4")
        assert silent_for(process, 0.8)
        gate.say()
        assert finish(process).json["exit_code"] == 4


def test_start_on_a_job_that_has_ended_says_how_at_once(box: Box) -> None:
    start(box, "job", "true")
    box.until_file("job.status")
    assert within(box, 5, "wait", "job", "--start", "60s").code == 0


def test_start_that_runs_out_is_not_found(box: Box) -> None:
    watch = Stopwatch()
    done = box("wait", "job", "--start", "500ms", "--json")
    assert (done.code, done.json["state"]) == (7, "not_found")
    assert watch.seconds >= 0.5


def test_start_is_cut_short_by_the_callers_timeout(box: Box) -> None:
    done = within(box, 5, "wait", "job", "--start", "60s", "--timeout", "300ms", "--json")
    assert (done.code, done.json["state"]) == (13, "not_found")


# --timeout ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["0", "0.3", "300ms", "0.3s"])
def test_timeout_takes_seconds_or_units_and_leaves_the_work_alone(box: Box, given: str) -> None:
    start(box, "job", "sleep", "300")
    assert within(box, 5, "wait", "job", "--timeout", given).code == 13
    assert alive(box.pids("job")[1])


def test_timeout_does_not_matter_to_a_job_that_has_ended(box: Box) -> None:
    start(box, "job", "true")
    box.until_file("job.status")
    assert box("wait", "job", "--timeout", "0").code == 0
