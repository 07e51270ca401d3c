"""`midwatch retry`: a job once more, as it was."""

from __future__ import annotations

from tests.conftest import Box


def test_a_job_runs_again_with_its_command_directory_variables_and_policy(box: Box) -> None:
    (box.cwd / "elsewhere").mkdir()
    options = ("--cwd", "elsewhere", "--env", "COLOUR=red", "--stale", "5m", "--retries", "2", "--backoff", "7s")
    box("run", "-d", "--name", "job", *options, "--", "sh", "-c", "pwd; echo $COLOUR; test -e ../mended")
    before = box.record("job")
    box("stop", "job")
    (box.cwd / "mended").touch()
    assert box("retry", "job", "--env", "COLOUR=red").out == "job\n"
    assert box("wait", "job").code == 0
    assert box("logs", "job").out == f"{box.cwd}/elsewhere\nred\n"
    after = box.record("job")
    same = ("command", "cwd", "env", "policy", "retries", "backoff_s", "breaker", "name")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    assert (after["again"], after["run"] != before["run"]) == (before["run"], True)


def test_a_job_that_still_runs_is_not_started_twice(box: Box) -> None:
    box("run", "-d", "--name", "job", "--", "sleep", "300")
    done = box("retry", "job")
    assert done.code == 12
    assert "working already" in done.err
    assert "midwatch stop job" in done.err


def test_a_name_that_is_not_here_is_not_found(box: Box) -> None:
    done = box("retry", "nothing", "--json")
    assert (done.code, done.json["state"]) == (7, "not_found")


def test_a_job_whose_directory_is_gone_says_so(box: Box) -> None:
    (box.cwd / "elsewhere").mkdir()
    box("run", "--name", "job", "--cwd", "elsewhere", "--", "true")
    (box.cwd / "elsewhere").rmdir()
    done = box("retry", "job")
    assert done.code == 12
    assert "there is no directory" in done.err


def test_a_foreign_job_cannot_be_run_again(box: Box) -> None:
    box.dir.mkdir()
    box.path("step.status").write_text("FAILED\n")
    done = box("retry", "step")
    assert done.code == 12
    assert "nobody knows what it ran" in done.err


def test_retry_says_in_json_what_it_started(box: Box) -> None:
    box("run", "--name", "job", "--", "false")
    assert box("retry", "job", "--json").json["name"] == "job"
    assert box("wait", "job").code == 1
