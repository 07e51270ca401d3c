"""The keeper of adopted work may be killed, suspended or sent away at any moment: the work goes on, no face lies."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import midwatch
from midwatch.core.errors import RefusedError
from midwatch.core.policy import PATIENT
from midwatch.jobs.job_directory import JobDirectory
from midwatch.subjects import adopt as adopting
from midwatch.system import procfs
from tests.conftest import Box, alive, letter, until, until_gone
from tests.integration.adopt.elsewhere import adopt, below, moments, stranger, switches, until_ended
from tests.integration.wait.disks import fill
from tests.integration.wait.watching import SOON, Gate, finish, forge, listed, silent_for, states, waiter, within

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # a launched keeper execs at once

UNSEEN = "ended while nobody kept watch"


def kill_keeper(box: Box) -> None:
    keeper = box.pids("job")[0]
    os.kill(keeper, signal.SIGKILL)
    until_gone(keeper)


def test_work_whose_keeper_was_killed_goes_on_unsupervised(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        kill_keeper(box)
        row = listed(box)["job"]
        assert (row["state"], row["final"], alive(pid)) == ("working", False, True)
        assert "its keeper is gone" in row["reason"]


@pytest.mark.parametrize("end", ["exit 0", "exit 3", "kill -KILL $$"])
def test_an_end_that_nobody_saw_is_unknown_for_good(box: Box, gate: Gate, end: str) -> None:
    with stranger(f"read -r line < {gate.path}; {end}") as pid:
        adopt(box, pid)
        kill_keeper(box)
        gate.say()
        until_ended(pid)
        done = box("wait", "job", "--json")
    assert (done.code, done.json["state"], done.json["final"]) == (12, "unknown", True)
    assert UNSEEN in done.json["reason"]
    assert listed(box)["job"]["state"] == "unknown"
    assert UNSEEN in box("why", "job").out


def test_whoever_waits_while_keeper_and_work_end_is_told_that_nobody_knows(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}; exit 0") as pid:
        adopt(box, pid)
        with waiter(box, "job") as process:
            kill_keeper(box)
            assert silent_for(process, 0.3)
            gate.say()
            assert finish(process).json["state"] == "unknown"


def test_whoever_waits_keeps_the_time_when_the_keeper_is_gone(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, *SOON)
        kill_keeper(box)
        done = within(box, 20, "wait", "job", "--json")
        assert (done.code, done.json["state"], done.json["final"]) == (4, "stuck", False)
        assert listed(box)["job"]["state"] == "stuck"
        assert alive(pid)


CUT = (
    "import os, itertools; renamed = itertools.count(1); rename = os.rename; "
    "os.rename = lambda *paths: os.kill(os.getpid(), 9) if next(renamed) == {step} else rename(*paths); "
)
"""A keeper that is killed before it puts its n-th file into place: record, pid, seen; at the end record and status."""
NOWHERE, NOBODY_KNOWS, SAID = ("not_found", None), ("unknown", None), ("failed", 3)


@pytest.mark.parametrize(
    ("step", "starts", "found"),
    [
        (1, False, NOWHERE),
        (2, False, NOBODY_KNOWS),
        (3, False, NOBODY_KNOWS),
        (4, True, NOBODY_KNOWS),
        (5, True, SAID),
        (6, True, SAID),
    ],
)
def test_a_keeper_that_is_killed_between_two_writes_leaves_no_wrong_word(
    box: Box, gate: Gate, monkeypatch: pytest.MonkeyPatch, step: int, starts: bool, found: tuple[str, int | None]
) -> None:
    cut = procfs.KEEPER[3].replace("from", CUT.format(step=step) + "from", 1)
    monkeypatch.setattr(procfs, "KEEPER", [*procfs.KEEPER[:3], cut])
    with stranger(f"read -r line < {gate.path}; exit 3", "forgets") as pid:
        with contextlib.nullcontext() if starts else pytest.raises(RefusedError, match="did not start"):
            adopting.adopt_process(JobDirectory(str(box.dir), PATIENT), pid, "job", may_stop=False)
        assert alive(pid)
        gate.say()
        until_ended(pid)
        if starts:
            until_gone(box.pids("job")[0])
        done = box("wait", "job", "--json")
    assert (done.json["state"], done.json["exit_code"]) == found
    assert listed(box).get("job", done.json)["state"] == found[0]


def test_what_nobody_kept_can_be_stopped_and_its_name_used_again(box: Box) -> None:
    with stranger("sleep 300") as pid:
        child = below(pid, "sleep")[0]
        adopt(box, pid)
        kill_keeper(box)
        assert box("stop", "job", "--json").json["state"] == "stopped"
        assert [alive(each) for each in (pid, child)] == [False, False]
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        assert listed(box)["job"]["state"] == "working"


def test_what_is_kept_by_nobody_can_be_adopted_under_another_name(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        kill_keeper(box)
        refused = box("adopt", "--pid", str(pid), "--name", "job")
        assert refused.code == 12
        assert "choose another --name" in refused.err
        adopt(box, pid, name="other")
        assert listed(box)["other"]["state"] == "working"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT])
def test_a_keeper_that_is_sent_away_leaves_the_work_alone_and_says_so(box: Box, number: signal.Signals) -> None:
    """The end of a session and guards of memory send TERM to whatever they find."""
    with stranger("sleep 300") as pid:
        adopt(box, pid, "--stop")
        keeper = box.pids("job")[0]
        os.kill(keeper, number)
        until_gone(keeper)
        assert alive(pid)
        assert listed(box)["job"]["state"] == "working"
        assert f"its keeper was told to go ({number.name})" in box("why", "job").out


def test_an_end_that_comes_with_the_signal_to_go_is_not_lost(box: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}; exit 3", "forgets") as pid:
        adopt(box, pid)
        keeper = box.pids("job")[0]
        os.kill(keeper, signal.SIGSTOP)
        until(lambda: letter(keeper) == "T")
        gate.say()
        until_ended(pid)
        os.kill(keeper, signal.SIGTERM)
        os.kill(keeper, signal.SIGCONT)
        assert box("wait", "job", "--json").json["exit_code"] == 3


def test_a_suspended_keeper_is_said_to_keep_no_deadline_and_counts_no_lost_time(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, "--heartbeat", "0.3s")
        keeper = box.pids("job")[0]
        os.kill(keeper, signal.SIGSTOP)
        until(lambda: letter(keeper) == "T")
        before, was = moments(box), lost(box)
        assert "its keeper is suspended" in listed(box)["job"]["reason"]
        assert box("wait", "job", "--timeout", "4s").code == 13
        os.kill(keeper, signal.SIGCONT)
        until(lambda: lost(box) > was + 2.0, box.dir / "spool")
        gap = lost(box) - was
        assert all(after == pytest.approx(before[name] + gap, abs=0.1) for name, after in moments(box).items())


def lost(box: Box) -> float:
    return float(sum(event["seconds"] for event in box.events("job") if event["event"] == "lost"))


def test_a_suspended_keeper_can_be_asked_to_stop_the_work(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid)
        keeper = box.pids("job")[0]
        os.kill(keeper, signal.SIGSTOP)
        until(lambda: letter(keeper) == "T")
        assert box("stop", "job", "--json").json["state"] == "stopped"
        assert not alive(pid)


def test_a_recycled_pid_is_neither_watched_nor_signalled(box: Box) -> None:
    with stranger("sleep 300") as first, stranger("sleep 300") as second:
        adopt(box, first)
        kill_keeper(box)
        forge(box, "job", work={"pid": second, "start": procfs.start_time(second) + 1})
        done = box("stop", "job", "--json")
        assert (done.code, done.json["state"]) == (0, "unknown")
        assert "now belongs to another process" in done.json["reason"]
        assert alive(second)


def test_of_two_that_adopt_at_once_one_wins(box: Box) -> None:
    with stranger("sleep 300") as pid:
        calls = [box.start("adopt", "--pid", str(pid)) for _ in range(3)]
        done = [finish(call) for call in calls]
        assert sorted(each.code for each in done) == [0, 12, 12]
        assert all(f"sh-{pid} is" in each.err for each in done if each.code)
        assert [row["state"] for row in listed(box).values()] == ["working"]
        assert box.pids(f"sh-{pid}")[1] == pid


def test_a_keeper_is_in_no_ones_way(box: Box) -> None:
    """It holds on to no terminal, no directory, no stream of its caller, and no job's mark. It lives with its files."""
    with stranger("sleep 300") as pid:
        adopt(box, pid, MIDWATCH_RUN="outer", MIDWATCH_NAME="outer")
        keeper = box.pids("job")[0]
        fields = procfs.stat_fields(keeper)
        assert (int(fields[3]), int(fields[4])) == (keeper, 0)
        assert os.readlink(f"/proc/{keeper}/cwd") == str(box.dir)
        assert os.readlink(f"/proc/{keeper}/fd/0") == os.devnull
        assert "MIDWATCH_RUN" not in Path(f"/proc/{keeper}/environ").read_text()
        assert procfs.is_shim(keeper)


def test_a_keeper_that_was_started_within_a_job_outlives_it(box: Box) -> None:
    with stranger("sleep 300") as pid:
        call = f"{' '.join(box.program)} adopt --pid {pid} --name inner"
        assert box("run", "--name", "outer", "--", "sh", "-c", f"{call}; true").code == 0
        done = box("wait", "outer", "--json")
        assert (done.json["state"], "left" in done.json["reason"]) == ("completed", False)
        assert listed(box)["inner"]["state"] == "working"


def test_an_upgrade_cannot_break_a_keeper(box: Box, gate: Gate) -> None:
    """All that it needs was imported when it started: here the whole program goes away under it."""
    package = box.cwd / "installed" / "midwatch"
    shutil.copytree(Path(midwatch.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    env = box.env | {"PYTHONPATH": str(package.parent)}
    with stranger(f"read -r line < {gate.path}; exit 3") as pid:
        command = [sys.executable, "-m", "midwatch", "adopt", "--pid", str(pid), "--name", "job", *SOON]
        subprocess.run(command, env=env, cwd=box.cwd, check=True, capture_output=True)
        assert f"{package.parent}" in Path(f"/proc/{box.pids('job')[0]}/cmdline").read_text()
        shutil.rmtree(package)
        box.until_file("job.json", lambda _: "stuck" in states(box, "job"))
        with waiter(box, "job", "--until", "final") as process:
            gate.say()
            assert finish(process).json["exit_code"] == 3
    assert box.path("spool/shim.err").read_text() == ""


def test_a_keeper_whose_files_were_removed_leaves(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, "--stale", "1s", "--heartbeat", "0.2s")
        keeper = box.pids("job")[0]
        for suffix in ("json", "pid", "heartbeat", "seen", "status"):
            box.path(f"job.{suffix}").unlink(missing_ok=True)
        until_gone(keeper)
        assert alive(pid)


def test_a_record_that_was_spoiled_costs_the_keeper_nothing_and_is_written_again_at_the_end(
    box: Box, gate: Gate
) -> None:
    with stranger(f"read -r line < {gate.path}; exit 3", "forgets") as pid:
        adopt(box, pid, "--stale", "1s", "--heartbeat", "0.4s")
        keeper = box.pids("job")[0]
        box.path("job.json").write_text("{")
        until(lambda: age(box, "heartbeat") > 0.2 and procfs.stat_fields(keeper)[0] == "S")
        before = switches(keeper)
        assert box("wait", "job", "--until", "final", "--timeout", "3s").code in (12, 13)
        assert switches(keeper) - before < 100
        gate.say()
        until_ended(pid)
        until_gone(keeper)
        assert box("wait", "job", "--json").json["exit_code"] == 3


def age(box: Box, suffix: str) -> float:
    return time.time() - box.path(f"job.{suffix}").stat().st_mtime


def test_a_keeper_whose_directory_was_removed_leaves(box: Box) -> None:
    with stranger("sleep 300") as pid:
        adopt(box, pid, "--stale", "1s", "--heartbeat", "0.2s")
        keeper = box.pids("job")[0]
        shutil.rmtree(box.dir)
        until_gone(keeper)
        assert alive(pid)


def test_a_disk_that_is_full_at_the_end_is_waited_for(small: Box, gate: Gate) -> None:
    with stranger(f"read -r line < {gate.path}; exit 3", "forgets") as pid:
        adopt(small, pid)
        fill(small)
        gate.say()
        until_ended(pid)
        said = listed(small)["job"]
        assert (said["state"], "its keeper is about to say how" in said["reason"]) == ("working", True)
        small.path("filler").unlink()
        assert small("wait", "job", "--json").json["exit_code"] == 3


def test_a_disk_that_is_full_at_the_start_is_refused_and_nothing_stays(small: Box) -> None:
    with stranger("sleep 300") as pid:
        fill(small)
        done = small("adopt", "--pid", str(pid), "--name", "job")
        assert (done.code, "No space left" in done.err) == (12, True)
        small.path("filler").unlink()
        assert listed(small) == {}
        adopt(small, pid)
        assert listed(small)["job"]["state"] == "working"


def test_a_directory_that_cannot_be_written_is_refused_and_nothing_stays(box: Box) -> None:
    box.cwd.joinpath("jobs").write_text("not a directory")
    with stranger("sleep 300") as pid:
        done = box("adopt", "--pid", str(pid))
        assert (done.code, alive(pid)) == (12, True)
        assert "cannot write to" in done.err
