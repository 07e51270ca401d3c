"""The functions that programs call, in this very process."""

import json
import math
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

import midwatch
from tests.conftest import Box, kill, until_gone
from tests.integration.wait.watching import Gate, start_gated


def gated(gate: Gate, script: str) -> list[str]:
    return ["sh", "-c", f"read -r line < {gate.path}; {script}"]


# run ----------------------------------------------------------------------------------------------------------------


def test_a_job_is_started_detached_and_its_name_is_in_the_verdict(here: Box, gate: Gate) -> None:
    begun = midwatch.run(gated(gate, "echo done"), name="build")
    assert (begun.name, begun.state, begun.final) == ("build", "working", False)
    gate.say()
    ended = midwatch.wait("build")
    assert (ended.state, ended.final, ended.exit_code) == ("completed", True, 0)
    assert here.path("build.log").read_text() == "done\n"


def test_a_job_without_a_name_gets_one_from_its_command(here: Box) -> None:
    name = midwatch.run(["/bin/true"]).name
    assert re.fullmatch(r"true-[0-9a-f]{4}", name)
    assert midwatch.wait(name).state == "completed"
    assert here.record(name)["command"] == ["/bin/true"]


def test_a_verdict_is_as_good_as_a_name(here: Box) -> None:
    begun = [midwatch.run(["true"]), midwatch.run(["false"])]
    assert midwatch.wait(begun[0]).state == midwatch.status(begun[0]).state == "completed"
    assert [each.state for each in midwatch.wait_all([*begun, begun[0].name])] == ["completed", "failed", "completed"]
    assert midwatch.wait_any(begun[1:]).exit_code == here.record(begun[1].name)["end"]["exit_code"] == 1


def test_one_verdict_is_no_list_of_jobs(here: Box) -> None:
    begun = midwatch.run(["true"], name="job")
    with pytest.raises(midwatch.UsageError, match="by a list"):
        midwatch.wait_all(begun)  # type: ignore[arg-type]
    assert here.record("job")["name"] == "job"


def test_the_work_has_the_directory_and_the_variables_that_it_was_given(here: Box, tmp_path: Path) -> None:
    (tmp_path / "deep down").mkdir()
    midwatch.run(["sh", "-c", 'pwd; echo "$COLOUR"'], name="job", cwd=tmp_path / "deep down", env={"COLOUR": "a=b c"})
    assert midwatch.wait("job").state == "completed"
    assert here.path("job.log").read_text() == f"{tmp_path}/deep down\na=b c\n"
    assert (here.record("job")["env"], here.record("job")["withheld"]) == ({"COLOUR": ""}, ["COLOUR"])


def test_every_setting_reaches_the_record_as_from_the_command_line(here: Box) -> None:
    midwatch.run(
        ["true"], name="api", policy="strict", timeout="15m", stale=90, grace=2.5, on_stuck="report", heartbeat="5s",
        progress=["output", "beat"], retries=2, backoff="4s", breaker="night",
    )  # fmt: skip
    flags = (
        "--policy", "strict", "--timeout", "15m", "--stale", "90", "--grace", "2.5", "--on-stuck", "report",
        "--heartbeat", "5s", "--progress", "output,beat", "--retries", "2", "--backoff", "4s", "--breaker", "night",
    )  # fmt: skip
    assert here("run", "-d", "--name", "cli", *flags, "--", "true").code == 0
    told = [here.record(name) for name in ("api", "cli")]
    for key in ("policy", "retries", "backoff_s", "breaker", "command", "cwd", "env", "foreground"):
        assert told[0][key] == told[1][key], key
    assert told[0].keys() == told[1].keys()


def test_what_is_given_beats_the_environment_and_that_the_settings_file(
    here: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here.cwd / "midwatch.toml").write_text('[policy]\nstale = "7m"\ngrace = "8s"\ntimeout = "9m"\n')
    monkeypatch.setenv("MIDWATCH_GRACE", "18s")
    monkeypatch.setenv("MIDWATCH_TIMEOUT", "19m")
    midwatch.run(["true"], name="job", timeout="29m")
    policy = here.record("job")["policy"]
    assert (policy["stale_s"], policy["grace_s"], policy["timeout_s"]) == (420, 18, 1740)


def test_a_command_that_cannot_be_started_has_failed_and_is_no_exception(here: Box) -> None:
    ended = midwatch.run(["no-such-command"], name="job")
    assert (ended.state, ended.final, ended.exit_code) == ("failed", True, 127)
    assert "could not be started" in ended.reason
    assert here("wait", "job").code == 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": []},
        {"command": "make all"},
        {"command": ["echo", "a\0b"]},
        {"command": ["echo", "\ud800"]},
        {"command": ["echo", 3]},
        {"cwd": "/no/such/directory"},
        {"env": {"": "x"}},
        {"env": {"A=B": "x"}},
        {"env": {"A": "x\0y"}},
        {"env": {"A": 3}},
        {"name": "two words"},
        {"name": "../up"},
        {"policy": "nice"},
        {"timeout": 0},
        {"timeout": -1},
        {"timeout": math.inf},
        {"timeout": math.nan},
        {"timeout": "soon"},
        {"stale": True},
        {"heartbeat": 60, "stale": 60},
        {"on_stuck": "cry"},
        {"progress": ["output", "hope"]},
        {"progress": []},
        {"retries": -1},
        {"retries": 2.5},
        {"breaker": "two words"},
    ],
    ids=str,
)
def test_what_is_wrong_is_said_and_nothing_is_started(here: Box, wrong: dict[str, Any]) -> None:
    with pytest.raises(midwatch.UsageError) as raised:
        midwatch.run(**{"command": ["true"], "name": "job", **wrong})
    assert "--" not in str(raised.value)  # a program gives no flags
    assert not list(here.dir.glob("*.json"))


def test_a_name_that_is_at_work_is_refused(here: Box, gate: Gate) -> None:
    midwatch.run(gated(gate, "true"), name="job")
    with pytest.raises(midwatch.RefusedError, match="job is working already"):
        midwatch.run(["true"], name="job")
    assert here.record("job")["end"] is None


@pytest.mark.usefixtures("here")
def test_a_name_can_be_used_again_as_soon_as_its_end_has_been_told() -> None:
    """Its shim still waits for the disk at that moment."""
    for number in range(12):
        midwatch.run(["sh", "-c", f"exit {number}"], name="job")
        assert midwatch.wait("job").exit_code == number


# wait ---------------------------------------------------------------------------------------------------------------


def test_a_verdict_is_the_line_that_the_command_prints(here: Box) -> None:
    midwatch.run(["sh", "-c", "echo '{\"pages\": [1, 2]}' > $MIDWATCH_DIR/job.result; exit 3"], name="job")
    verdict = midwatch.wait("job")
    assert verdict.result == {"pages": [1, 2]}
    assert midwatch.as_json(verdict) + "\n" == here("wait", "job", "--json").out
    assert json.loads(midwatch.as_json(verdict))["state"] == "failed"
    assert isinstance(verdict, midwatch.Verdict)
    assert verdict == midwatch.status("job")


def test_when_the_callers_time_runs_out_the_live_verdict_comes_back(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    for timeout in (0, 0.05, "50ms"):
        verdict = midwatch.wait("job", timeout=timeout)
        assert (verdict.state, verdict.final) == ("working", False)


@pytest.mark.usefixtures("here")
def test_a_job_that_is_not_there_is_not_found() -> None:
    assert midwatch.wait("nobody").state == midwatch.status("nobody").state == "not_found"
    assert midwatch.wait("nobody", start="50ms").state == "not_found"


def test_a_line_that_is_waited_for_is_in_the_verdict(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "server", 'echo "listening on $line"; read -r line < ' + gate.path)
    gate.say("4711")
    verdict = midwatch.wait("server", match=re.compile(r"listening on \d+"))
    assert (verdict.matched, verdict.final) == (midwatch.ForeignText("listening on 4711"), False)
    assert midwatch.wait("server", match="no such line", timeout=0.05).matched is None
    gate.say()
    ended = midwatch.wait("server", match="no such line")
    assert (ended.matched, ended.state) == (None, "completed")


def test_until_a_state(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    assert midwatch.wait("job", until="working").state == "working"
    gate.say()
    assert midwatch.wait("job", until="final").state == "completed"


def test_several_jobs_come_in_the_order_of_their_names(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "first", "exit 1")
    midwatch.run(["true"], name="second")
    assert midwatch.wait_any(["first", "second"]).name == "second"
    assert [each.state for each in midwatch.wait_all(["first", "second"], timeout=0.1)] == ["working", "completed"]
    assert midwatch.wait_any(["first"], timeout=0).state == "working"
    gate.say()
    found = midwatch.wait_all(iter(["first", "second", "first"]))
    assert [(each.name, each.state) for each in found] == [
        ("first", "failed"), ("second", "completed"), ("first", "failed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [{"timeout": "soon"}, {"until": "lunch"}, {"start": -1}, {"match": "("}, {"name": "two words"}, {"name": ""}],
    ids=str,
)
@pytest.mark.usefixtures("here")
def test_a_wait_that_cannot_be_meant_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(midwatch.UsageError) as raised:
        midwatch.wait(**{"name": "job", **wrong})
    assert "--" not in str(raised.value)


@pytest.mark.parametrize("jobs", [[], "job", ["two words"]], ids=str)
@pytest.mark.usefixtures("here")
def test_names_must_be_a_list_of_names(jobs: Any) -> None:
    with pytest.raises(midwatch.UsageError):
        midwatch.wait_all(jobs)


def test_a_job_whose_processes_are_killed_has_crashed(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    for pid in here.pids("job"):
        kill(pid, signal.SIGKILL)
        until_gone(pid)
    assert midwatch.wait("job").state == midwatch.status("job").state == "crashed"


def test_another_directory_is_named_with_dir(here: Box, tmp_path: Path) -> None:
    midwatch.run(["true"], name="job", dir=tmp_path / "else where")
    assert midwatch.wait("job", dir=str(tmp_path / "else where")).state == "completed"
    assert midwatch.status("job", dir=tmp_path / "else where").log == f"{tmp_path}/else where/job.log"
    assert midwatch.status("job").state == "not_found"
    assert not here.dir.exists()


def test_a_directory_that_others_may_write_to_is_warned_of(here: Box) -> None:
    midwatch.run(["true"], name="job")
    assert midwatch.wait("job").state == "completed"
    here.dir.chmod(0o777)
    with pytest.warns(RuntimeWarning, match="others may write"):
        assert midwatch.status("job").state == "completed"
    with pytest.raises(midwatch.RefusedError):
        midwatch.run(["true"], name="other")


def test_whoever_only_looks_is_not_stopped_by_a_settings_file_that_is_broken(
    here: Box, capfd: pytest.CaptureFixture[str]
) -> None:
    (here.cwd / "midwatch.toml").write_text("[policy\n")
    here.dir.mkdir()
    here.path("step.status").write_text("FAILED\n")
    with pytest.warns(RuntimeWarning, match=r"midwatch\.toml"):
        assert midwatch.wait("step").state == "failed"
    with pytest.raises(midwatch.FormatError):
        midwatch.run(["true"], name="job")
    assert capfd.readouterr() == ("", "")


# beat ---------------------------------------------------------------------------------------------------------------


def test_work_speaks_from_inside_and_leaves_a_result(here: Box) -> None:
    script = "import midwatch; midwatch.beat('epoch 3', progress=0.4, result={'loss': [0.5, None]})"
    midwatch.run([sys.executable, "-c", script], name="train")
    verdict = midwatch.wait("train")
    assert (verdict.state, verdict.result) == ("completed", {"loss": [0.5, None]}), here("logs", "train")
    assert verdict.beat == (midwatch.ForeignText("epoch 3"), 0.4)


def test_a_job_can_be_named_from_outside(here: Box, gate: Gate) -> None:
    start_gated(here, gate, "job", "true")
    midwatch.beat("half", progress=0.5, name="job", dir=here.dir)
    beat = midwatch.status("job").beat
    assert beat is not None
    assert beat.note == midwatch.ForeignText("half")


@pytest.mark.parametrize(
    "wrong",
    [{"progress": 1.5}, {"progress": -0.1}, {"progress": math.nan}, {"result": {1, 2}}, {"result": math.inf}],
    ids=str,
)
def test_a_beat_that_cannot_be_meant_is_refused(here: Box, gate: Gate, wrong: dict[str, Any]) -> None:
    start_gated(here, gate, "job", "true")
    with pytest.raises(midwatch.UsageError):
        midwatch.beat(name="job", dir=here.dir, **wrong)
    assert not here.drop("job.beat").exists()
    assert not here.drop("job.result").exists()


def test_outside_of_a_job_there_is_nobody_to_hear_it(here: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(midwatch.UsageError, match="not inside a job"):
        midwatch.beat("hello")
    with pytest.raises(midwatch.RefusedError, match="there is no job"):
        midwatch.beat("hello", name="nobody", dir=here.dir)
    midwatch.run(["true"], name="job")
    monkeypatch.setenv("MIDWATCH_DIR", str(here.dir))
    monkeypatch.setenv("MIDWATCH_NAME", "job")
    monkeypatch.setenv("MIDWATCH_RUN", "0-of-yesterday")
    with pytest.raises(midwatch.RefusedError, match="older run"):
        midwatch.beat("hello")
