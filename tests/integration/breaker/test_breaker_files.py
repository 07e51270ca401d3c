"""A breaker's files: long, torn, spoiled, linked, locked, and written by many at once."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import stat

import pytest

from midwatch.breaker import codec as lines_of
from midwatch.breaker import store as breaker_store
from midwatch.breaker.model import AttemptOutcome, Closed, Reset, Started, Trip, Tripped, Void
from midwatch.breaker.rules import breaker as judge
from midwatch.core.errors import RefusedError
from midwatch.core.job_model import Breaker
from midwatch.core.policy import PATIENT
from midwatch.jobs import admission as jobs_admission
from midwatch.jobs.job_directory import JobDirectory
from midwatch.system import atomic_files
from tests.conftest import Box
from tests.integration.breaker.planting import HOUR, LONG, failures, plant, plant_open, run, status
from tests.integration.wait.watching import Gate, finish

RULES = Breaker("key", 3, 900.0)


def looker(box: Box) -> JobDirectory:
    return JobDirectory(str(box.dir), PATIENT)


def idle(number: int) -> list[Started | Void]:
    """Runs that came to nothing: no word of them changes a state."""
    return [each for n in range(number) for each in (Started(1.0, f"i{n}", "idle", trial=False), Void(1.0, f"i{n}"))]


# Long files


def test_what_happened_long_ago_is_not_forgotten(box: Box) -> None:
    plant(box, "key", Trip(1.0, "long ago"), *idle(2000))
    assert (box.dir / "breakers/key.jsonl").stat().st_size > 256 * 1024
    for _ in range(2):  # without a bookmark, and with one
        assert "(long ago)" in run(box, "true").err
    assert (box.dir / "breakers/key.mark").exists()


def test_with_a_bookmark_only_what_came_after_it_is_read(box: Box) -> None:
    plant_open(box, ago=1.0)
    plant(box, "key", *idle(2000))
    assert run(box, "true").code == 125
    reading = breaker_store.read(str(box.dir), "key", 3)
    assert reading.start > 256 * 1024
    assert reading.happened == []
    assert run(box, "true").code == 125


def test_a_bookmark_of_another_threshold_is_not_gone_by(box: Box) -> None:
    plant(box, "key", *failures(3, ago=1.0), *idle(2000))
    assert run(box, "true").code == 125
    (box.cwd / "midwatch.toml").write_text("[breaker]\nthreshold = 4\n")
    assert status(box)["state"] == "closed"
    assert run(box, "true").code == 0


def test_a_bookmark_is_set_at_the_end_of_a_whole_line(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker_store, "FAR", 1)
    plant(box, "key", *failures(1, ago=1.0), Started(1.0, "r", "job", trial=False))
    path = box.dir / "breakers/key.jsonl"
    size = path.stat().st_size
    atomic_files.append(str(path), '{"torn')
    jobs_admission.admit_run(looker(box), RULES, "r2", "other").close(launched=True)
    assert lines_of.decode_bookmark((box.dir / "breakers/key.mark").read_text()).upto == size


@pytest.mark.parametrize("text", ["", "{}", "null", "\0" * 100, '{"schema": 1, "upto": 9999999999}'])
def test_a_spoiled_bookmark_is_no_bookmark(box: Box, text: str) -> None:
    plant_open(box, ago=1.0)
    (box.dir / "breakers/key.mark").write_text(text)
    assert run(box, "true").code == 125


def test_a_file_that_was_begun_anew_has_no_use_for_the_old_bookmark(box: Box) -> None:
    plant_open(box, ago=1.0)
    plant(box, "key", *idle(1000))
    assert run(box, "true").code == 125
    (box.dir / "breakers/key.jsonl").unlink()
    assert run(box, "true").code == 0
    plant(box, "key", *idle(2000))
    assert run(box, "true").code == 0


def test_a_file_that_cannot_be_ours_refuses_and_tells_what_to_do(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(breaker_store, "LARGEST", 1000)
    plant(box, "key", *idle(100))
    with pytest.raises(Exception, match="remove it, which also closes breaker key"):
        jobs_admission.admit_run(looker(box), RULES, "run", "job")
    assert "remove it" in jobs_admission.find_retry_problem(str(box.dir), RULES)


# Torn lines


def test_a_start_written_after_a_torn_line_is_whole(box: Box) -> None:
    plant(box, "key", *failures(2, ago=1.0))
    atomic_files.append(str(box.dir / "breakers/key.jsonl"), '{"schema": 1, "at": 5, "wh')
    assert run(box, "false").code == 1
    assert status(box)["state"] == "open"


def test_an_outcome_lost_in_a_torn_line_is_found_in_the_jobs_own_files(box: Box) -> None:
    plant(box, "key", *failures(2, ago=1.0))
    assert run(box, "false").code == 1
    path = box.dir / "breakers/key.jsonl"
    *whole, told = path.read_text().splitlines(keepends=True)
    assert '"outcome"' in told
    path.write_text("".join(whole) + told[:30])
    assert status(box)["state"] == "open"
    assert run(box, "true").code == 125


# Links, modes and refusals


def test_files_are_for_nobody_elses_eyes(box: Box) -> None:
    assert run(box, "true").code == 0
    assert stat.S_IMODE(os.stat(box.dir / "breakers").st_mode) == 0o700
    assert {stat.S_IMODE(os.stat(path).st_mode) for path in (box.dir / "breakers").iterdir()} == {0o600}


@pytest.mark.parametrize("suffix", ["jsonl", "lock"])
def test_a_link_where_we_would_write_is_refused(box: Box, suffix: str) -> None:
    precious = box.cwd / "precious"
    precious.write_text("precious\n")
    plant(box, "other")
    (box.dir / f"breakers/key.{suffix}").symlink_to(precious)
    refused = run(box, "true")
    assert refused.code == 125
    assert f"breakers/key.{suffix}" in refused.err
    assert box("breaker", "trip", "key").code == 12
    assert precious.read_text() == "precious\n"


def test_a_linked_directory_is_refused(box: Box) -> None:
    (box.cwd / "elsewhere").mkdir()
    box.dir.mkdir(mode=0o700)
    (box.dir / "breakers").symlink_to(box.cwd / "elsewhere")
    assert "breakers is a symbolic link" in run(box, "true").err
    assert list((box.cwd / "elsewhere").iterdir()) == []


def test_a_directory_that_others_may_write_is_refused(box: Box) -> None:
    plant_open(box, ago=1.0)
    box.dir.chmod(0o777)
    for arguments in (("breaker", "reset", "key"), ("run", "--breaker", "key", "--", "true")):
        assert "others may write to" in box(*arguments).err
    assert len((box.dir / "breakers/key.jsonl").read_text().splitlines()) == 9


# Many at once


def test_of_many_runs_at_once_exactly_one_is_the_trial(box: Box, gate: Gate) -> None:
    plant_open(box, ago=HOUR)
    (box.cwd / "sitecustomize.py").write_text(f"open({gate.path!r}, 'rb', buffering=0).read(1)\n")
    env = {"PYTHONPATH": str(box.cwd)}
    racers = [box.start("run", "-d", "--breaker", "key", "--name", f"job{n}", "--", *LONG, env=env) for n in range(12)]
    gate.say("x" * 12)  # each takes one byte, and all run at once
    done = [finish(racer) for racer in racers]
    assert sorted(one.code for one in done) == [0] + [125] * 11
    assert all("has not ended yet" in one.err for one in done if one.code)


def test_of_many_runs_at_once_under_a_closed_key_all_are_let_through(box: Box, gate: Gate) -> None:
    (box.cwd / "sitecustomize.py").write_text(f"open({gate.path!r}, 'rb', buffering=0).read(1)\n")
    env = {"PYTHONPATH": str(box.cwd)}
    racers = [box.start("run", "--breaker", "key", "--name", f"job{n}", "--", "true", env=env) for n in range(8)]
    gate.say("x" * 8)
    assert [finish(racer).code for racer in racers] == [0] * 8
    happened, wrong = lines_of.decode_lines((box.dir / "breakers/key.jsonl").read_bytes())
    assert wrong == []
    told = {(each.run, each.attempt, each.state) for each in happened if isinstance(each, AttemptOutcome)}
    assert sorted(state for _, _, state in told) == ["completed"] * 8  # some perhaps twice: by whoever came first, too


def _tell(path: str, shim: int, number: int) -> None:
    for n in range(number):
        atomic_files.append(path, lines_of.encode_happening(AttemptOutcome(1.0, f"r{shim}-{n}", "job", 1, "failed")))


def test_no_line_of_many_shims_is_lost_or_mixed_with_anothers(box: Box) -> None:
    plant(box, "key")
    path = str(box.dir / "breakers/key.jsonl")
    context = multiprocessing.get_context("spawn")
    shims = [context.Process(target=_tell, args=(path, shim, 100)) for shim in range(6)]
    for shim in shims:
        shim.start()
    for shim in shims:
        shim.join(60)
    happened, wrong = lines_of.decode_lines((box.dir / "breakers/key.jsonl").read_bytes())
    assert wrong == []
    assert len({each.run for each in happened if isinstance(each, AttemptOutcome)}) == 600


def test_who_cannot_have_the_lock_is_refused_and_not_kept_waiting_for_ever(
    box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(breaker_store, "PATIENCE", 0.0)
    first = jobs_admission.admit_run(looker(box), RULES, "run1", "one")
    with pytest.raises(RefusedError, match="someone has been starting a job under breaker key"):
        jobs_admission.admit_run(looker(box), RULES, "run2", "two")
    first.close(launched=True)
    jobs_admission.admit_run(looker(box), RULES, "run2", "two").close(launched=True)


def test_a_run_that_has_told_all_is_not_looked_at_again(box: Box) -> None:
    assert run(box, "false").code == 1
    assert run(box, "true").code == 0
    reading = breaker_store.read(str(box.dir), "key", 3)
    assert judge.fold(reading.before, reading.happened, 3).running == {}


# Looking while somebody starts


def test_whoever_looks_while_a_trial_is_being_launched_does_not_call_it_void(box: Box) -> None:
    plant_open(box, ago=HOUR)
    admission = jobs_admission.admit_run(looker(box), RULES, "run1", "one")
    assert admission.trial
    assert status(box)["state"] == "trial"
    admission.close(launched=False)
    assert status(box)["next"] == "trial"


def test_a_launch_that_its_caller_gave_up_but_whose_shim_lives_is_still_heard_of(box: Box) -> None:
    """A caller interrupted before its shim has said a word cannot know."""
    admission = jobs_admission.admit_run(looker(box), RULES, "run1", "one")
    lease = os.open(box.dir / "one.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lease, fcntl.LOCK_EX)
    admission.close(launched=False)
    assert "run1" in jobs_admission.read_status(looker(box), RULES).ledger.running
    os.close(lease)
    assert jobs_admission.read_status(looker(box), RULES).ledger.running == {}


def test_reset_and_trip_last_beyond_any_restart(box: Box) -> None:
    jobs_admission.record_event(str(box.dir), "key", Trip(1.0, "why"))
    assert jobs_admission.read_status(looker(box), RULES).ledger.state == Tripped(1.0, "why")
    jobs_admission.record_event(str(box.dir), "key", Reset(2.0, ""))
    assert jobs_admission.read_status(looker(box), RULES).ledger.state == Closed()
