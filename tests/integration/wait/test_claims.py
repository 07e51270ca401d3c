"""A name belongs to one run at a time, and what an old run left never speaks for a new one."""

import os
import stat

import pytest

from tests.conftest import Box
from tests.integration.wait.watching import Gate, finish, listed, planted_pipe, start, start_gated, within

SENTINELS = ("json", "pid", "heartbeat", "log", "result", "status", "seen", "beat", "lock")


def mode(path: os.PathLike[str]) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


# One run at a time --------------------------------------------------------------------------------------------------


def test_of_twenty_runs_of_one_name_exactly_one_wins(box: Box, gate: Gate) -> None:
    (box.cwd / "sitecustomize.py").write_text(f"open({gate.path!r}, 'rb', buffering=0).read(1)\n")
    env = {"PYTHONPATH": str(box.cwd)}
    racers = [box.start("run", "-d", "--name", "job", "--", "sleep", "300", env=env) for _ in range(20)]
    gate.say("x" * 20)  # each takes one byte, and all run at once
    done = [finish(racer) for racer in racers]
    assert sorted(one.code for one in done) == [0] + [125] * 19
    losers = [one for one in done if one.code]
    assert all(one.err.startswith("midwatch: job is ") and one.out == "" for one in losers)
    assert [one.err for one in losers if "not_found" in one.err] == []


def test_a_run_that_loses_the_race_leaves_the_winner_alone(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "echo done")
    before = box.record("job")
    refused = box("run", "-d", "--name", "job", "--", "false")
    assert refused.code == 125
    assert "job is working already" in refused.err
    assert "midwatch stop job" in refused.err
    gate.say()
    assert box("wait", "job").code == 0
    assert box.record("job")["run"] == before["run"]


def test_a_name_whose_work_goes_on_without_its_shim_cannot_be_taken(box: Box) -> None:
    start(box, "job", "sleep", "300")
    os.kill(box.pids("job")[0], 9)
    refused = box("run", "-d", "--name", "job", "--", "true")
    assert refused.code == 125
    assert "working already" in refused.err


# An old run's files -------------------------------------------------------------------------------------------------


def test_the_success_of_an_old_run_does_not_complete_a_new_one(box: Box) -> None:
    start(box, "job", "sh", "-c", 'echo 1 > "$MIDWATCH_DIR/job.result"')
    assert box("wait", "job", "--json").json["result"] == 1
    start(box, "job", "sleep", "300")
    assert not box.path("job.status").exists()
    assert not box.path("job.result").exists()
    done = box("wait", "job", "--timeout", "300ms", "--json")
    assert (done.code, done.json["state"], done.json["result"]) == (13, "working", None)


def test_a_new_run_that_leaves_no_result_does_not_inherit_one(box: Box) -> None:
    start(box, "job", "sh", "-c", 'echo 1 > "$MIDWATCH_DIR/job.result"')
    assert box("wait", "job").code == 0
    start(box, "job", "true")
    assert box("wait", "job", "--json").json["result"] is None


def test_what_the_old_run_left_is_kept_in_the_archive(box: Box) -> None:
    start(box, "job", "sh", "-c", "echo first; exit 3")
    assert box("wait", "job").code == 1
    start(box, "job", "sh", "-c", "echo second")
    assert box("wait", "job").code == 0
    assert (box.dir / "archive/job/000001/job.log").read_text() == "first\n"
    assert (box.dir / "archive/job/000001/job.status").read_text() == "FAILED\n"
    assert box("logs", "job").out == "second\n"


def test_files_that_a_foreign_wrapper_left_do_not_complete_a_new_run(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    box.path("job.status").write_text("SUCCESS\n")
    box.path("job.result").write_text("1\n")
    start(box, "job", "sleep", "300")
    assert box("wait", "job", "--timeout", "300ms").code == 13


def test_only_the_newest_runs_are_kept(box: Box) -> None:
    for _ in range(13):
        start(box, "job", "true")
        assert box("wait", "job").code == 0
    assert len(list((box.dir / "archive/job").iterdir())) == 10


# Planted links ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SENTINELS)
def test_a_link_planted_where_we_would_write_is_refused(box: Box, suffix: str) -> None:
    box.dir.mkdir(mode=0o700)
    target = box.cwd / "precious"
    target.write_text("precious\n")
    box.path(f"job.{suffix}").symlink_to(target)
    done = box("run", "-d", "--name", "job", "--", "echo", "overwritten")
    assert done.code == 125
    assert f"job.{suffix} is a symbolic link" in done.err
    assert target.read_text() == "precious\n"


@pytest.mark.parametrize("suffix", ["json", "log", "status", "lock"])
def test_a_dangling_link_is_refused_too(box: Box, suffix: str) -> None:
    box.dir.mkdir(mode=0o700)
    box.path(f"job.{suffix}").symlink_to(box.cwd / "nothing")
    done = box("run", "-d", "--name", "job", "--", "true")
    box.path(f"job.{suffix}").unlink()  # the sweep after the test reads records, too
    assert done.code == 125
    assert not (box.cwd / "nothing").exists()


@pytest.mark.parametrize("name", ["spool", "archive"])
def test_a_link_planted_for_a_directory_of_ours_is_refused(box: Box, name: str) -> None:
    box.dir.mkdir(mode=0o700)
    elsewhere = box.cwd / "elsewhere"
    elsewhere.mkdir()
    box.path(name).symlink_to(elsewhere)
    box.path("job.status").write_text("SUCCESS\n")
    done = box("run", "-d", "--name", "job", "--", "true")
    assert done.code == 125, done
    assert "symbolic link" in done.err
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("suffix", ["status", "json", "pid"])
def test_a_planted_link_is_not_read_through(box: Box, suffix: str) -> None:
    box.dir.mkdir(mode=0o700)
    (box.cwd / "lie").write_text({"status": "SUCCESS\n", "json": "{}", "pid": f"{os.getpid()}\n"}[suffix])
    box.path(f"job.{suffix}").symlink_to(box.cwd / "lie")
    done = within(box, 10, "wait", "job", "--json")
    assert (done.code, done.json["state"]) == (12, "unknown")
    assert f"job.{suffix} is a symbolic link" in box("why", "job").out


def test_a_planted_result_is_not_read_through(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    (box.cwd / "lie").write_text('"stolen"')
    box.path("job.status").write_text("SUCCESS\n")
    box.path("job.result").symlink_to(box.cwd / "lie")
    done = within(box, 10, "wait", "job", "--json")
    assert (done.code, done.json["result"]) == (0, None)


# Planted pipes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["status", "json", "pid", "result", "seen", "beat"])
@pytest.mark.parametrize("verb", ["wait", "stop"])
def test_a_planted_pipe_does_not_block_a_reader(box: Box, suffix: str, verb: str) -> None:
    box.dir.mkdir(mode=0o700)
    box.path("job.heartbeat").touch()
    more = ("--timeout", "300ms") if verb == "wait" else ()
    with planted_pipe(box.path(f"job.{suffix}")):
        done = within(box, 8, verb, "job", *more)
    assert "Traceback" not in done.err


def test_a_planted_pipe_does_not_block_ls(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    os.mkfifo(box.path("job.status"))
    assert listed(box)["job"]["state"] == "unknown"


def test_a_planted_pipe_does_not_block_run(box: Box) -> None:
    box.dir.mkdir(mode=0o700)
    os.mkfifo(box.path("job.status"))
    done = within(box, 8, "run", "-d", "--name", "job", "--", "true")
    assert done.code == 125
    assert done.err.startswith("midwatch: ")


# Modes --------------------------------------------------------------------------------------------------------------


def test_files_are_0600_in_directories_0700_whatever_the_umask(box: Box) -> None:
    script = f"umask 0; {box.program[0]} -m midwatch beat --note hi --result result.json"
    (box.cwd / "result.json").write_text("1")
    start(box, "job", "true")
    assert box("wait", "job").code == 0
    before = os.umask(0)
    try:
        start(box, "job", "sh", "-c", script)
        assert box("wait", "job").code == 0
    finally:
        os.umask(before)
    modes = {path.relative_to(box.cwd).as_posix(): mode(path) for path in [box.dir, *box.dir.rglob("*")]}
    wrong = {
        name: oct(found) for name, found in modes.items() if found != (0o700 if (box.cwd / name).is_dir() else 0o600)
    }
    assert wrong == {}
    written = {"jobs/drop/job/job.beat", *(f"jobs/job.{suffix}" for suffix in SENTINELS if suffix != "beat")}
    assert written <= set(modes)


def test_a_directory_that_others_may_write_to_is_refused(box: Box) -> None:
    box.dir.mkdir()
    box.dir.chmod(0o777)
    done = box("run", "-d", "--name", "job", "--", "true")
    assert done.code == 125
    assert "others may write" in done.err
