"""Steps of a directory that a shell wrapper writes, adopted: every face says the same of them from then on."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.core.errors import RefusedError
from midwatch.core.policy import PATIENT
from midwatch.jobs import foreign_process
from midwatch.jobs.foreign_process import ForeignProcess
from midwatch.jobs.job_directory import JobDirectory
from midwatch.subjects import adopt as loop
from midwatch.system import procfs
from tests.conftest import Box, Done, alive, kill, letter, until, until_gone
from tests.integration.adopt.elsewhere import stranger, until_ended
from tests.integration.foreign.template import dead_pid, sleeper, wrapped
from tests.integration.wait.watching import (
    LONG_ENOUGH,
    SOON,
    Gate,
    finish,
    listed,
    silent_for,
    start,
    waiter,
    within,
)


@pytest.fixture
def theirs(box: Box) -> Iterator[Path]:
    """The directory of others; ours is another one."""
    found = box.cwd / "theirs"
    found.mkdir(mode=0o700)
    yield found
    kept = {"pid", "heartbeat", "log", "status", "result"}
    assert {path.suffix[1:] for path in found.iterdir()} <= kept, "something else was written there"


def adopt(box: Box, theirs: Path, *arguments: str) -> Done:
    done = box("adopt", "--dir", str(theirs), *arguments)
    assert done.code == 0, done
    return done


def verdicts(box: Box, name: str = "step") -> list[tuple[str, bool]]:
    """What each face says of a job."""
    rows = [box("wait", name, "--timeout", "0", "--json").json, listed(box)[name], box("why", name, "--json").json]
    return [(row["state"], row["final"]) for row in rows]


# Ends ---------------------------------------------------------------------------------------------------------------


def test_success_is_completed_with_its_result_which_is_ours_from_then_on(box: Box, theirs: Path, gate: Gate) -> None:
    with wrapped(box, "step", f"read -r line < {gate.path}", theirs):
        assert adopt(box, theirs).out == "step\n"
        with waiter(box, "step") as process:
            gate.say()
            done = finish(process)
    assert (done.code, done.json["state"], done.json["exit_code"]) == (0, "completed", 0)
    assert done.json["result"] == {"key": "value"}
    assert box.path("step.result").read_text() == (theirs / "step.result").read_text()
    assert box.path("step.status").read_text() == "SUCCESS\n"
    for path in theirs.iterdir():
        path.unlink()
    assert box("wait", "step", "--json").json["result"] == {"key": "value"}


def test_failure_is_failed(box: Box, theirs: Path, gate: Gate) -> None:
    with wrapped(box, "step", f"read -r line < {gate.path}; exit 3", theirs):
        adopt(box, theirs)
        gate.say()
        done = box("wait", "step", "--json")
    assert (done.code, done.json["state"], done.json["reason"]) == (1, "failed", "its status says FAILED")


def test_a_killed_wrapper_is_crashed_although_its_heart_goes_on_beating(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        adopt(box, theirs)
        with waiter(box, "step") as process:
            os.kill(pid, signal.SIGKILL)
            done = finish(process)
    assert (done.code, done.json["state"], done.json["signal"]) == (3, "crashed", 9)
    assert "ended without a status" in done.json["reason"]


def test_a_result_that_comes_after_its_status_is_waited_for(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        adopt(box, theirs)
        with waiter(box, "step") as process:
            (theirs / "step.status").write_text("")
            assert silent_for(process, 0.2)
            (theirs / "step.status").write_text("SUCCESS\n")
            (theirs / "step.result").write_text('{"n": ')
            assert silent_for(process, 0.4)
            (theirs / "step.result").write_text('{"n": 1}\n')
            assert finish(process).json["result"] == {"n": 1}


def test_success_without_a_result_is_told_after_a_while_though_its_process_lives(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        adopt(box, theirs)
        (theirs / "step.status").write_text("SUCCESS\n")
        done = within(box, 10, "wait", "step", "--json")  # less than a beat
        assert (done.code, done.json["result"], alive(pid)) == (0, None, True)


def test_a_wrapper_that_removes_its_pid_file_is_heard_all_the_same(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        adopt(box, theirs)
        (theirs / "step.pid").unlink()
        (theirs / "step.status").write_text("FAILED\n")
        assert box("wait", "step").code == 1


def test_the_status_of_a_later_run_does_not_end_an_earlier_one(box: Box, theirs: Path) -> None:
    with sleeper() as first, sleeper() as second:
        (theirs / "step.pid").write_text(f"{first}\n")
        adopt(box, theirs)
        (theirs / "step.pid").write_text(f"{second}\n")
        (theirs / "step.status").write_text("SUCCESS\n")
        with waiter(box, "step") as process:
            assert silent_for(process, 1.5)
            os.kill(first, signal.SIGKILL)
            assert finish(process).json["state"] == "crashed"


def test_a_status_that_says_neither_is_unknown_once_its_process_has_ended(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        adopt(box, theirs)
        (theirs / "step.status").write_text("MAYBE\n")
        with waiter(box, "step") as process:
            assert silent_for(process, 0.3)
            os.kill(pid, signal.SIGKILL)
            done = finish(process)
    assert (done.code, done.json["state"], done.json["final"]) == (12, "unknown", True)


# Silence ------------------------------------------------------------------------------------------------------------


def test_a_hung_command_under_a_fresh_heartbeat_is_stuck_for_every_face(box: Box, theirs: Path) -> None:
    """The reason for all this: unadopted, only a `wait` that has watched knows it, and `ls` says working."""
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        adopt(box, theirs, *SOON)
        done = within(box, 20, "wait", "step", "--json")
        assert (done.code, done.json["state"]) == (4, "stuck")
        assert {row["state"] for row in (listed(box)["step"], box("why", "step", "--json").json)} == {"stuck"}
        assert alive(pid)


@pytest.mark.parametrize("command", ["sh -c 'while :; do :; done'", "sh -c 'while :; do echo x >&2; sleep 0.3; done'"])
def test_a_command_that_computes_or_writes_is_not_stuck(box: Box, theirs: Path, command: str) -> None:
    with wrapped(box, "step", command, theirs):
        adopt(box, theirs, *SOON)
        assert box("wait", "step", "--timeout", LONG_ENOUGH).code == 13


def test_where_the_work_itself_touches_the_heartbeat_that_counts(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", f"sh -c 'while :; do touch {theirs}/step.heartbeat; sleep 0.3; done'", theirs):
        adopt(box, theirs, *SOON, "--progress", "heartbeat")
        assert box("wait", "step", "--timeout", LONG_ENOUGH).code == 13
    with wrapped(box, "still", "sleep 300", theirs):
        adopt(box, theirs, "still", *SOON, "--progress", "heartbeat")
        assert within(box, 20, "wait", "still").code == 4


def test_a_suspended_wrapper_waits_for_a_person(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        adopt(box, theirs)
        os.kill(pid, signal.SIGSTOP)
        until(lambda: letter(pid) == "T")
        assert box("wait", "step", "--json").json["state"] == "waiting"


def test_its_log_is_where_the_wrapper_writes_it(box: Box, theirs: Path, gate: Gate) -> None:
    command = f"sh -c 'read -r line < {gate.path}; echo \"$line\" >&2; read -r line < {gate.path}'"
    with wrapped(box, "step", command, theirs):
        adopt(box, theirs)
        with waiter(box, "step", "--match", "ready") as process:
            gate.say("ready")
            done = finish(process)
        assert (done.code, done.json["log"]) == (0, str(theirs / "step.log"))
        assert box("logs", "step").out == "ready\n"


@pytest.mark.parametrize("events", ["on", "off"])
def test_an_end_is_heard_where_the_kernel_sends_no_events(box: Box, theirs: Path, events: str) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        assert box("adopt", "--dir", str(theirs), MIDWATCH_EVENTS=events).code == 0
        (theirs / "step.status").write_text("FAILED\n")
        assert box("wait", "step").code == 1


# Without its keeper -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("end", "code"), [("true", 0), ("false", 1), ("kill -KILL $PPID", 3)])
def test_its_own_files_tell_how_it_ended_though_its_keeper_was_killed(
    box: Box, theirs: Path, gate: Gate, end: str, code: int
) -> None:
    with wrapped(box, "step", f"read -r line < {gate.path}; {end}", theirs) as pid:
        adopt(box, theirs)
        keeper = box.pids("step")[0]
        kill(keeper, signal.SIGKILL)
        until_gone(keeper)
        assert "its keeper is gone" in listed(box)["step"]["reason"]
        with waiter(box, "step") as process:
            gate.say()
            done = finish(process)
        until_ended(pid)
    assert done.code == code
    assert verdicts(box) == [(done.json["state"], True)] * 3
    assert done.json["result"] == ({"key": "value"} if code == 0 else None)


# Stopping -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [True, False])
def test_stop_ends_the_wrapper_with_its_tree_and_leaves_a_status_in_both_places(
    box: Box, theirs: Path, kept: bool
) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        until(lambda: len(procfs.descendants(pid)) >= 3)
        tree = [pid, *procfs.descendants(pid)]
        adopt(box, theirs)
        if not kept:
            keeper = box.pids("step")[0]
            kill(keeper, signal.SIGKILL)
            until_gone(keeper)
        done = box("stop", "step", "--json")
        assert (done.code, done.json["state"]) == (0, "stopped")
        assert [each for each in tree if alive(each)] == []
    assert box.path("step.status").read_text() == (theirs / "step.status").read_text() == "FAILED\n"


def test_its_timeout_leaves_it_as_it_is_without_leave_to_stop(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        adopt(box, theirs, "--timeout", "1s")
        assert box("wait", "step").code == 11
        assert alive(pid)
    assert not (theirs / "step.status").exists()


def test_nothing_is_signalled_that_a_directory_names_to_which_others_may_write(box: Box, theirs: Path) -> None:
    theirs.chmod(0o777)
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        refused = box("adopt", "--dir", str(theirs), "--stop")
        assert (refused.code, "adopt it without --stop" in refused.err) == (12, True)
        assert "others may write" in adopt(box, theirs, "--timeout", "600s").err
        done = box("stop", "step")
        assert (done.code, "nothing named there is signalled" in done.err) == (12, True)
        os.kill(box.pids("step")[0], signal.SIGUSR1)
        box.until_file("step.json", lambda text: "nothing named there is signalled" in text)
        assert alive(pid)


def test_a_directory_that_was_opened_to_others_later_is_not_acted_upon(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        adopt(box, theirs, "--timeout", "2s", "--stop")
        theirs.chmod(0o777)
        done = box("wait", "step", "--json")
        assert (done.code, alive(pid)) == (11, True)
        assert "others may write" in done.json["reason"]


# Which --------------------------------------------------------------------------------------------------------------


def test_all_that_are_at_work_are_adopted_and_nothing_else(box: Box, theirs: Path) -> None:
    with wrapped(box, "done", "true", theirs):
        until((theirs / "done.result").exists, theirs)
    (theirs / "dead.pid").write_text(f"{dead_pid()}\n")
    with wrapped(box, "one", "sleep 300", theirs), wrapped(box, "two", "sleep 300", theirs):
        assert adopt(box, theirs).out.split() == ["one", "two"]
        assert {name: row["state"] for name, row in listed(box).items()} == {"one": "working", "two": "working"}


def test_one_step_can_be_named_and_called_otherwise(box: Box, theirs: Path) -> None:
    with wrapped(box, "one", "sleep 300", theirs), wrapped(box, "two", "sleep 300", theirs):
        assert adopt(box, theirs, "two", "--name", "mine", "--json").json["name"] == "mine"
        assert list(listed(box)) == ["mine"]
        assert "two in" in box("why", "mine").out


def test_several_steps_cannot_have_one_name(box: Box, theirs: Path) -> None:
    with wrapped(box, "one", "sleep 300", theirs), wrapped(box, "two", "sleep 300", theirs):
        done = box("adopt", "--dir", str(theirs), "--name", "mine")
        assert (done.code, "--name names one step" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"status": "SUCCESS\n", "pid": "{dead}\n"}, "completed"),
        ({"pid": "{dead}\n"}, "crashed"),
        ({"heartbeat": ""}, "there is no pid file"),
        ({"pid": "nonsense\n"}, "not a number"),
        ({}, "no job of that name"),
    ],
)
def test_a_step_that_is_not_at_work_is_refused_with_what_is_known(
    box: Box, theirs: Path, files: dict[str, str], says: str
) -> None:
    for suffix, text in files.items():
        (theirs / f"step.{suffix}").write_text(text.format(dead=dead_pid()))
    done = box("adopt", "--dir", str(theirs), "step")
    assert (done.code, says in done.err) == (12, True), done
    assert not box.path("step.json").exists()


def test_one_that_is_refused_does_not_keep_the_others(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs):
        done = box("adopt", "--dir", str(theirs), "nobody", "step")
        assert (done.code, done.out) == (12, "step\n")


def test_a_directory_without_work_says_so(box: Box, theirs: Path) -> None:
    done = box("adopt", "--dir", str(theirs))
    assert (done.code, "nothing is at work" in done.err) == (12, True)
    missing = box("adopt", "--dir", str(theirs / "nowhere"))
    assert (missing.code, "cannot read" in missing.err) == (12, True)


def test_a_name_that_is_taken_is_refused_and_says_what_to_do(box: Box, theirs: Path) -> None:
    start(box, "step", "sleep", "300")
    with wrapped(box, "step", "sleep 300", theirs):
        done = box("adopt", "--dir", str(theirs))
        assert (done.code, "choose another --name" in done.err) == (12, True)
        adopt(box, theirs, "--name", "other")
        assert {row["state"] for row in listed(box).values()} == {"working"}


def test_a_job_of_ours_is_not_adopted_from_its_own_directory(box: Box) -> None:
    start(box, "ours", "sleep", "300")
    done = box("adopt", "--dir", str(box.dir), "ours", "--name", "again")
    assert (done.code, "is a job of Midwatch" in done.err) == (12, True)
    everything = box("adopt", "--dir", str(box.dir))
    assert (everything.code, "nothing is at work" in everything.err) == (12, True)


def test_a_step_in_our_own_directory_can_be_adopted_under_another_name(box: Box) -> None:
    with wrapped(box, "step", "sleep 300"):
        assert box("adopt", "--dir", str(box.dir), "step").code == 12
        assert box("adopt", "--dir", str(box.dir), "step", "--name", "mine").code == 0
        assert listed(box)["mine"]["state"] == "working"


def test_a_pid_that_is_anothers_by_now_is_not_adopted(box: Box, theirs: Path) -> None:
    with stranger("sleep 300") as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        os.utime(theirs / "step.pid", (1, 1))
        done = box("adopt", "--dir", str(theirs), "step")
        assert (done.code, "younger process" in done.err) == (12, True)


def test_a_step_that_is_started_again_while_it_is_adopted_is_refused(
    box: Box, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading a pid and holding on to its process, both may have become another's."""
    meet = foreign_process.hold_process
    with sleeper() as first, sleeper() as second:

        def late(pid: int) -> ForeignProcess:
            (theirs / "step.pid").write_text(f"{second}\n")
            return meet(pid)

        (theirs / "step.pid").write_text(f"{first}\n")
        monkeypatch.setattr(foreign_process, "hold_process", late)
        with pytest.raises(RefusedError, match="started again just now"):
            loop.adopt_step(JobDirectory(str(box.dir), PATIENT), str(theirs), "step", None, may_stop=False)
