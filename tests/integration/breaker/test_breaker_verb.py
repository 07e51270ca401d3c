"""`midwatch breaker`: status, reset, trip."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest

from midwatch.breaker import store
from midwatch.core.job_model import Breaker
from midwatch.core.policy import PATIENT
from midwatch.jobs import admission
from midwatch.jobs.job_directory import JobDirectory
from tests.conftest import Box, alive, kill, until
from tests.integration.breaker.planting import (
    HOUR,
    LONG,
    detached,
    failures,
    lines,
    murder,
    plant,
    plant_open,
    run,
    status,
)
from tests.integration.wait.watching import Gate

KEYS = ["schema", "key", "state", "failures", "threshold", "since", "until", "reason", "next"]


def test_status_of_one_that_is_closed(box: Box) -> None:
    plant(box, "nightly", *failures(1, ago=5.0))
    done = box("breaker", "status", "nightly", "--json")
    assert done.code == 0
    assert list(done.json) == KEYS
    told = done.json["state"], done.json["failures"], done.json["threshold"], done.json["next"]
    assert told == ("closed", 1, 3, "run")


def test_status_of_one_that_is_open(box: Box) -> None:
    plant_open(box, "nightly", ago=60.0)
    done = box("breaker", "nightly", "--json")  # the same as with `status`
    assert done.code == 1
    assert (done.json["state"], done.json["failures"], done.json["next"]) == ("open", 3, "wait")
    assert done.json["until"] == pytest.approx(done.json["since"] + 900.0, abs=0.01)
    assert done.json["reason"].startswith("3 failures in a row (last: old failed 1m")


def test_status_of_one_whose_cool_down_is_over_lets_a_shell_go_on(box: Box) -> None:
    """`breaker status KEY && run --breaker KEY …` would never come to its trial otherwise."""
    plant_open(box, ago=HOUR)
    done = box("breaker", "status", "key", "--json")
    assert (done.code, done.json["state"], done.json["next"]) == (0, "open", "trial")


def test_status_of_one_whose_trial_runs(box: Box) -> None:
    plant_open(box, ago=HOUR)
    assert detached(box, "try", *LONG).code == 0
    done = box("breaker", "status", "key", "--json")
    assert (done.code, done.json["state"], done.json["until"], done.json["next"]) == (1, "trial", None, "wait")
    assert "its trial try has not ended yet" in done.json["reason"]


def test_without_a_key_all_are_told(box: Box) -> None:
    plant(box, "b", *failures(1, ago=1.0))
    plant_open(box, "a", ago=1.0)
    done = box("breaker")
    assert done.code == 1
    assert [row.split()[:2] for row in done.out.splitlines()] == [["KEY", "STATE"], ["a", "open"], ["b", "closed"]]
    assert "\033" not in done.out
    assert [json.loads(line)["key"] for line in box("breaker", "status", "--json").out.splitlines()] == ["a", "b"]


def test_where_there_are_none_the_way_to_one_is_told(box: Box) -> None:
    done = box("breaker", "status")
    assert (done.code, done.out) == (0, "")
    assert "midwatch run --breaker KEY" in done.err
    assert (box("breaker", "--json").out, box.dir.exists()) == ("", False)


def test_one_that_was_never_used_is_closed_and_says_so(box: Box) -> None:
    done = box("breaker", "status", "typo", "--json")
    assert (done.code, done.json["state"], done.json["reason"]) == (
        0, "closed", "nothing has happened under this key yet",
    )  # fmt: skip


def test_a_reset_closes_it_at_once(box: Box) -> None:
    plant_open(box, ago=1.0)
    done = box("breaker", "reset", "key")
    assert done.code == 0
    assert done.out.splitlines()[1].split()[:2] == ["key", "closed"]
    assert run(box, "true").code == 0


def test_a_reset_forgets_a_run_that_was_killed_before_it_and_noticed_by_nobody(box: Box) -> None:
    assert detached(box, "job", *LONG).code == 0
    murder(box, "job")
    done = box("breaker", "reset", "key", "--json")
    assert (done.json["state"], done.json["failures"]) == ("closed", 0)
    assert status(box)["reason"] == "no failure since the last success or reset"
    assert [line["what"] for line in lines(box)] == ["started", "outcome", "void", "reset"]


def test_a_reset_forgets_an_end_that_the_shim_tells_later(box: Box) -> None:
    """The shim is frozen while its work ends, as it is on a full disk: it tells after the reset what was before it."""
    assert detached(box, "job", *LONG).code == 0
    shim, work = box.pids("job")
    kill(shim, signal.SIGSTOP)
    kill(work, signal.SIGKILL)
    until(lambda: not alive(work))
    assert box("breaker", "reset", "key").code == 0
    kill(shim, signal.SIGCONT)
    assert box("wait", "job", "--until", "final").code == 3
    until(lambda: lines(box)[-1]["what"] == "outcome", box.dir / "breakers")
    assert (status(box)["failures"], lines(box)[-2]["over"]) == (0, [[box.record("job")["run"], 1]])


def test_what_ends_after_a_reset_counts(box: Box) -> None:
    assert detached(box, "job", *LONG).code == 0
    assert box("breaker", "reset", "key").code == 0
    murder(box, "job")
    assert status(box)["failures"] == 1


def test_a_reset_needs_no_file_that_can_be_read(box: Box) -> None:
    plant_open(box, ago=1.0)
    with (box.dir / "breakers/key.jsonl").open("r+b") as file:
        file.truncate(store.LARGEST + 2)
    admission.reset_breaker(JobDirectory(str(box.dir), PATIENT), Breaker("key", 3, 900.0))
    with (box.dir / "breakers/key.jsonl").open("rb") as file:
        file.seek(-200, os.SEEK_END)
        assert json.loads(file.read().splitlines()[-1])["what"] == "reset"


def test_a_trip_opens_it_until_it_is_reset(box: Box) -> None:
    done = box("breaker", "trip", "key", "--reason", "the API key has expired", "--json")
    assert done.code == 0
    assert (done.json["state"], done.json["until"], done.json["next"]) == ("open", None, "reset")
    refused = run(box, "true")
    assert refused.code == 125
    assert "tripped by a person" in refused.err
    assert "(the API key has expired); only `midwatch breaker reset key` closes it" in refused.err
    assert box("breaker", "reset", "key").code == 0
    assert run(box, "true").code == 0


def test_a_trip_stands_although_a_job_from_before_succeeds(box: Box, gate: Gate) -> None:
    assert detached(box, "job", "sh", "-c", f"read -r line < {gate.path}").code == 0
    assert box("breaker", "trip", "key").code == 0
    gate.say()
    assert box("wait", "job").code == 0
    assert status(box)["next"] == "reset"


def test_several_keys_at_once(box: Box) -> None:
    assert box("breaker", "trip", "a", "b").code == 0
    assert [status(box, key)["state"] for key in ("a", "b")] == ["open", "open"]
    assert box("breaker", "reset", "a", "b").code == 0
    assert [status(box, key)["state"] for key in ("a", "b")] == ["closed", "closed"]


def test_lines_that_cannot_be_read_are_passed_over_with_a_word(box: Box) -> None:
    plant_open(box, ago=1.0)
    with (box.dir / "breakers/key.jsonl").open("a") as file:
        file.write('garbage\n{"schema": 2, "at": 1, "what": "reset", "reason": ""}\n')
    done = box("breaker", "status", "key")
    assert done.code == 1
    assert "breakers/key.jsonl: 2 lines passed over" in done.err
    assert "newer Midwatch" in done.err


def test_one_that_opened_in_the_future_waits_a_cool_down_and_no_longer(box: Box) -> None:
    plant_open(box, ago=-24 * HOUR)
    assert status(box)["until"] <= time.time() + 900.0
    assert run(box, "true").code == 125
    assert lines(box)[-1]["what"] == "clock"
    assert status(box)["since"] <= time.time()
    run(box, "true")
    assert [line["what"] for line in lines(box)].count("clock") == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("reset",), "reset needs the key of a breaker"),
        (("trip",), "trip needs the key of a breaker"),
        (("reset", "key", "--reason", "x"), "--reason belongs to trip"),
        (("status", "../key"), "begins with '.'"),
        (("status", "a/b"), "holds '/'"),
        (("explode", "k e y"), "holds ' '"),
    ],
)
def test_what_is_no_command_is_a_usage_error(box: Box, arguments: tuple[str, ...], says: str) -> None:
    done = box("breaker", *arguments)
    assert done.code == 2
    assert says in done.err
    assert not box.dir.exists()


def test_what_a_person_does_to_a_breaker_is_remembered(box: Box) -> None:
    box("breaker", "trip", "night", "--reason", "the database is down")
    box("breaker", "reset", "night")
    told = [json.loads(line) for line in box("events", "--json").out.splitlines()]
    assert [(event["name"], event["event"], event["reason"]) for event in told] == [
        ("night", "breaker tripped", "the database is down"),
        ("night", "breaker reset", ""),
    ]
