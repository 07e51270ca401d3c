"""`midwatch show`: the record and the timeline of a job, whoever started it and whatever became of it."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from typing import Any

import pytest

from midwatch.journal import journal
from tests.conftest import Box, Done, kill, until_gone
from tests.integration.events.spooling import line
from tests.integration.wait.watching import Gate, start, start_gated, within


def lines(done: Done) -> list[dict[str, Any]]:
    assert done.code == 0, done
    return [json.loads(row) for row in done.out.splitlines()]


def field(done: Done, word: str) -> str:
    """What stands behind a word of the record."""
    found = re.search(rf"^  {word} +(.*)$", done.out, re.MULTILINE)
    assert found is not None, done
    return found[1]


def timeline(done: Done) -> list[list[str]]:
    return [row.split(maxsplit=2) for row in re.findall(r"^ {4,}\+(.*)$", done.out, re.MULTILINE)]


def test_the_record_and_the_timeline_of_a_job_are_told(box: Box) -> None:
    assert box("run", "--name", "job", "--timeout", "5m", "--", "sh", "-c", "exit 3").code == 3
    done = box("show", "job")
    assert done.code == 0, done
    assert done.out.startswith("job: failed: exit 3 after ")
    assert field(done, "command") == "sh -c 'exit 3'"
    assert field(done, "in") == str(box.cwd)
    assert field(done, "run") == box.record("job")["run"]
    assert field(done, "policy").endswith("ended after 5m")
    assert "failed: exit 3 after" in field(done, "ended")
    started, ended = timeline(done)
    assert started[1:] == ["started", f"pid {box.pids('job')[1]}"]
    assert ended[1] == "ended"
    assert ended[2].startswith("failed, exit 3")


def test_json_has_the_record_as_it_stands_and_all_events(box: Box) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    (told,) = lines(box("show", "job", "--json"))
    assert list(told) == ["schema", "name", "run", "verdict", "record", "events"]
    assert told["record"] == box.record("job")
    assert told["verdict"]["state"] == "completed"
    assert [event["event"] for event in told["events"]] == ["started", "ended"]
    assert told["events"] == lines(box("events", "job", "--json"))


def test_times_are_since_the_start_whatever_the_clock_did(box: Box) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    record = box.record("job")
    with box.path(f"spool/job.{record['run']}.jsonl").open("a") as spool:
        late = {"at": record["started"] - 5000, "mono": record["started_mono"] + 725}
        spool.write(line(record["run"], 50, "late", **late) + "\n")
    assert timeline(box("show", "job"))[-1] == ["12m", "05s", "late"]


def test_earlier_runs_are_listed_and_each_can_be_shown(box: Box) -> None:
    runs = []
    for code in (0, 1, 2):
        box("run", "--name", "job", "--", "sh", "-c", f"exit {code}")
        runs.append(box.record("job")["run"])
    told = lines(box("show", "job", "--json"))
    assert [row["run"] for row in told] == runs
    assert [row["verdict"]["exit_code"] for row in told] == [0, 1, 2]
    shown = box("show", "job")
    assert shown.out.startswith("job: failed: exit 2 ")
    listed = shown.out[shown.out.index("earlier runs:") :].splitlines()[1:]
    assert [row.split()[0] for row in listed] == [runs[1], runs[0]]
    assert "failed: exit 1" in listed[0]
    first = box("show", "job", "--run", runs[0])
    assert first.out.startswith("job: completed: exit 0 ")
    assert field(first, "command") == "sh -c 'exit 0'"
    assert "earlier runs" not in first.out


def test_a_run_whose_files_are_gone_is_told_from_the_journal(box: Box) -> None:
    assert box("run", "--name", "job", "--", "sh", "-c", "exit 4").code == 4
    run = box.record("job")["run"]
    assert box("show", "job").code == 0
    for path in box.dir.glob("job.*"):
        path.unlink()
    done = box("show", "job")
    assert done.code == 0
    assert done.out.startswith("job: failed, exit 4")
    assert "its files are gone" in done.out
    (told,) = lines(box("show", "job", "--json"))
    assert (told["run"], told["record"], told["verdict"], len(told["events"])) == (run, None, None, 2)


def test_only_the_last_ten_earlier_runs_are_listed_for_people(box: Box) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    for number in range(15):
        box.path(f"spool/job.a{number:02d}.jsonl").write_text(line(f"a{number:02d}", 1, "ended", state="failed") + "\n")
    done = box("show", "job")
    assert "earlier runs (and 5 more" in done.out
    assert [row.split()[0] for row in done.out.splitlines()[-10:]] == [f"a{number:02d}" for number in range(14, 4, -1)]
    assert len(lines(box("show", "job", "--json"))) == 16


def test_n_gives_the_last_events(box: Box) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    done = box("show", "job", "-n", "1")
    assert [row[1] for row in timeline(done)] == ["ended"]
    assert "without the first 1 of 2 events" in done.out
    assert timeline(box("show", "job", "-n", "0")) == []
    assert [event["event"] for event in box("show", "job", "-n", "1", "--json").json["events"]] == ["ended"]


def test_a_job_that_runs_is_told_of(box: Box, gate: Gate) -> None:
    start_gated(box, gate, "job", "exit 0")
    done = box("show", "job")
    assert done.out.startswith("job: working: ")
    assert [row[1] for row in timeline(done)] == ["started"]
    assert not re.search(r"^  ended", done.out, re.MULTILINE)


def test_a_job_whose_shim_was_killed_is_told_of(box: Box) -> None:
    start(box, "job", "sleep", "300")
    shim, work = box.pids("job")
    kill(shim, signal.SIGKILL)
    until_gone(shim)
    assert "unsupervised" in box("show", "job").out.splitlines()[0]
    kill(work, signal.SIGKILL)
    until_gone(work)
    done = box("show", "job")
    assert done.out.startswith("job: crashed: ")
    assert [row[1] for row in timeline(done)] == ["started", "ended"]


def test_what_others_noted_stands_in_the_timeline(box: Box) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    assert box("events").code == 0
    journal.record_event(str(box.dir), "job", box.record("job")["run"], "acknowledged", by="anna")
    assert timeline(box("show", "job"))[-1][1:] == ["acknowledged", "by anna"]


def test_a_job_of_others_is_told_from_its_files_and_nothing_is_written_there(box: Box) -> None:
    other = box.cwd / "other"
    other.mkdir(mode=0o700)
    (other / "step.pid").write_text(f"{os.getpid()}\n")
    (other / "step.heartbeat").write_text("")
    os.utime(other / "step.pid", (time.time() + 60, time.time() + 60))
    done = box("show", "step", "--dir", str(other))
    assert done.code == 0
    assert done.out.startswith("step: working: ")
    assert field(done, "record") == "none: Midwatch did not start it"
    assert field(done, "files") == "step.pid, step.heartbeat"
    told = box("show", "step", "--json", "--dir", str(other)).json
    assert (told["run"], told["record"], told["events"]) == (None, None, [])
    assert told["verdict"]["state"] == "working"
    assert sorted(os.listdir(other)) == ["step.heartbeat", "step.pid"]


def test_a_job_in_a_directory_that_others_may_write_is_told_with_a_warning(box: Box) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    box.dir.chmod(0o777)
    done = box("show", "job")
    assert done.code == 0
    assert "others may write to" in done.err
    assert [row[1] for row in timeline(done)] == ["started", "ended"]
    assert not list(box.dir.glob("journal*"))


def test_a_spool_beyond_the_limit_is_named_and_the_rest_is_told(box: Box) -> None:
    (box.dir / "spool").mkdir(parents=True)
    with (box.dir / "spool/huge.r1.jsonl").open("wb") as huge:
        huge.truncate(256 << 30)  # sparse: it takes no room on the disk
    (box.dir / "spool/job.r2.jsonl").write_text(line("r2", 1) + "\n")
    for verb in ("show", "events"):
        done = within(box, 20, verb, "job")
        assert done.code == 0, done
        assert "moved" in done.out
        assert "huge.r1.jsonl has more than 1024 MiB that were never read" in done.err


@pytest.mark.parametrize("rubbish", ["", "{", "[]", '{"run": 5}', '{"schema": 1, "run": "x", "started": NaN}'])
def test_a_record_that_cannot_be_read_is_told_so(box: Box, rubbish: str) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    assert box("events").code == 0
    box.path("job.json").write_text(rubbish)
    done = box("show", "job")
    assert done.code == 0
    assert field(done, "record") == "none that can be read"
    for row in lines(box("show", "job", "--json")):
        json.dumps(row, allow_nan=False)


def test_nothing_is_known_of_a_name_that_never_ran(box: Box) -> None:
    done = box("show", "nobody")
    assert done.code == 7
    assert done.out.startswith("nobody: not_found")
    told = box("show", "nobody", "--json")
    assert (told.code, told.json["verdict"]["state"], told.json["events"]) == (7, "not_found", [])
    assert not box.dir.exists()


def test_a_run_that_never_was_is_not_found(box: Box) -> None:
    assert box("run", "--name", "job", "--", "true").code == 0
    done = box("show", "job", "--run", "1234")
    assert (done.code, done.out) == (7, "")
    assert "no run '1234' of job" in done.err


@pytest.mark.parametrize("wrong", [(), ("a", "b"), ("a", "-n", "x"), ("../a",)])
def test_a_wrong_show_is_told_so(box: Box, wrong: tuple[str, ...]) -> None:
    assert box("show", *wrong).code == 2


def test_nothing_that_a_job_says_can_move_the_cursor(box: Box) -> None:
    assert box("run", "--name", "job", "--", "sh", "-c", ": '\033[31m'\nexit 0").code == 0
    run = box.record("job")["run"]
    with box.path(f"spool/job.{run}.jsonl").open("a") as spool:
        spool.write(line(run, 50, "said", reason="\033[2J\r\x07") + "\n")
    shown = box("show", "job").out
    assert all(row.isprintable() for row in shown.split("\n"))
