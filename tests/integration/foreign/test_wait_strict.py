"""`wait --dir D --policy strict`: the decision tree of the sentinel protocol, carried out on a directory of others."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from midwatch.core.exit_codes import EXIT_CODES
from midwatch.jobs import foreign_step_store
from midwatch.system import procfs
from tests.conftest import Box, alive, letter, until, until_gone
from tests.integration.foreign.template import sleeper, wrapped
from tests.integration.wait.disks import mounted
from tests.integration.wait.watching import SOON, SOON_BY_ENV, finish, listed, silent_for, waiter, within


@pytest.fixture
def theirs(box: Box) -> Iterator[Path]:
    found = box.cwd / "theirs"
    found.mkdir(mode=0o700)
    yield found
    assert {path.suffix for path in found.iterdir()} <= {".pid", ".heartbeat", ".log", ".status", ".result"}


@pytest.fixture
def full(box: Box) -> Iterator[Path]:
    """A directory of others on a disk of its own, which a test fills."""
    found = box.cwd / "full"
    mounted(found, "size=64k,mode=700")
    yield found
    subprocess.run(["umount", "--lazy", str(found)], check=True)


def fill(directory: Path) -> None:
    with contextlib.suppress(OSError), (directory / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(b"x" * 4096)


def strictly(theirs: Path, *more: str) -> tuple[str, ...]:
    return ("step", "--dir", str(theirs), "--policy", "strict", *more)


def tree(pid: int) -> list[int]:
    """A wrapper, its toucher and its command, once all are there."""
    until(lambda: len(procfs.descendants(pid)) >= 3)
    return [pid, *procfs.descendants(pid)]


def test_a_hung_step_is_ended_with_everything_below_it_and_is_stuck_for_every_face(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        whole = tree(pid)
        done = within(box, 20, "wait", *strictly(theirs, *SOON), "--json")
        assert [each for each in whole if alive(each)] == []
    assert (done.code, done.json["state"], done.json["final"], done.json["cause"]) == (4, "stuck", True, "no-progress")
    assert (theirs / "step.status").read_text() == "FAILED\n"
    for again in (listed(box, "--dir", str(theirs))["step"], box("wait", "step", "--dir", str(theirs), "--json").json):
        assert (again["state"], again["final"], again["reason"]) == ("stuck", True, done.json["reason"])


def test_a_step_that_takes_too_long_since_its_start_is_ended_as_timeout(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sh -c 'while :; do :; done'", theirs) as pid:
        whole = tree(pid)
        done = within(box, 20, "wait", *strictly(theirs, "--work-timeout", "1s"), "--json")
        assert [each for each in whole if alive(each)] == []
    assert (done.code, done.json["state"], done.json["final"], done.json["cause"]) == (5, "timeout", True, "timeout")
    assert (theirs / "step.status").read_text() == "FAILED\n"


@pytest.mark.parametrize(
    ("how", "state"), [((*SOON,), "stuck"), (("--work-timeout", "1s"), "timeout")], ids=["stuck", "timeout"]
)
def test_a_step_that_was_ended_on_a_full_disk_has_one_verdict(
    box: Box, full: Path, how: tuple[str, ...], state: str
) -> None:
    with wrapped(box, "step", "sleep 300", full) as pid:
        whole = tree(pid)
        fill(full)
        done = within(box, 20, "wait", *strictly(full, *how), "--json")
        assert [each for each in whole if alive(each)] == []
    assert (done.json["state"], done.json["final"]) == (state, True)
    assert "FAILED could not be written: No space left on device" in done.json["reason"]
    assert listed(box, "--dir", str(full))["step"]["state"] == state


def test_the_time_before_the_wait_counts(box: Box, theirs: Path) -> None:
    """Reckoned from the start of the process, which is long ago: no wait is needed."""
    with wrapped(box, "step", "sh -c 'while :; do :; done'", theirs) as pid:
        until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) - procfs.start_time(pid) / procfs.TICKS > 1.0)
        with waiter(box, *strictly(theirs, "--work-timeout", "1s", "--timeout", "0.5s")) as process:
            assert finish(process).json["state"] == "timeout"


def test_where_the_heartbeat_counts_a_stale_one_ends_a_step_that_computes(box: Box, theirs: Path) -> None:
    """The printed tree to the letter: nothing but the heartbeat tells that it lives."""
    with wrapped(box, "step", "sh -c 'while :; do :; done'", theirs) as pid:
        done = within(box, 20, "wait", *strictly(theirs, *SOON, "--progress", "heartbeat"))
        assert (done.code, alive(pid)) == (4, False)


@pytest.mark.parametrize("exported", ["MIDWATCH_POLICY=strict", "MIDWATCH_ON_STUCK=stop", "MIDWATCH_TIMEOUT=1s"])
def test_no_variable_makes_a_wait_end_anything(box: Box, theirs: Path, exported: str) -> None:
    key, _, value = exported.partition("=")
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        done = within(box, 20, "wait", "step", "--dir", str(theirs), "--json", **SOON_BY_ENV, **{key: value})
        assert (done.code, done.json["final"], alive(pid)) == (4, False, True)
    assert not (theirs / "step.status").exists()


def test_of_two_waits_one_acts_and_both_say_the_same(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        whole = tree(pid)
        with waiter(box, *strictly(theirs, *SOON)) as one, waiter(box, *strictly(theirs, *SOON)) as two:
            found = [finish(each, 20) for each in (one, two)]
        assert [each for each in whole if alive(each)] == []
    assert {(each.code, each.json["state"], each.json["final"]) for each in found} == {(4, "stuck", True)}
    assert len({each.json["reason"] for each in found}) == 1


def test_a_wait_that_does_not_hold_the_lease_acts_only_when_its_holder_is_gone(
    box: Box, theirs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", box.env["HOME"])
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    lease = foreign_step_store.step_lease(f"{theirs}/step")
    assert lease.take()
    with wrapped(box, "step", "sleep 300", theirs) as pid, waiter(box, *strictly(theirs, *SOON)) as process:
        assert silent_for(process, 3.0)
        assert alive(pid)
        lease.close()
        done = finish(process, 10)
        assert (done.code, done.json["final"], alive(pid)) == (4, True, False)


def test_a_patient_wait_beside_it_is_told_why_it_ended(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs), waiter(box, "step", "--dir", str(theirs)) as patient:
        within(box, 20, "wait", *strictly(theirs, *SOON))
        assert (finish(patient).json["state"], patient.returncode) == ("stuck", 4)


def test_nothing_is_signalled_from_a_directory_that_others_may_write(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        theirs.chmod(0o777)
        done = within(box, 5, "wait", *strictly(theirs, *SOON))
        assert (done.code, "nothing named there is signalled" in done.err, alive(pid)) == (12, True, True)
        theirs.chmod(0o700)
        with waiter(box, *strictly(theirs, *SOON)) as process:
            theirs.chmod(0o777)
            late = finish(process, 20)
        assert (late.code, late.json["final"], alive(pid)) == (4, False, True)
        assert "nothing named there is signalled" in late.json["reason"]


def test_a_suspended_step_is_left_to_its_person(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs) as pid:
        os.kill(pid, signal.SIGSTOP)
        until(lambda: letter(pid) == "T")
        done = within(box, 5, "wait", *strictly(theirs, "--work-timeout", "0.1s"))
        assert (done.code, alive(pid)) == (8, True)


def test_a_pid_that_another_process_has_by_now_is_not_signalled(box: Box, theirs: Path) -> None:
    with sleeper() as pid:
        (theirs / "step.pid").write_text(f"{pid}\n")
        os.utime(theirs / "step.pid", (time.time() - 3600, time.time() - 3600))
        done = within(box, 5, "wait", *strictly(theirs, "--work-timeout", "0.1s"))
        assert (done.code, alive(pid)) == (3, True)


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("wait step --policy strict --work-timeout 0.1s --dir", EXIT_CODES["abandoned"]),
        ("stop step --dir", EXIT_CODES["unknown"]),
    ],
    ids=["wait", "stop"],
)
def test_the_shell_that_calls_is_not_ended(box: Box, theirs: Path, call: str, code: int) -> None:
    """A wrapper that is pasted into a subshell notes `$$`, the pid of the shell around it."""
    script = f'(echo $$ > "$1/step.pid"); shift; "$@" {call} "$0"; echo "told $?"'
    box.program = ["bash", "-c", script, str(theirs), str(theirs), *box.program]
    done = box()
    assert done.out.endswith(f"told {code}\n"), done
    assert "which this very call runs in" in done.out + done.err
    assert not (theirs / "step.status").exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [(("--policy", "strict"), "add --dir"), (("--dir", ".", "--work-timeout", "1s"), "add --policy strict")],
)
def test_what_would_end_work_must_be_said_in_full(box: Box, arguments: tuple[str, ...], says: str) -> None:
    done = box("wait", "step", *arguments)
    assert (done.code, says in done.err) == (2, True), done


# Stopping -----------------------------------------------------------------------------------------------------------


def test_a_step_that_was_stopped_is_stopped_for_who_stops_it_and_for_who_waits(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs), waiter(box, "step", "--dir", str(theirs)) as process:
        assert silent_for(process, 0.1)
        done = box("stop", "step", "--dir", str(theirs), "--json")
        waited = finish(process)
    assert (done.code, done.json["state"], done.json["cause"]) == (0, "stopped", "stop-asked")
    assert (waited.code, waited.json["state"]) == (10, "stopped")
    assert listed(box, "--dir", str(theirs))["step"]["state"] == "stopped"
    assert (theirs / "step.status").read_text() == "FAILED\n"


def test_what_a_stop_left_says_nothing_of_the_next_run(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs):
        assert box("stop", "step", "--dir", str(theirs)).code == 0
    with wrapped(box, "step", "false", theirs) as pid:
        until_gone(pid)
        assert box("wait", "step", "--dir", str(theirs), "--json").json["state"] == "failed"


def test_an_adopted_step_that_was_stopped_is_stopped_in_its_own_directory_too(box: Box, theirs: Path) -> None:
    with wrapped(box, "step", "sleep 300", theirs):
        assert box("adopt", "--dir", str(theirs)).code == 0
        assert box("stop", "step").code == 0
        assert box("wait", "step", "--dir", str(theirs), "--json").json["state"] == "stopped"
