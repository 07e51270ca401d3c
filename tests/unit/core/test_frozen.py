"""Files of version 1 must load for ever, and what is written today must still have their shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from midwatch.core import verdict_json
from midwatch.core.errors import FormatError
from midwatch.core.exit_codes import NEXT
from midwatch.core.foreign_text import ForeignText
from midwatch.core.job_model import Beat, Identity, JobFacts, ProgressSource, WorkResult
from midwatch.jobs.codec import sentinel
from midwatch.jobs.rules import verdict as job_verdict

GOLDENS = Path(__file__).parents[2] / "goldens" / "formats" / "v1"


def text(name: str) -> str:
    return (GOLDENS / name).read_text()


def test_a_record_of_a_working_job_loads() -> None:
    record = sentinel.decode_record(text("working.json"))
    assert record.shim == Identity("desk", "a7501985-e2f9-49ec-b552-0dc825451954", "pid:[4026531836]", 5143, 204099)
    assert (record.name, record.command, record.policy.timeout_s, record.end) == ("build", ("make", "all"), None, None)


def test_a_record_of_an_end_loads() -> None:
    end = sentinel.decode_record(text("completed.json")).end
    assert end is not None
    assert (end.state, end.exit_code, end.elapsed_s) == ("completed", 0, 1.006)
    assert end.left == ((ForeignText("sleep"), 5150),)


def test_a_record_tells_whether_its_job_has_a_drop_box() -> None:
    assert sentinel.decode_record(text("dropped.json")).drop
    assert not sentinel.decode_record(text("completed.json")).drop


def test_a_beat_of_another_run_is_none() -> None:
    run = json.loads(text("noted.beat"))["run"]
    assert sentinel.decode_beat(text("noted.beat"), run) == Beat(ForeignText("epoch 3"), 0.4)
    assert sentinel.decode_beat(text("noted.beat"), "another") is None


def test_a_record_of_a_crash_loads_with_its_notes() -> None:
    record = sentinel.decode_record(text("crashed.json"))
    assert record.end is not None
    assert (record.end.signal, len(record.notes)) == (9, 1)


def test_what_a_keeper_saw_loads() -> None:
    seen = sentinel.decode_progress(text("stale.seen"))
    assert (seen.stale_since, seen.sources["cpu"]) == (2641.2, ProgressSource(0.53, 2641.0, 2100.0))


def test_a_beat_loads() -> None:
    assert sentinel.decode_beat(text("noted.beat")) == Beat(ForeignText("epoch 3"), 0.4)


def test_a_verdict_is_written_as_frozen() -> None:
    record = sentinel.decode_record(text("completed.json"))
    facts = JobFacts(
        "build", 0.0, record=record, log="/jobs/build.log", result=WorkResult(valid=True, value={"ok": True})
    )
    verdict = job_verdict.judge(facts)
    written = json.loads(verdict_json.encode_verdict(verdict, NEXT[verdict.state]))
    assert written | json.loads(text("wait.jsonl")) == written


@pytest.mark.parametrize("load", [sentinel.decode_record, sentinel.decode_progress, sentinel.decode_beat])
@pytest.mark.parametrize("rubbish", ["", "{", "[]", "1", "null", '{"schema": 1}', '{"schema": 2}', "\x00\xff"])
def test_rubbish_is_a_format_error_and_nothing_else(load: Any, rubbish: str) -> None:
    with pytest.raises(FormatError, match="cannot be read"):
        load(rubbish)


@pytest.mark.parametrize("cut", range(1, 900, 37))
def test_a_half_written_record_is_a_format_error(cut: int) -> None:
    with pytest.raises(FormatError):
        sentinel.decode_record(text("completed.json")[:cut])


@pytest.mark.parametrize("rubbish", ["", "x", "-5", "0", "1", "99999999999", "12 13"])
def test_a_pid_file_with_rubbish_is_a_format_error(rubbish: str) -> None:
    with pytest.raises(FormatError, match="pid file holds"):
        sentinel.decode_pid(rubbish)


def test_the_spool_golden_numbers_its_lines() -> None:
    lines = [json.loads(row) for row in text("build.18f6a2b3c4d-a1b2c3.jsonl").splitlines()]
    assert [row["n"] for row in lines] == list(range(1, len(lines) + 1))
