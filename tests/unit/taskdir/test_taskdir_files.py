"""The files of a task directory: what is read of them, and what is kept when they are written."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midwatch.core.errors import FormatError, UsageError
from midwatch.core.job_model import ProgressSource
from midwatch.core.verdict import Verdict
from midwatch.system.atomic_files import dumps
from midwatch.taskdir import codec as taskdir_codec
from midwatch.taskdir.model import TaskAgent, TaskNotes, TaskNumbers

JSON, LINES = taskdir_codec.MANIFESTS


# The environment


def test_the_numbers_are_those_of_the_protocol_where_nothing_is_given() -> None:
    found = taskdir_codec.parse_numbers({})
    assert found == TaskNumbers()
    assert (found.base_s, found.max_s, found.deadline_s, found.grace_s, found.retries) == (30, 300, 18000, 30, 10)
    assert (found.stale_s, found.silence_s, found.dispatch_s) == (90, 120, 10)


def test_every_variable_of_the_protocol_is_read() -> None:
    given = {
        "MONITOR_BASE_INTERVAL": "10", "MONITOR_MAX_INTERVAL": "60", "MONITOR_DEADLINE": "2h",
        "MONITOR_GRACE_PERIOD": "0", "MONITOR_MAX_RETRIES": "3", "MONITOR_DISPATCH_WAIT": "5",
    }  # fmt: skip
    assert taskdir_codec.parse_numbers(given) == TaskNumbers(10.0, 60.0, 7200.0, 0.0, 3, 5.0)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MONITOR_BASE_INTERVAL", "soon"),
        ("MONITOR_BASE_INTERVAL", "0"),
        ("MONITOR_DEADLINE", "-1"),
        ("MONITOR_MAX_RETRIES", "-1"),
        ("MONITOR_MAX_RETRIES", "1.5"),
        ("MONITOR_MAX_RETRIES", "9" * 100),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(variable: str, value: str) -> None:
    with pytest.raises(UsageError, match=variable):
        taskdir_codec.parse_numbers({variable: value})


def test_an_empty_variable_is_as_good_as_none() -> None:
    assert taskdir_codec.parse_numbers({"MONITOR_DEADLINE": "", "MONITOR_MAX_RETRIES": " "}) == TaskNumbers()


@pytest.mark.parametrize(("retry", "seconds"), [(0, 30), (1, 60), (2, 120), (3, 240), (4, 300), (9999, 300)])
def test_the_interval_doubles_to_its_largest(retry: int, seconds: int) -> None:
    assert TaskNumbers().interval(retry) == seconds


# Small files


@pytest.mark.parametrize(
    ("text", "code"),
    [("0\n", 0), ("137", 137), (" 3 \n", 3), ("", None), ("-1", None), ("256", None), ("9999999", None),
     ("x", None), ("³", None)],
)  # fmt: skip
def test_an_exit_code_is_a_number_from_0_to_255(text: str, code: int | None) -> None:
    assert taskdir_codec.parse_exit_code(text) == code


def test_times_are_those_of_the_manifest() -> None:
    assert taskdir_codec.format_time(1771463031.9) == "2026-02-19T01:03:51Z"
    assert taskdir_codec.parse_time("2026-02-19T01:03:51Z") == 1771463031.0
    assert taskdir_codec.parse_time("yesterday") is None
    assert taskdir_codec.parse_time(None) is None


# Manifests


def test_fields_of_a_json_manifest_are_merged_and_numbers_stay_numbers() -> None:
    text = '{"pid": 42, "ratio": 0.5, "model": "opus", "own": {"a": [1]}, "status": "running"}'
    found = json.loads(taskdir_codec.merge_fields(JSON, text, {"status": "crashed", "retry_count": 1}))
    assert found == {
        "pid": 42, "ratio": 0.5, "model": "opus", "own": {"a": [1]}, "status": "crashed", "retry_count": 1,
    }  # fmt: skip
    assert list(found)[:5] == ["pid", "ratio", "model", "own", "status"]


def test_lines_of_a_manifest_are_replaced_and_all_others_kept() -> None:
    text = "task_name=a=b\n# a remark\nstatus=running\nstatus_of_mine=x\n"
    found = taskdir_codec.merge_fields(LINES, text, {"status": "hung", "retry_count": 2})
    assert found == "task_name=a=b\n# a remark\nstatus_of_mine=x\nstatus=hung\nretry_count=2\n"
    assert taskdir_codec.parse_manifest(LINES, found)["task_name"] == "a=b"


def test_a_value_cannot_bring_a_line_of_its_own() -> None:
    assert taskdir_codec.merge_fields(LINES, "", {"reason": "a\nstatus=done"}) == "reason=a status=done\n"


def test_a_hang_is_called_as_the_owner_of_each_form_calls_it() -> None:
    assert json.loads(taskdir_codec.merge_fields(JSON, "{}", {"status": "hung"}))["status"] == "crashed"
    assert taskdir_codec.merge_fields(LINES, "", {"status": "hung"}) == "status=hung\n"


def test_bytes_that_are_no_utf_8_come_and_go() -> None:
    raw = b'{"tmpdir": "/tmp/\xff\xe9", "name": "\xc3\xa9"}'
    text = raw.decode("utf-8", "surrogateescape")
    found = taskdir_codec.merge_fields(JSON, text, {"status": "x"}).encode("utf-8", "surrogateescape")
    assert b"/tmp/\xff\xe9" in found
    assert b"\xc3\xa9" in found


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "[" * 100_000])
def test_a_manifest_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(FormatError):
        taskdir_codec.parse_manifest(JSON, text)
    with pytest.raises(FormatError):
        taskdir_codec.merge_fields(JSON, text, {"status": "x"})


@given(st.text())
def test_any_text_can_be_read_as_lines_and_merged_twice_is_merged_once(text: str) -> None:
    once = taskdir_codec.merge_fields(LINES, text, {"status": "hung"})
    assert taskdir_codec.parse_manifest(LINES, once)["status"] == "hung"
    assert taskdir_codec.merge_fields(LINES, once, {"status": "hung"}) == once


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"status": "completed"}, 0),
        ({"status": "completed", "exit_code": 0}, 0),
        ({"status": "failed", "exit_code": "7"}, 7),
        ({"status": "failed"}, None),
        ({"status": "running", "exit_code": 3}, None),
        ({"status": "crashed", "exit_code": 137}, None),
        ({}, None),
    ],
)
def test_a_manifest_tells_of_an_end_only_if_it_says_that_there_was_one(
    fields: dict[str, object], code: int | None
) -> None:
    assert taskdir_codec.find_exit_code(fields) == code


# Our notes


def test_notes_are_read_as_they_were_written() -> None:
    verdict = Verdict("s", "session", "stuck", final=False, reason="why", process="alive", progress="stalled")
    notes = TaskNotes(
        "boot", 10.5, 1.0, total=3, retry=1, resumed_at=9.0, phase="typed", cause="hung", agent=(42, 7),
        wrapper=(41, 6), group=(41, 40), pane=("%3", 40), command="bash '/a b/wrapper.sh'", code=137, gone_since=8.0,
        sources={"output": ProgressSource(3.0, 2.0, 1.0)}, stale_since=4.0, stuck=True,
        monitor=(99, 1), verdict=verdict,
    )  # fmt: skip
    assert taskdir_codec.decode_notes(dumps(taskdir_codec.encode_notes(notes)), "s") == notes


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"schema": 2}', '{"schema": 1, "began": "x"}'])
def test_notes_that_are_none_are_an_error(text: str) -> None:
    with pytest.raises(FormatError):
        taskdir_codec.decode_notes(text, "s")


# A field that goes, and a script of ours


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [(JSON, '{"a": null, "gone": 1, "status": "x"}', {"a": None, "status": "y"}),
     (LINES, "a=1\ngone=1\nstatus=x\n", {"a": "1", "status": "y"})],
)  # fmt: skip
def test_a_field_that_is_set_to_nothing_is_taken_out(name: str, text: str, left: dict[str, object]) -> None:
    fields: taskdir_codec.Fields = {"status": "y", "gone": None, "never": None}
    assert taskdir_codec.parse_manifest(name, taskdir_codec.merge_fields(name, text, fields)) == left


def test_what_was_seen_of_the_agent_comes_back_as_it_was_and_may_be_missing() -> None:
    worker = TaskAgent("claude", "id", "/p", ("-p", "{prompt}"), {"HOME": "/h"})
    notes = TaskNotes("boot", 1.0, 1.0, worker=worker, met=2.0)
    assert taskdir_codec.decode_notes(dumps(taskdir_codec.encode_notes(notes)), "x") == notes
    older = taskdir_codec.encode_notes(notes)
    for field in ("worker", "met", "ended_at"):
        del older[field]
    assert taskdir_codec.decode_notes(dumps(older), "x") == TaskNotes("boot", 1.0, 1.0)


def test_a_script_of_ours_is_a_wrapper_by_the_rules_of_the_others(tmp_path: Path) -> None:
    task, project = tmp_path / "it's a task", tmp_path / "a $project"
    task.mkdir()
    project.mkdir()
    (task / "done").touch()
    words = ["sh", "-c", 'echo "$$ $PWD $1 ${NESTED-none}" > "$0/seen"; exit 7', str(task), "Continue; 'now' $HOME\n"]
    path = Path(taskdir_codec.script_path(str(task)))
    path.write_text(taskdir_codec.format_script(str(task), str(project), words, ("NESTED",)))
    command = taskdir_codec.script_command(str(task))
    subprocess.run(["sh", "-c", command], env={"PATH": os.environ["PATH"], "NESTED": "1"}, check=True)
    pid = (task / "pid").read_text().strip()
    assert (task / "seen").read_text() == f"{pid} {project} Continue; 'now' $HOME\n none\n"
    assert ((task / "exit_code").read_text(), (task / "done").exists()) == ("7\n", True)
